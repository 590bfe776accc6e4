package dev.kakehashi.engine.store;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.PoliteSpin;
import dev.kakehashi.protocol.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The durability thread: writes the records of an epoch, all commits that arrived during the last flush, as one unit.
///
/// A lone committer's record is flushed at once. Commits that are reported as available wait for others for up to [#AVAILABLE_DELAY_NANOS] before a
/// flush begins for them alone. Records are queued in the order of their timestamps, so what is durable is always a prefix of the order.
///
/// `queue`, `queuedBytes`, `urgent`, `idle` and `stopping` are written under `lock`; the spinning thread reads `urgent` and `stopping` without it, as hints. A failed flush is tried again until it works, with the same
/// records in the same order; meanwhile those who wait for it are told, and new commits are refused.
final class GroupCommit implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);
  private static final long AVAILABLE_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /// Above this an available commit, too, is reported only when it is stored: writers cannot outrun the disk.
  private static final long MAX_QUEUED_BYTES = 64 << 20;

  /// Bytes written at once; a larger record goes alone.
  private static final long MAX_FLUSH_BYTES = 32 << 20;

  /// How long the thread looks for the next commit before it sleeps, when that has paid off lately: a wake-up costs a quarter of a flush.
  private static final long MAX_SPIN_NANOS = 500_000;

  private static final long MIN_SPIN_NANOS = 10_000;
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final DurableLog log;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  private final Thread thread;
  private List<Pending> queue = new ArrayList<>();
  private long queuedBytes;
  private volatile boolean urgent;
  private boolean idle;
  private volatile boolean stopping;
  private final PoliteSpin spin = new PoliteSpin();
  private long spinNanos = MIN_SPIN_NANOS; // durability thread only
  private volatile @Nullable EngineException failure;

  /// A record on its way. Reported by whoever comes last of the durability thread and the committing thread, so that nobody is told before the
  /// transaction has ended.
  static final class Pending {
    private final LogRecord record;
    private final boolean stored;
    private final Consumer<@Nullable Throwable> done;
    private final AtomicInteger missing;
    private volatile @Nullable Throwable failure;

    Pending(LogRecord record, boolean stored, Consumer<@Nullable Throwable> done) {
      this.record = record;
      this.stored = stored;
      this.done = done;
      this.missing = new AtomicInteger(stored ? 2 : 1);
    }

    private void arrive(@Nullable Throwable reason) {
      if (reason != null) {
        failure = reason;
      }
      if (missing.decrementAndGet() == 0) {
        try {
          done.accept(failure);
        } catch (RuntimeException | Error e) {
          LOG.error("listener of a commit failed", e);
        }
      }
    }
  }

  GroupCommit(DurableLog log) {
    this.log = log;
    this.thread = new Thread(this::run, "kakehashi-durability");
    thread.setDaemon(true);
    thread.start();
  }

  /// Why commits are refused now; null if they are not.
  @Nullable EngineException failure() {
    return failure;
  }

  /// Appends a record; the caller holds the lock that orders commits, and calls [#finished] afterwards.
  Pending enqueue(LogRecord record, boolean stored, Consumer<@Nullable Throwable> done) {
    lock.lock();
    try {
      if (stopping) {
        throw new EngineException(ErrorCode.SHUTTING_DOWN, "store is closed");
      }
      Pending pending = new Pending(record, stored || queuedBytes > MAX_QUEUED_BYTES, done);
      queue.add(pending);
      queuedBytes += record.length();
      return pending;
    } finally {
      lock.unlock();
    }
  }

  /// The commit is complete but for the log; wakes the durability thread where it matters.
  void finished(Pending pending) {
    lock.lock();
    try {
      boolean wake = idle || (pending.stored && !urgent);
      urgent |= pending.stored;
      if (wake) {
        arrived.signal();
      }
    } finally {
      lock.unlock();
    }
    pending.arrive(null);
  }

  private void run() {
    while (true) {
      List<Pending> epoch = next();
      if (epoch.isEmpty()) {
        return;
      }
      int from = 0;
      while (from < epoch.size()) {
        int to = from;
        long bytes = 0;
        List<LogRecord> records = new ArrayList<>();
        while (to < epoch.size()
            && (to == from || bytes + epoch.get(to).record.length() <= MAX_FLUSH_BYTES)) {
          bytes += epoch.get(to).record.length();
          records.add(epoch.get(to++).record);
        }
        flush(records, epoch.subList(from, to));
        from = to;
      }
    }
  }

  /// Waits for records and takes them; empty when the store closes and nothing is left.
  ///
  /// Awake at first: as long as a client commits one transaction after another it gets its next answer sooner. An idle thread does not come here again.
  private List<Pending> next() {
    long start = System.nanoTime();
    spin.await(() -> urgent || stopping, spinNanos);
    lock.lock();
    try {
      while (queue.isEmpty() && !stopping) {
        idle = true;
        arrived.awaitUninterruptibly();
        idle = false;
      }
      boolean soon = System.nanoTime() - start < MAX_SPIN_NANOS;
      spinNanos = soon ? MAX_SPIN_NANOS : Math.max(MIN_SPIN_NANOS, spinNanos / 2);
      long left = AVAILABLE_DELAY_NANOS;
      while (!urgent && !stopping && left > 0 && queuedBytes < MAX_FLUSH_BYTES) {
        try {
          left = arrived.awaitNanos(left);
        } catch (InterruptedException e) {
          // Nobody may stop this thread but close(); what it was asked for it does at once.
          left = 0;
        }
      }
      List<Pending> taken = queue;
      queue = new ArrayList<>();
      queuedBytes = 0;
      urgent = false;
      return taken;
    } finally {
      lock.unlock();
    }
  }

  private void flush(List<LogRecord> records, List<Pending> group) {
    boolean told = false;
    while (true) {
      try {
        log.write(records);
        break;
      } catch (RuntimeException | OutOfMemoryError e) {
        EngineException reason = explain(e);
        failure = reason;
        if (!told) {
          LOG.error("could not make {} commits durable; trying again", group.size(), e);
          told = true;
          group.forEach(pending -> report(pending, reason));
        }
        if (!pauseBeforeRetry()) {
          LOG.error("closing without {} commits that could not be made durable", group.size());
          return;
        }
      }
    }
    failure = null;
    if (!told) {
      group.forEach(pending -> report(pending, null));
    }
  }

  private static void report(Pending pending, @Nullable Throwable reason) {
    if (pending.stored) {
      pending.arrive(reason);
    }
  }

  private static EngineException explain(Throwable e) {
    EngineException known = e instanceof EngineException engine ? engine : null;
    return new EngineException(
            known == null ? ErrorCode.INTERNAL_ERROR : known.code(),
            "could not make commit durable: " + e.getMessage(),
            e)
        .withDetail("The commit is visible and will be durable when writing works again.")
        .withHint("Make room on the disk of the data directory.");
  }

  /// @return false if the store is closing
  private boolean pauseBeforeRetry() {
    lock.lock();
    try {
      long left = RETRY_NANOS;
      while (left > 0 && !stopping) {
        try {
          left = arrived.awaitNanos(left);
        } catch (InterruptedException e) {
          left = 0;
        }
      }
      return !stopping;
    } finally {
      lock.unlock();
    }
  }

  /// Writes what is queued and ends the thread.
  @Override
  public void close() {
    lock.lock();
    try {
      stopping = true;
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
    Threads.joinUninterruptibly(thread);
  }
}
