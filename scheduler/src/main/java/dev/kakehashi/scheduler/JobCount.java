package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Checks;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The numbers of a job: what keeps it from ending, and what it has done so far. Part of the job's own object, so
/// that counting costs no further one.
///
/// `pending` is the number of tasks that have not ended, plus holds, plus the credits that threads have taken in
/// advance (see [Runner]). It changes only by RMW, and only a holder of a count (a task, a hold) may add to it, so
/// once it has reached zero it stays there: the thread whose RMW makes it zero, and no other, completes the job. All
/// RMWs on one location form one release sequence, so what every task wrote before its count was returned happens
/// before the teardown.
///
/// The other numbers are statistics: they order nothing.
abstract sealed class JobCount permits Job {
  private static final VarHandle PENDING;
  private static final VarHandle HOLDS;
  private static final VarHandle SPAWNED;
  private static final VarHandle FINISHED;
  private static final VarHandle REPORTED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      PENDING = lookup.findVarHandle(JobCount.class, "pending", long.class);
      HOLDS = lookup.findVarHandle(JobCount.class, "holdCount", int.class);
      SPAWNED = lookup.findVarHandle(JobCount.class, "spawned", long.class);
      FINISHED = lookup.findVarHandle(JobCount.class, "finished", long.class);
      REPORTED = lookup.findVarHandle(JobCount.class, "reported", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile long pending;

  // Added up when credits are returned; through VarHandles.
  private long spawned;
  private long finished;

  @SuppressWarnings("unused") // through its VarHandle
  private volatile long reported;

  @SuppressWarnings("unused") // how many of `pending` are holds; through its VarHandle
  private volatile int holdCount;

  /// Begins with the bootstrap task's count. Plain: other threads get to know the job through a queue or the registry.
  JobCount() {
    PENDING.set(this, 1L);
    SPAWNED.set(this, 1L);
  }

  final long pending() {
    return pending;
  }

  final int holdCount() {
    return holdCount;
  }

  final void addPending(long counts) {
    PENDING.getAndAdd(this, counts);
  }

  /// Takes a count for a hold; false if the job has ended.
  final boolean tryHold() {
    long count;
    do {
      count = pending;
      if (count == 0) {
        return false;
      }
    } while (!PENDING.compareAndSet(this, count, count + 1));
    HOLDS.getAndAdd(this, 1);
    return true;
  }

  /// Returns a hold's count; true if none are left, and then the caller completes the job.
  final boolean returnHold() {
    HOLDS.getAndAdd(this, -1);
    return returnPending(1);
  }

  /// Returns counts; true if none are left, and then the caller completes the job.
  final boolean returnPending(long counts) {
    long before = (long) PENDING.getAndAdd(this, -counts);
    if (Checks.ON) {
      Checks.that(before >= counts, "a job gives back counts that it has");
    }
    return before == counts;
  }

  /// Adds to the statistics. `counts` are the counts of the job that the caller holds: if they are all there
  /// are, nobody else can write now, and what was written is ordered by `pending`.
  final void addStatistics(long spawnedMore, long finishedMore, long counts) {
    if (pending == counts) {
      SPAWNED.setOpaque(this, spawned + spawnedMore);
      FINISHED.setOpaque(this, finished + finishedMore);
      return;
    }
    if (spawnedMore != 0) {
      SPAWNED.getAndAdd(this, spawnedMore);
    }
    if (finishedMore != 0) {
      FINISHED.getAndAdd(this, finishedMore);
    }
  }

  final void addReported(long units) {
    REPORTED.getAndAdd(this, units);
  }

  final Job.Progress progress(long expected) {
    return new Job.Progress(
        expected, reported, (long) SPAWNED.getOpaque(this), (long) FINISHED.getOpaque(this));
  }
}
