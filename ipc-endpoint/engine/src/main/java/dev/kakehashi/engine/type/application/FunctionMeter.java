package dev.kakehashi.engine.type.application;

import java.util.concurrent.atomic.LongAdder;

/// Calls of one function by one statement. Thread-safe; counted once for each batch.
public final class FunctionMeter {
  private final LongAdder calls = new LongAdder();
  private final LongAdder nanos = new LongAdder();

  void add(long newCalls, long newNanos) {
    calls.add(newCalls);
    nanos.add(newNanos);
  }

  public long calls() {
    return calls.sum();
  }

  /// Time that they took on all threads.
  public long nanos() {
    return nanos.sum();
  }
}
