package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import org.jspecify.annotations.Nullable;

/// The job a thread works for, what the thread holds of its count, and what it has counted for it. Part of its [Runner], so that
/// counting costs no further object. Confined to the runner's thread, except where it says otherwise.
///
/// **Credits.** A job's count is one contended word, so a runner takes and returns counts in bulk. `credit` is the
/// number of counts of `job` that this runner holds and no task stands for. A spawn uses one up, taking 64 more
/// with one RMW when there is none; an ended task leaves its count behind as a credit. They are
/// returned ([#flush()]) when the runner turns to another job, finds nothing to do at once, or is about to
/// sleep. Until then the job cannot end, and it must not be kept from ending for longer: every path on which a runner
/// waits or runs something else passes through `flush`.
///
/// Whatever a spawn runs into, no memory or no stack left, the count stays exact: a queue that throws has queued
/// nothing, and then the count goes back to the credits without a call that could fail in turn.
///
/// *Accounts.* Single tasks are counted in two numbers only: those that have run, in the counters, and the credits. How many were
/// spawned follows from them ([#publish()]), and so the metric `tasks.accepted` lags behind by a turn or a fairness interval.
abstract class JobTurn {
  private static final int CREDIT_BATCH = 64;

  final Counters counters;

  @Nullable Job job;
  private volatile long turnNanos; // when it turned to `job`, if that is timed
  long credit;

  // Since it turned to `job`.
  private long taken; // counts
  long discarded; // tasks
  private long published; // of the spawned tasks, in the counters
  private long runBefore; // tasks, as of then

  JobTurn(Counters counters) {
    this.counters = counters;
  }

  /// Turns to that job, and from none: the last turn has ended.
  final void begin(Job itsJob) {
    runBefore = counters.tasksRun();
    taken = 0;
    discarded = 0;
    published = 0;
    itsJob.markStarted();
    job = itsJob;
    JobClock clock = itsJob.clock;
    if (clock != null) {
      long now = Platform.nanoTime();
      turnNanos = now;
      clock.turn(this, now);
    }
  }

  /// Returns all credits and turns to none. Returns the job if they were its last counts: then the caller completes it.
  final @Nullable Job end() {
    Job ended = job;
    if (ended == null) {
      return null;
    }
    publish();
    job = null;
    JobClock clock = ended.clock;
    if (clock != null) {
      clock.worked(Platform.nanoTime() - turnNanos);
      turnNanos = 0;
    }
    long counts = credit;
    credit = 0;
    ended.addStatistics(published, finished(), counts);
    Platform.point(Point.JOB_COUNT);
    return counts != 0 && ended.returnPending(counts) ? ended : null;
  }

  /// Since when the runner works for that job, or 0; a guess for other threads.
  @SuppressWarnings("ReferenceEquality") // the same job
  final long turnNanos(Job asked) {
    long since = turnNanos;
    return job == asked ? since : 0;
  }

  /// Counts what was spawned since the last time.
  final void publish() {
    if (job != null) {
      // A task that has ended has left its count behind, as a credit or to its successor.
      long spawned = taken + finished() - credit;
      counters.accepted(spawned - published);
      published = spawned;
    }
  }

  private long finished() {
    return counters.tasksRun() - runBefore + discarded;
  }

  /// For tasks that are about to be queued.
  final void takeCounts(Job itsJob, int counts) {
    if (Platform.mutated(Mutation.SPAWN_NOT_COUNTED)) {
      return;
    }
    if (credit < counts) {
      itsJob.addPending(CREDIT_BATCH + counts);
      credit += CREDIT_BATCH + counts;
      taken += CREDIT_BATCH + counts;
    }
    credit -= counts;
  }
}
