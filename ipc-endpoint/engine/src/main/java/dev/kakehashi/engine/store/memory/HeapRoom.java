package dev.kakehashi.engine.store.memory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.Comparator;

/// Room in the Java heap for arrays as long as what a transaction has changed. The endpoint's JVM ends when its heap is exhausted, so a
/// long array is asked for here: who changes too much gets an error, and the others go on.
///
/// Thread-safe: one asks and makes arrays at a time.
public final class HeapRoom {
  /// Shorter arrays are made without asking.
  public static final int LONG_BYTES = 8 << 20;

  /// This part of the heap is left to everything else.
  private static final int KEPT_DIVISOR = 8;

  /// And this part to the changes of others, because a record stays until it is in the base image.
  private static final int RECORD_DIVISOR = 2;

  /// Where long arrays live: the largest part of the heap. Where the collector does not say how large it may become, the heap's own limit
  /// holds.
  private static final MemoryPoolMXBean POOL =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP)
          .max(Comparator.comparingLong(pool -> pool.getUsage().getMax()))
          .orElseThrow();

  private HeapRoom() {}

  /// An array of zeros for a record.
  ///
  /// @throws EngineException OUT_OF_MEMORY
  public static byte[] allocate(int bytes) {
    return bytes < LONG_BYTES ? new byte[bytes] : allocateLong(bytes);
  }

  private static synchronized byte[] allocateLong(int bytes) {
    require("record", bytes, maxBytes() / RECORD_DIVISOR);
    return new byte[bytes];
  }

  /// An array for a record that was accepted before.
  ///
  /// @throws EngineException OUT_OF_MEMORY
  public static synchronized byte[] allocateAgain(int bytes) {
    require("record", bytes, Long.MAX_VALUE);
    return new byte[bytes];
  }

  /// Makes arrays.
  ///
  /// @param what of a transaction they are
  /// @param bytes of all of them
  /// @throws EngineException OUT_OF_MEMORY
  public static synchronized void allocate(String what, long bytes, Runnable allocation) {
    require(what, bytes, Long.MAX_VALUE);
    allocation.run();
  }

  /// Asks for room for short arrays that are many.
  ///
  /// @param what of a transaction they are
  /// @throws EngineException OUT_OF_MEMORY
  public static synchronized void require(String what, long bytes) {
    require(what, bytes, Long.MAX_VALUE);
  }

  private static void require(String what, long bytes, long limit) {
    long room = Math.min(limit, room());
    if (room < bytes && bytes <= limit) {
      System.gc();
      room = Math.min(limit, room());
    }
    if (room < bytes) {
      throw new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory for changed rows")
          .withDetail(
              "A transaction's %s needs %d MB, and %d MB of the endpoint's heap are left for it."
                  .formatted(what, bytes >> 20, Math.max(0, room) >> 20))
          .withHint("Change fewer rows in a transaction, or raise -Xmx in jvm.options.");
    }
  }

  private static long room() {
    long max = maxBytes();
    return max - max / KEPT_DIVISOR - POOL.getUsage().getUsed();
  }

  private static long maxBytes() {
    long max = POOL.getUsage().getMax();
    return max > 0 ? max : Runtime.getRuntime().maxMemory();
  }
}
