package dev.kakehashi.scheduler.bench;

/// Work of a known amount, not of a known time: sharing a processor makes it longer.
final class Work {
  private static volatile long sink;

  private Work() {}

  /// About 300 ns each on a processor of 2025.
  static void units(int n) {
    long x = n;
    for (int i = 0; i < n * 300; i++) {
      x = x * 0x5DEECE66DL + 11;
    }
    if (x == 42) {
      sink = x;
    }
  }

  /// How many units last as long as `nanos`.
  static int unitsIn(long nanos) {
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 30; i++) {
      long start = System.nanoTime();
      units(1000);
      best = Math.min(best, System.nanoTime() - start);
    }
    return (int) Math.max(1, nanos * 1000 / best);
  }

  static long sink() {
    return sink;
  }
}
