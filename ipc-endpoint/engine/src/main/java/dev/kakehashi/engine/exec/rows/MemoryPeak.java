package dev.kakehashi.engine.exec.rows;

import java.util.concurrent.atomic.AtomicLong;

/// Bytes held now and at most. Thread-safe.
final class MemoryPeak {
  private final AtomicLong held = new AtomicLong();
  private final AtomicLong most = new AtomicLong();

  void add(long bytes) {
    long now = held.addAndGet(bytes);
    most.accumulateAndGet(now, Math::max);
  }

  long bytes() {
    return most.get();
  }
}
