package dev.kakehashi.requests;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import org.jspecify.annotations.Nullable;

/// How full the JVM's heap is of what lives long, for those who would keep more there: each open result is a statement with its state, and thousands of them can be
/// more than the heap, on which everybody's statements depend. Confined to the poller.
final class HeapLevel {
  /// The rest is for the statements of all sessions that have no such number of results.
  private static final double TIGHT = 0.7;

  /// How often garbage is collected to find out.
  private static final long COLLECTION_PERIOD_NANOS = 5_000_000_000L;

  /// The generation that fills up; null: the collector has none that says how full it is.
  private final @Nullable MemoryPoolMXBean pool =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(p -> p.getType() == MemoryType.HEAP && p.isUsageThresholdSupported())
          .findFirst()
          .orElse(null);

  private long collectedAtNanos = System.nanoTime() - COLLECTION_PERIOD_NANOS;

  /// Whether nothing more should be kept. Takes microseconds, and where the heap looks full the time of a collection once in a while.
  boolean isTight() {
    if (pool == null || !isFull(pool)) {
      return false;
    }
    long now = System.nanoTime();
    if (now - collectedAtNanos >= COLLECTION_PERIOD_NANOS) {
      // It would come soon anyway. What it leaves is not garbage.
      System.gc();
      collectedAtNanos = System.nanoTime();
    }
    return isFull(pool);
  }

  private static boolean isFull(MemoryPoolMXBean pool) {
    MemoryUsage usage = pool.getUsage();
    return usage.getMax() > 0 && usage.getUsed() > TIGHT * usage.getMax();
  }
}
