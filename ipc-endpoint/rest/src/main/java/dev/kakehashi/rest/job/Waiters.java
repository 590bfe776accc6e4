package dev.kakehashi.rest.job;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Waiters for the end of jobs, each for some time: some hundred bytes and no thread for each. One thread tells them, and there is none
/// while nobody waits. Thread-safe.
final class Waiters implements AutoCloseable {
  private final ScheduledThreadPoolExecutor timer;

  Waiters() {
    timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("jobs-waiters").factory());
    timer.setKeepAliveTime(1, TimeUnit.MINUTES);
    timer.allowCoreThreadTimeOut(true);
    timer.setRemoveOnCancelPolicy(true);
  }

  /// One who waits. Fields belong to the lock of [JobTable].
  static final class Waiter {
    private final LiveJob job;
    private final Runnable told;
    private @Nullable ScheduledFuture<?> deadline;
    private boolean isOver;

    private Waiter(LiveJob job, Runnable told) {
      this.job = job;
      this.told = told;
    }
  }

  /// Under the lock of the table.
  ///
  /// @param told called once, on the thread of this, when the job has ended or the time is over; not if it is removed before. Must not
  ///     block
  Waiter add(JobTable table, LiveJob job, long nanos, Runnable told) {
    Waiter waiter = new Waiter(job, told);
    List<Waiter> waiters = job.waiters;
    if (waiters == null) {
      waiters = new ArrayList<>(1);
      job.waiters = waiters;
    }
    waiters.add(waiter);
    waiter.deadline = timer.schedule(() -> timeIsOver(table, waiter), nanos, TimeUnit.NANOSECONDS);
    return waiter;
  }

  private static void timeIsOver(JobTable table, Waiter waiter) {
    if (remove(table, waiter)) {
      waiter.told.run();
    }
  }

  /// Lets somebody wait no longer. Not under the lock.
  ///
  /// @return whether he has not been told, and will not be
  static boolean remove(JobTable table, Waiter waiter) {
    table.lock.lock();
    try {
      if (waiter.isOver) {
        return false;
      }
      waiter.isOver = true;
      if (waiter.deadline != null) {
        waiter.deadline.cancel(false);
      }
      List<Waiter> waiters = waiter.job.waiters;
      if (waiters != null) {
        waiters.remove(waiter);
        if (waiters.isEmpty()) {
          waiter.job.waiters = null;
        }
      }
      return true;
    } finally {
      table.lock.unlock();
    }
  }

  /// Tells all who wait for a job. Under the lock of the table.
  void tellAll(LiveJob job) {
    List<Waiter> waiters = job.waiters;
    job.waiters = null;
    if (waiters == null) {
      return;
    }
    for (Waiter waiter : waiters) {
      waiter.isOver = true;
      if (waiter.deadline != null) {
        waiter.deadline.cancel(false);
      }
      timer.execute(waiter.told);
    }
  }

  /// How many wait.
  int count() {
    return timer.getQueue().size();
  }

  /// Waiters whose turn has come are still told. No others may come.
  @Override
  public void close() {
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(true);
    timer.shutdown();
  }
}
