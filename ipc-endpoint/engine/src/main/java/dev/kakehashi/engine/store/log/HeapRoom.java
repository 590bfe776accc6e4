package dev.kakehashi.engine.store.log;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Comparator;

/// Room in the Java heap for arrays as long as what a transaction has changed. The endpoint's JVM ends when its heap is exhausted, so a long array is asked for here: who
/// commits too much gets an error, and the others go on.
///
/// Thread-safe: one long array is made at a time.
final class HeapRoom {
  /// Shorter arrays are made without asking.
  static final int LONG_BYTES = 8 << 20;

  /// This part of the heap is left to everything else.
  private static final int KEPT_DIVISOR = 8;

  /// Where long arrays live: the largest part of the heap. Where the collector does not say how large it may become, the heap's own limit holds.
  private static final MemoryPoolMXBean POOL =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP)
          .max(Comparator.comparingLong(pool -> pool.getUsage().getMax()))
          .orElseThrow();

  private HeapRoom() {}

  /// An array of zeros.
  ///
  /// @throws EngineException OUT_OF_MEMORY
  static byte[] allocate(int bytes) {
    return bytes < LONG_BYTES ? new byte[bytes] : allocateLong(bytes);
  }

  private static synchronized byte[] allocateLong(int bytes) {
    long room = room();
    if (room < bytes) {
      System.gc();
      room = room();
    }
    if (room < bytes) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory for changed rows")
          .withDetail(
              "A transaction's record needs %d MB, and %d MB of the endpoint's heap are left."
                  .formatted(bytes >> 20, Math.max(0, room) >> 20))
          .withHint("Change fewer rows in a transaction, or raise -Xmx in jvm.options.");
    }
    return new byte[bytes];
  }

  private static long room() {
    MemoryUsage usage = POOL.getUsage();
    long max = usage.getMax() > 0 ? usage.getMax() : Runtime.getRuntime().maxMemory();
    return max - max / KEPT_DIVISOR - usage.getUsed();
  }
}
