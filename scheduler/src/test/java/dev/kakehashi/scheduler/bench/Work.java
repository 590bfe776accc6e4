package dev.kakehashi.scheduler.bench;

/// Work of a known amount, not of a known time: sharing a processor makes it longer.
final class Work {
  private static volatile long sink;

  private Work() {}

  /// About 300 ns each on a processor of 2025.
  static void units(int n) {
    run(n * 190);
  }

  /// About a third of that each.
  static void third(int n) {
    run(n * 63);
  }

  /// About a twelfth of that each.
  static void twelfth(int n) {
    run(n * 16);
  }

  // Shifts and exclusive ors: a chain of multiplications and additions the compiler folds into one.
  private static void run(int steps) {
    long x = sink + 1;
    for (int i = 0; i < steps; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
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
