package dev.kakehashi.requests;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// How full the JVM's heap is of what lives long, for those who would keep more there: each open result is a statement with its state, and
/// thousands of them can be more than the heap, on which everybody's statements depend. Confined to the poller.
///
/// Garbage is no reason to refuse anything. A heap that looks full is judged by what a collection has left, and by the results that were
/// opened since. A collection is made where that is not known, or says that nothing fits; all of them together take a tenth of the time at
/// most.
final class HeapLevel {
  /// The rest is for the statements of all sessions that have no such number of results.
  private static final double TIGHT = 0.7;

  /// How long is believed that what a collection has left would fit, and no more lives than the results that were opened since.
  private static final long BELIEVED_NANOS = 5_000_000_000L;

  /// Between two collections lies so many times what one takes.
  private static final int PAUSES_BETWEEN = 10;

  /// A heap, as its collector shows it.
  interface Heap {
    /// Bytes of what lives long, with garbage among it.
    long usedBytes();

    /// Bytes that this may become; not positive: unknown.
    long maxBytes();

    /// Makes a collection. Bytes that are used then are not garbage.
    void collect();
  }

  private final @Nullable Heap heap;
  private final LongSupplier clock;

  /// Measures of the last collection: bytes that it has left, bytes of open results then, its end and its duration. Before the first
  /// collection nothing is known.
  private long liveBytes = Long.MAX_VALUE / 2;

  private long heldBytes;
  private long collectedAtNanos;
  private long collectionNanos;

  /// @param heap null: its collector does not say how full it is
  /// @param clock of nanoseconds, as [System#nanoTime()]
  HeapLevel(@Nullable Heap heap, LongSupplier clock) {
    this.heap = heap;
    this.clock = clock;
    this.collectedAtNanos = clock.getAsLong() - BELIEVED_NANOS;
  }

  /// That of this process: its generation that fills up.
  static HeapLevel ofProcess() {
    Heap heap =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(p -> p.getType() == MemoryType.HEAP && p.isUsageThresholdSupported())
            .findFirst()
            .map(Generation::new)
            .orElse(null);
    return new HeapLevel(heap, System::nanoTime);
  }

  /// Whether nothing more should be kept. Takes microseconds, and where the heap looks full the time of a collection once in a while.
  ///
  /// @param heldNowBytes estimate of what open results hold
  boolean isTight(long heldNowBytes) {
    Heap looked = heap;
    if (looked == null || !isTight(looked, looked.usedBytes())) {
      return false;
    }
    boolean isTight = isTight(looked, liveBytes + Math.max(0, heldNowBytes - heldBytes));
    long sinceNanos = clock.getAsLong() - collectedAtNanos;
    if (sinceNanos < PAUSES_BETWEEN * collectionNanos
        || (!isTight && sinceNanos < BELIEVED_NANOS)) {
      return isTight;
    }
    long begin = clock.getAsLong();
    looked.collect();
    collectedAtNanos = clock.getAsLong();
    collectionNanos = collectedAtNanos - begin;
    liveBytes = looked.usedBytes();
    heldBytes = heldNowBytes;
    return isTight(looked, liveBytes);
  }

  private static boolean isTight(Heap heap, long bytes) {
    long max = heap.maxBytes();
    return max > 0 && bytes > TIGHT * max;
  }

  private record Generation(MemoryPoolMXBean pool) implements Heap {
    @Override
    public long usedBytes() {
      return pool.getUsage().getUsed();
    }

    @Override
    public long maxBytes() {
      return pool.getUsage().getMax();
    }

    @Override
    public void collect() {
      System.gc();
    }
  }
}
