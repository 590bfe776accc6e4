package dev.kakehashi.scheduler;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Describes a job before it is submitted, see [TaskScheduler#job(String)]. Not thread-safe; submit once.
public final class JobBuilder {
  final TaskScheduler scheduler;
  final String name;
  private Option option = Option.DEFAULT;
  private int workLevel = Integer.MAX_VALUE;
  long expected;
  boolean timed;
  @Nullable Lane lane;
  @Nullable Admission admission;
  @Nullable Object attachment;
  @Nullable Consumer<Job> teardown;
  private @Nullable Duration timeout;

  JobBuilder(TaskScheduler scheduler, String name) {
    this.scheduler = scheduler;
    this.name = Objects.requireNonNull(name, "name");
  }

  /// Where the bootstrap task goes; [Option#DIRECT] is not for jobs.
  public JobBuilder option(Option option) {
    if (option == Option.DIRECT) {
      throw new IllegalArgumentException("option DIRECT is for holds, not for jobs");
    }
    this.option = Objects.requireNonNull(option, "option");
    return this;
  }

  /// Estimated work, 0 (light) .. 60; up to the configured `lightweightJobLevel` the job runs as with
  /// [Option#CALLER]. Not setting it means heavy.
  public JobBuilder workLevel(int level) {
    if (level < 0 || level > 60) {
      throw new IllegalArgumentException("work level must be between 0 and 60, not " + level);
    }
    workLevel = level;
    return this;
  }

  /// The job takes one permit of the lane from its bootstrap task to its teardown, in order of submission. A
  /// job that waits for a later job of its own lane never ends.
  public JobBuilder lane(Lane lane) {
    this.lane = Objects.requireNonNull(lane, "lane");
    return this;
  }

  /// The job starts when that limit allows it, and counts for it until its teardown. First the admission, then the
  /// lane. A job that waits longer than the [#deadline] is canceled.
  public JobBuilder admission(Admission admission) {
    this.admission = Objects.requireNonNull(admission, "admission");
    return this;
  }

  /// Cancels the job with a [TimeoutException] when it has not ended in time.
  public JobBuilder deadline(Duration timeout) {
    this.timeout = Objects.requireNonNull(timeout, "timeout");
    return this;
  }

  /// Measures the job, see [Job#times()]: four looks at the clock, and two more each time a thread turns to it.
  public JobBuilder timed() {
    timed = true;
    return this;
  }

  /// Units of work for [Job#progress()].
  public JobBuilder expected(long units) {
    if (units < 0) {
      throw new IllegalArgumentException("expected units must not be negative: " + units);
    }
    expected = units;
    return this;
  }

  /// Shared state of the job's tasks.
  public JobBuilder attachment(Object attachment) {
    this.attachment = Objects.requireNonNull(attachment, "attachment");
    return this;
  }

  /// Runs exactly once when the job ends, also after failure and cancel, before [Job#done()]. An exception that it throws goes to the
  /// uncaught handler and into [Job#failure()].
  public JobBuilder onTeardown(Consumer<Job> teardown) {
    this.teardown = Objects.requireNonNull(teardown, "teardown");
    return this;
  }

  /// Hands the job to the scheduler. With [Option#CALLER] the job has usually ended when this returns.
  ///
  /// @throws SchedulerStoppedException if the scheduler is shutting down
  /// @throws IllegalStateException if the lane is sealed
  /// @throws RejectedExecutionException if the inbox is full and the policy is to throw
  public Job submit(Task bootstrap) {
    Objects.requireNonNull(bootstrap, "bootstrap");
    Job job = new Job(this, lane == null && admission == null ? null : bootstrap, false);
    scheduler.submission().accept(job, bootstrap, scheduler.optionOf(workLevel, option), timeout);
    return job;
  }

  // ---- jobs that nobody describes ----

  /// A job whose bootstrap task waits until it is claimed.
  static Job deferred(TaskScheduler scheduler, String name, Task bootstrap, boolean timer) {
    Objects.requireNonNull(bootstrap, "bootstrap");
    return new Job(new JobBuilder(scheduler, name), bootstrap, timer);
  }

  /// A job of a task that was queued without one. Nobody holds it, so its failure goes to the uncaught handler.
  static Job reporting(TaskScheduler scheduler, String name) {
    JobBuilder builder = new JobBuilder(scheduler, name);
    builder.onTeardown(job -> {
      Throwable failure = job.failure();
      if (failure != null && !scheduler.discardsJobless()) {
        scheduler.uncaught("task", failure);
      }
    });
    return new Job(builder, null, false);
  }

  /// Stands for no job in the queues; never begins or ends.
  static Job none(TaskScheduler scheduler) {
    return new Job(new JobBuilder(scheduler, "none"), null, false);
  }
}
