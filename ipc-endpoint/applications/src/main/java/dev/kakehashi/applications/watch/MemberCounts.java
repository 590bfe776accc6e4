package dev.kakehashi.applications.watch;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/// Counts of one member of a version. Thread-safe.
public final class MemberCounts {
  private final AtomicInteger running = new AtomicInteger();
  private final LongAdder calls = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  public void begin() {
    running.incrementAndGet();
  }

  /// A call has ended.
  public void end(long tookNanos) {
    running.decrementAndGet();
    calls.increment();
    nanos.add(tookNanos);
  }

  /// Calls have ended, whose time nobody measured.
  public void add(int ended) {
    calls.add(ended);
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
