package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Latencies;
import dev.kakehashi.scheduler.platform.Platform;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/// The times of one job, see [JobBuilder#timed()]. Written by the runners that start, work for and end it; read by anyone.
///
/// A runner adds the time from its turn to the job to its turn to something else, not of each task: two looks at the clock
/// for any number of tasks.
final class JobClock {
  // Updaters, because each job has a clock: two objects fewer.
  private static final AtomicLongFieldUpdater<JobClock> STARTED =
      AtomicLongFieldUpdater.newUpdater(JobClock.class, "startedNanos");

  private static final AtomicLongFieldUpdater<JobClock> RUN =
      AtomicLongFieldUpdater.newUpdater(JobClock.class, "runNanos");

  private final long submittedNanos = Platform.nanoTime();
  private volatile long startedNanos; // 0: not yet
  private volatile long runNanos;
  private volatile long endedNanos; // likewise

  /// A runner turns to the job.
  void turn(JobTurn turn, long now) {
    if (startedNanos == 0 && STARTED.compareAndSet(this, 0, now)) {
      turn.counters.latencies.record(Latencies.Kind.JOB_QUEUED, now - submittedNanos);
    }
  }

  void worked(long nanos) {
    RUN.getAndAdd(this, nanos);
  }

  /// The job ends; returns how long it has lived.
  long end() {
    long now = Platform.nanoTime();
    endedNanos = now;
    return now - submittedNanos;
  }

  /// @param underWayNanos of runners that have not added theirs yet
  Job.Times times(long tasks, long underWayNanos) {
    long end = endedNanos;
    long until = end != 0 ? end : Platform.nanoTime();
    long started = startedNanos;
    return new Job.Times(
        (started != 0 ? started : until) - submittedNanos,
        runNanos + underWayNanos,
        until - submittedNanos,
        tasks);
  }
}
