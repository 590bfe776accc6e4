package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import java.io.IOException;
import java.util.List;

/// Something beside jobs that lives as long as its scheduler, is ended with it, and is seen in its metrics: processes.
///
/// [TaskScheduler#part] makes and keeps one of each class. Its work runs in jobs; a task of it that waits has a hold on its job, and is
/// published again by whoever wakes it.
public abstract class SchedulerPart {
  private final TaskScheduler scheduler;

  protected SchedulerPart(TaskScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /// Asks everything of this part to end: the scheduler shuts down and accepts no new jobs. From any thread, perhaps more than once.
  protected abstract void cancelAll();

  /// Things of this part that have not ended.
  public abstract int count();

  /// A line for each of them.
  protected abstract List<String> described();

  protected final TaskScheduler scheduler() {
    return scheduler;
  }

  /// Queues a task of a job whose hold the caller has, from any thread.
  protected final void publish(Task task, Job job) {
    job.addPending(1);
    scheduler.count(Counters.ACCEPTED, 1, scheduler.submission().currentRunner());
    scheduler.submission().publish(task, job, Option.DEFAULT);
  }

  /// Lets a job fail, as if a task of it had thrown.
  protected static void failJob(Job job, Throwable thrown) {
    job.fail(thrown);
  }

  /// Runs a hook when a job is canceled, or now if it was.
  protected static void onCancelOf(Job job, Runnable hook) {
    job.onCancel(hook);
  }

  /// Adds to a counter from the thread that runs a task.
  protected final void count(int counter, TaskContext context) {
    ((Runner) context).counters.add(counter);
  }

  /// Adds to a counter from any thread.
  protected final void count(int counter, long number) {
    scheduler.count(counter, number, scheduler.submission().currentRunner());
  }

  final void dump(Appendable out) throws IOException {
    for (String line : described()) {
      out.append(line).append('\n');
    }
  }
}
