package dev.kakehashi.rest.job;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes away results, jobs and keys whose time is over. Works when the first of them is due, and not at all while there are none.
/// Thread-safe.
final class Sweeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);
  private static final long MIN_PAUSE_MILLIS = 1_000;

  /// A result goes late by a part of its time at most.
  private static final int PAUSES_PER_RETENTION = 4;

  private final JobTable table;
  private final ResultFiles files;
  private final ScheduledThreadPoolExecutor timer;
  private final long maxPauseMillis;
  private @Nullable ScheduledFuture<?> next; // guarded by the lock of the table
  private boolean isClosed; // guarded by the lock of the table

  /// @param timer its own, which it closes
  Sweeper(JobTable table, ResultFiles files, ScheduledThreadPoolExecutor timer) {
    this.table = table;
    this.files = files;
    this.maxPauseMillis =
        Math.max(MIN_PAUSE_MILLIS, table.settings.retention().toMillis() / PAUSES_PER_RETENTION);
    this.timer = timer;
  }

  /// A thread that is there while it has something to do.
  static ScheduledThreadPoolExecutor thread() {
    ScheduledThreadPoolExecutor thread =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("jobs-sweeper").factory());
    thread.setKeepAliveTime(1, TimeUnit.MINUTES);
    thread.allowCoreThreadTimeOut(true);
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    // Tasks that come after the close are not done: the journal is written then.
    thread.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    return thread;
  }

  /// There is something that will be due.
  void schedule() {
    table.lock.lock();
    try {
      if (next != null || isClosed) {
        return;
      }
      long due = firstDueMillis();
      if (due < Long.MAX_VALUE) {
        long pause = due - table.clock.getAsLong();
        next =
            timer.schedule(
                this::sweepOnTime,
                Math.clamp(pause, MIN_PAUSE_MILLIS, maxPauseMillis),
                TimeUnit.MILLISECONDS);
      }
    } finally {
      table.lock.unlock();
    }
  }

  private void sweepOnTime() {
    table.lock.lock();
    try {
      next = null;
    } finally {
      table.lock.unlock();
    }
    try {
      sweep();
    } catch (RuntimeException e) {
      LOG.error("results whose time is over could not be taken away", e);
    }
    schedule();
  }

  /// Under the lock. Long.MAX_VALUE: nothing will be due.
  private long firstDueMillis() {
    long due = Long.MAX_VALUE;
    for (KeyRecord key : table.keys()) {
      due = Math.min(due, key.createdMillis() + table.settings.keyRetention().toMillis());
    }
    for (LiveJob job : table.jobs()) {
      JobRecord record = job.record();
      boolean waitsForKey = record.keyed() && record.files().isEmpty();
      if (record.state().isEnded() && !waitsForKey) {
        due = Math.min(due, record.readMillis() + table.settings.retention().toMillis());
      } else if (!record.state().isEnded()) {
        due = Math.min(due, table.clock.getAsLong() + maxPauseMillis);
      }
    }
    return due;
  }

  /// Takes away what is due.
  void sweep() {
    long now = table.clock.getAsLong();
    List<LiveJob> overdue = new ArrayList<>();
    table.lock.lock();
    try {
      for (KeyRecord key : table.keys()) {
        if (now - key.createdMillis() < table.settings.keyRetention().toMillis()) {
          continue;
        }
        LiveJob job = key.jobToken().isEmpty() ? null : table.job(key.jobToken());
        if (job == null || job.record().state().isEnded()) {
          table.remove(key);
          if (job != null) {
            unkey(job);
          }
        }
      }
      for (LiveJob job : table.jobs()) {
        JobRecord record = job.record();
        boolean isOver = now - record.readMillis() >= table.settings.retention().toMillis();
        if (record.state().isEnded() && (isOver || record.deleted())) {
          overdue.add(job);
        }
      }
    } finally {
      table.lock.unlock();
    }
    for (LiveJob job : overdue) {
      clear(job);
    }
    table.write();
  }

  /// Under the lock. Its key has gone: it is a job as others from now on.
  private void unkey(LiveJob job) {
    JobRecord next = job.record().withoutKey();
    table.keep(job, next);
    table.show(job, next);
  }

  /// Takes away the result of a job that has ended, and the job itself unless a key needs it. Nothing while it runs or a download holds it:
  /// whoever ends that comes again.
  void clear(LiveJob job) {
    List<JobFile> gone;
    JobRecord record;
    table.lock.lock();
    try {
      record = job.record();
      if (!record.state().isEnded() || job.holds > 0) {
        return;
      }
      gone = record.files();
      if (!record.keyed()) {
        table.remove(job);
      } else if (!gone.isEmpty() || (record.deleted() && record.answer() != null)) {
        JobRecord next = record.withoutResult(ResultState.EXPIRED);
        table.keep(job, next);
        table.show(job, next);
      }
    } finally {
      table.lock.unlock();
    }
    files.remove(record.owner(), gone);
  }

  @Override
  public void close() {
    table.lock.lock();
    try {
      isClosed = true;
    } finally {
      table.lock.unlock();
    }
    timer.shutdown();
  }
}
