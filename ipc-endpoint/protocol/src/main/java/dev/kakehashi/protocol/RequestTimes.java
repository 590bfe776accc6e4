package dev.kakehashi.protocol;

import java.util.concurrent.atomic.LongAdder;

/// Counts how long requests took, in two steps for each doubling from 1 µs to more than an hour. Thread-safe; a count costs some
/// nanoseconds.
public final class RequestTimes {
  /// Doubling of the last step, which has no end.
  private static final int LAST_DOUBLING = 32;

  private static final int STEPS = 2 + 2 * LAST_DOUBLING;
  private static final long NANOS_PER_MICRO = 1_000;

  private final LongAdder[] counts = new LongAdder[STEPS];

  public RequestTimes() {
    for (int i = 0; i < STEPS; i++) {
      counts[i] = new LongAdder();
    }
  }

  public void add(long nanos) {
    counts[step(nanos / NANOS_PER_MICRO)].increment();
  }

  private static int step(long micros) {
    if (micros < 1) {
      return 0;
    }
    int doubling = Long.SIZE - 1 - Long.numberOfLeadingZeros(micros);
    if (doubling >= LAST_DOUBLING) {
      return STEPS - 1;
    }
    int half = doubling == 0 ? 0 : (int) (micros >> (doubling - 1)) & 1;
    return 1 + 2 * doubling + half;
  }

  /// Numbers of requests by step.
  public long[] counts() {
    long[] now = new long[STEPS];
    for (int i = 0; i < STEPS; i++) {
      now[i] = counts[i].sum();
    }
    return now;
  }

  /// Microseconds that the requests of a step did not reach.
  ///
  /// @param step index into [#counts]
  public static long upperMicros(int step) {
    if (step == 0) {
      return 1;
    }
    int doubling = (step - 1) / 2;
    boolean isSecondHalf = (step - 1) % 2 == 1 || doubling == 0;
    return isSecondHalf ? 2L << doubling : 3L << (doubling - 1);
  }
}
