package dev.kakehashi.engine.store.durable;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.thread.BlockingExecutor;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.LogRecord;
import dev.kakehashi.engine.store.log.file.RetryPause;
import dev.kakehashi.engine.store.memory.StoreHead;
import dev.kakehashi.engine.store.row.Stamp;
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

/// Group commit: writes the records of an epoch, all commits that arrived during the last flush, as one unit.
///
/// A lone committer's record is flushed at once: by the committing thread itself, where that may block (see [BlockingExecutor]), else by
/// the durability thread. Commits that are reported as available wait for others for up to [#AVAILABLE_DELAY_NANOS] before a flush begins
/// for them alone. Records are queued in the order of their timestamps, and one thread at a time flushes, so what is durable is always a
/// prefix of the order.
///
/// `queue`, `queuedBytes`, `urgent`, `deferred`, `flushing`, `failed`, `idle` and `stopping` are written under `lock`; the spinning thread
/// reads `urgent` and `stopping` without it, as hints. A failed flush is tried again by the durability thread until it works, with the same
/// records in the same order; meanwhile those who wait for it are told, and new commits are refused.
public final class GroupCommit implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);
  private static final long AVAILABLE_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /// Above this an available commit, too, is reported only when it is stored: writers cannot outrun the disk.
  private static final long MAX_QUEUED_BYTES = 64 << 20;

  /// Bytes written at once; a larger record goes alone.
  private static final long MAX_FLUSH_BYTES = 32 << 20;

  /// How long the thread looks for the next commit before it sleeps, when that has paid off lately: a wake-up costs a quarter of a flush.
  private static final long MAX_SPIN_NANOS = 500_000;

  private static final long MIN_SPIN_NANOS = 10_000;

  private final DurableLog log;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  private final Thread thread;
  private List<Pending> queue = new ArrayList<>();
  private long queuedBytes;
  private volatile boolean
      urgent; // somebody waits for what is queued, and the durability thread has to see to it
  private boolean deferred; // somebody waits for what is queued, and another thread will flush it
  private boolean flushing; // a thread writes, or is about to try again
  private @Nullable Epoch failed; // what the durability thread has to try again, before all else
  private boolean idle;
  private volatile boolean stopping;
  private final PoliteSpin spin = new PoliteSpin();
  private long spinNanos = MIN_SPIN_NANOS; // durability thread only
  private volatile @Nullable EngineException failure;
  private volatile BlockingExecutor blockingExecutor = BlockingExecutor.NONE;

  /// Whether a flush may wait for another machine: then it takes nobody's thread.
  private volatile boolean waitsForOthers;

  private final Runnable flushDeferred = this::flushDeferred;

  /// Number of the last record so far. Written under the lock that orders commits, before the commit of the record is published.
  private volatile long enqueued;

  /// Number of the last record that is durable. Written by the thread that flushes.
  private volatile long durable;

  /// Timestamp of the last commit that is durable; written before `durable`.
  private volatile long durableTimestamp = Stamp.FIRST_TIMESTAMP;

  /// For readers in other processes; null: there are none.
  private final @Nullable StoreHead head;

  /// Commits that are written as one unit, from `from` on. Owned by the thread that flushes.
  private static final class Epoch {
    private final List<Pending> commits;
    private int from;

    /// Commits before this one were told that it failed.
    private int told;

    Epoch(List<Pending> commits) {
      this.commits = commits;
    }
  }

  /// A record on its way. Reported by whoever comes last of the durability thread and the committing thread, so that nobody is told before
  /// the transaction has ended.
  public static final class Pending {
    private final LogRecord record;

    /// Number of the record in the order of all, from 1.
    public final long number;

    /// Timestamp of the last commit that is durable with it.
    private final long timestamp;

    private final boolean stored;
    private final Consumer<@Nullable Throwable> done;
    private final AtomicInteger missing;
    private volatile @Nullable Throwable failure;

    Pending(
        LogRecord record,
        long number,
        long timestamp,
        boolean stored,
        Consumer<@Nullable Throwable> done) {
      this.record = record;
      this.number = number;
      this.timestamp = timestamp;
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

  public GroupCommit(DurableLog log) {
    this(log, null);
  }

  /// @param head is told what is durable; null: nobody else reads
  public GroupCommit(DurableLog log, @Nullable StoreHead head) {
    this.log = log;
    this.head = head;
    durableUpTo(Stamp.FIRST_TIMESTAMP);
    this.thread = new Thread(this::run, "kakehashi-durability");
    thread.setDaemon(true);
    thread.start();
  }

  /// Sets the executor that may offer a thread for flushes from now on.
  public void blockingExecutor(BlockingExecutor executor) {
    blockingExecutor = executor;
  }

  /// Says whether flushes may wait for another machine from now on. A thread that was lent would be missed by all clients meanwhile, so the
  /// durability thread writes then.
  public void waitsForOthers(boolean waits) {
    waitsForOthers = waits;
  }

  private boolean tryDefer(BlockingExecutor lender) {
    return !waitsForOthers && lender.tryDefer(flushDeferred);
  }

  /// Promises room in the log to a record, so that a full disk refuses it before anybody sees what it commits.
  ///
  /// @param length of the record
  /// @param instead length of one that was promised room and does not come any more; 0: none
  /// @throws EngineException DISK_FULL, IO_ERROR or INTERNAL_ERROR; then nothing has changed
  public void reserve(int length, int instead) {
    log.reserve(length, instead);
  }

  /// Why commits are refused now; null if they are not.
  public @Nullable EngineException failure() {
    return failure;
  }

  /// Number of the last record that is durable, and so are all before it.
  public long durable() {
    return durable;
  }

  /// Timestamp of the last commit that is durable, and so are all before it.
  public long durableTimestamp() {
    return durableTimestamp;
  }

  /// A timestamp up to which all commits are durable that were published before this call; the greatest number if none is missing.
  public long durableUpTo() {
    // A commit is enqueued before it is published. So commits published before this call are
    // counted here.
    long all = enqueued;
    return durable >= all ? Long.MAX_VALUE : durableTimestamp;
  }

  private void durableUpTo(long timestamp) {
    durableTimestamp = timestamp;
    if (head != null) {
      head.durable(timestamp);
    }
  }

  /// The log has a commit from elsewhere: that of a standby, in which nothing is enqueued. Before the commit is published.
  public void hasAlready(long timestamp) {
    durableUpTo(timestamp);
  }

  /// Appends a record; an empty one only waits for those before it. The caller holds the lock that orders commits, and calls [#finished]
  /// afterwards.
  ///
  /// @param timestamp of the record's commit, or of the last one before it
  public Pending enqueue(
      LogRecord record, long timestamp, boolean stored, Consumer<@Nullable Throwable> done) {
    lock.lock();
    try {
      if (stopping) {
        throw new EngineException(ErrorCode.SHUTTING_DOWN, "store is closed");
      }
      long number = enqueued + 1;
      Pending pending =
          new Pending(record, number, timestamp, stored || queuedBytes > MAX_QUEUED_BYTES, done);
      queue.add(pending);
      // Last of what may fail: a place cannot be given back. Nobody takes the record before the
      // lock is free.
      record.place(number);
      enqueued = number;
      queuedBytes += record.length();
      return pending;
    } finally {
      lock.unlock();
    }
  }

  /// The commit is complete but for the log; sees to it that somebody flushes.
  public void finished(Pending pending) {
    lock.lock();
    try {
      // Under the lock: whoever is lent and flushes at once meets what is set here.
      if (pending.stored && tryDefer(blockingExecutor)) {
        deferred = true;
      } else {
        // A thread that flushes now looks again afterwards.
        boolean wake = !flushing && (idle || (pending.stored && !urgent));
        urgent |= pending.stored;
        if (wake) {
          arrived.signal();
        }
      }
    } finally {
      lock.unlock();
    }
    pending.arrive(null);
  }

  /// Flushes what is queued, and what arrives meanwhile, on a thread that may block; at the latest until it may not any more.
  private void flushDeferred() {
    BlockingExecutor lender = blockingExecutor;
    boolean mayBlock = true;
    while (true) {
      Epoch epoch;
      lock.lock();
      try {
        if (flushing) {
          urgent |= deferred;
          deferred = false;
          return; // by the thread that flushes now, or the durability thread
        }
        if (queue.isEmpty() || !(deferred || urgent)) {
          if (idle && !queue.isEmpty()) {
            arrived.signal();
          }
          return;
        }
        if (!mayBlock || waitsForOthers) {
          if (!tryDefer(lender)) {
            urgent = true;
            arrived.signal();
          }
          return;
        }
        epoch = take();
      } finally {
        lock.unlock();
      }
      boolean written = write(epoch);
      mayBlock = !lender.unblocked();
      if (written) {
        reportLast(epoch);
      }
      lock.lock();
      try {
        if (written) {
          flushing = false;
        } else {
          failed = epoch;
        }
        if (!written || stopping) {
          arrived.signalAll();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /// Takes what is queued, to be flushed by the calling thread; under the lock.
  private Epoch take() {
    Epoch epoch = new Epoch(queue);
    queue = new ArrayList<>();
    queuedBytes = 0;
    urgent = false;
    deferred = false;
    flushing = true;
    return epoch;
  }

  private void run() {
    while (true) {
      Epoch epoch = next();
      if (epoch == null) {
        return;
      }
      while (!write(epoch)) {
        if (!RetryPause.await(lock, arrived, () -> stopping)) {
          giveUp(epoch);
          return;
        }
      }
      reportLast(epoch);
      lock.lock();
      try {
        flushing = false;
      } finally {
        lock.unlock();
      }
    }
  }

  /// The store closes, and the log cannot be written: nothing that comes later may be written either. Nobody else flushes, because
  /// `flushing` stays set.
  private void giveUp(Epoch epoch) {
    takeMore(epoch);
    report(epoch, epoch.commits.size(), failure);
    LOG.error(
        "closing without {} commits that could not be made durable",
        epoch.commits.size() - epoch.from);
  }

  /// Waits for records and takes them; null when the store closes and nothing is left.
  ///
  /// Awake at first: as long as a client commits one transaction after another it gets its next answer sooner. An idle thread does not come
  /// here again.
  private @Nullable Epoch next() {
    long start = System.nanoTime();
    spin.await(() -> urgent || stopping, spinNanos);
    lock.lock();
    try {
      long left = AVAILABLE_DELAY_NANOS;
      while (true) {
        Epoch again = failed;
        if (again != null) {
          failed = null;
          return again;
        }
        if (flushing || (queue.isEmpty() && !stopping)) {
          idle = true;
          arrived.awaitUninterruptibly();
          idle = false;
          left = AVAILABLE_DELAY_NANOS;
        } else if (queue.isEmpty()) {
          return null;
        } else if (urgent || stopping || left <= 0 || queuedBytes >= MAX_FLUSH_BYTES) {
          boolean soon = System.nanoTime() - start < MAX_SPIN_NANOS;
          spinNanos = soon ? MAX_SPIN_NANOS : Math.max(MIN_SPIN_NANOS, spinNanos / 2);
          return take();
        } else {
          try {
            left = arrived.awaitNanos(left);
          } catch (InterruptedException e) {
            // Nobody may stop this thread but close(); what it was asked for it does at once.
            left = 0;
          }
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /// Writes the rest of an epoch. Waiters for its last part are left to [#reportLast]; if writing fails, all waiters are told why, once.
  ///
  /// @return false if it failed
  private boolean write(Epoch epoch) {
    List<Pending> commits = epoch.commits;
    int to = epoch.from;
    while (to < commits.size()) {
      reportWritten(epoch, to);
      int from = to;
      long bytes = 0;
      List<LogRecord> records = new ArrayList<>();
      while (to < commits.size()
          && (to == from || bytes + commits.get(to).record.length() <= MAX_FLUSH_BYTES)) {
        bytes += commits.get(to).record.length();
        LogRecord record = commits.get(to++).record;
        if (record.length() > 0) {
          records.add(record);
        }
      }
      List<Pending> group = commits.subList(from, to);
      try {
        if (!records.isEmpty()) {
          log.write(records);
        }
      } catch (RuntimeException | OutOfMemoryError e) {
        EngineException reason = explain(e);
        failure = reason;
        if (epoch.told == 0) {
          LOG.error("could not make {} commits durable; trying again", group.size(), e);
        }
        takeMore(epoch);
        report(epoch, commits.size(), reason);
        epoch.told = commits.size();
        return false;
      }
      failure = null;
      durableUpTo(group.getLast().timestamp);
      durable = group.getLast().number;
    }
    return true;
  }

  /// Tells those who wait for what [#write] wrote last.
  private static void reportLast(Epoch epoch) {
    reportWritten(epoch, epoch.commits.size());
  }

  private static void reportWritten(Epoch epoch, int to) {
    report(epoch, to, null);
    epoch.from = to;
  }

  /// Adds what has arrived during a flush that failed: it shares the fate of what is before it.
  private void takeMore(Epoch epoch) {
    lock.lock();
    try {
      epoch.commits.addAll(queue);
      queue = new ArrayList<>();
      queuedBytes = 0;
    } finally {
      lock.unlock();
    }
  }

  /// Tells those who wait for commits before `to` what became of them, unless they know of a failure.
  private static void report(Epoch epoch, int to, @Nullable Throwable reason) {
    for (int i = Math.max(epoch.from, epoch.told); i < to; i++) {
      Pending pending = epoch.commits.get(i);
      if (pending.stored) {
        pending.arrive(reason);
      }
    }
  }

  private static EngineException explain(Throwable e) {
    return e instanceof EngineException known
        ? known
        : new EngineException(
            ErrorCode.INTERNAL_ERROR, "could not write to the store's log: " + e.getMessage(), e);
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
