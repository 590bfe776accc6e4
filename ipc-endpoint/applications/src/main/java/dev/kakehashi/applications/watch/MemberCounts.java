package dev.kakehashi.applications.watch;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.LongAdder;

/// Counts of one member of a version. Thread-safe.
public final class MemberCounts {
  private static final long SHORT_NANOS = 100_000;
  private static final long HELD_UP_NANOS = 5_000_000;

  /// The score of a member whose calls all are short, and how much of it counts as that. One call in ten may be long: of a busy machine
  /// threads are made to wait.
  private static final int FULL = 1 << 20;

  private static final int ENOUGH = FULL / 4 * 3;

  /// A new call counts one of so many.
  private static final int SHARE = 16;

  /// One that has occupied a thread for long counts so much more.
  private static final int LONG_SHARE = 4;

  private static final AtomicIntegerFieldUpdater<MemberCounts> TRUST =
      AtomicIntegerFieldUpdater.newUpdater(MemberCounts.class, "trust");

  private final AtomicInteger running = new AtomicInteger();
  private final LongAdder calls = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  /// How many of the last calls were short, the older ones counting less. Two threads that change it at a time lose one of their changes.
  private volatile int score;

  /// Batches that a thread of the engine may carry only after so many that have ended in time.
  private static final int KNOWN = 32;

  /// One that did not end in time: none is carried any more.
  private static final int DISTRUSTED = Integer.MIN_VALUE / 2;

  /// How many batches have ended in time, up to [#KNOWN]. Threads that change it at a time lose changes, except the one to [#DISTRUSTED].
  private volatile int trust;

  public void begin() {
    running.incrementAndGet();
  }

  /// A call has ended.
  public void end(long tookNanos) {
    end(tookNanos, 0);
  }

  /// A call has ended.
  ///
  /// @param commitNanos of it, for its commit
  public void end(long tookNanos, long commitNanos) {
    running.decrementAndGet();
    calls.increment();
    nanos.add(tookNanos);
    int before = score;
    int target = tookNanos - commitNanos < SHORT_NANOS ? FULL : 0;
    score = before + (target - before) / SHARE;
  }

  /// A call has occupied a thread on which only short ones should run.
  public void tookLong(long nanos) {
    int before = score;
    score = nanos > HELD_UP_NANOS ? 0 : before - before / LONG_SHARE;
  }

  /// Whether most of the last calls were so short that the next one is expected to be.
  public boolean areShort() {
    return score > ENOUGH;
  }

  /// Calls have ended, whose time nobody measured.
  public void add(int ended) {
    calls.add(ended);
  }

  /// A batch has ended in time.
  public void endedInTime() {
    int before = trust;
    if (before >= 0 && before < KNOWN) {
      TRUST.compareAndSet(this, before, before + 1);
    }
  }

  /// A batch had to be stopped.
  public void overran() {
    trust = DISTRUSTED;
  }

  /// Whether a thread that others need may carry the next batch: enough have ended in time, and none has not.
  public boolean mayBeCarried() {
    return trust >= KNOWN;
  }

  public void fail() {
    failures.increment();
  }

  public int running() {
    return running.get();
  }

  public long calls() {
    return calls.sum();
  }

  public long failures() {
    return failures.sum();
  }

  public long nanos() {
    return nanos.sum();
  }
}
