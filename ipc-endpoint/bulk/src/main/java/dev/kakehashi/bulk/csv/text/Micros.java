package dev.kakehashi.bulk.csv.text;

/// Microseconds to a number of digits of a second.
final class Micros {
  private static final long[] UNITS = {1_000_000, 100_000, 10_000, 1000, 100, 10, 1};

  private Micros() {}

  /// Rounds half away from zero; infinities stay.
  static long round(long micros, int digits) {
    if (digits >= 6 || micros == Long.MAX_VALUE || micros == Long.MIN_VALUE) {
      return micros;
    }
    long unit = UNITS[digits];
    long rest = micros % unit;
    long down = micros - rest;
    if (2 * Math.abs(rest) < unit) {
      return down;
    }
    return micros >= 0 ? down + unit : down - unit;
  }
}
