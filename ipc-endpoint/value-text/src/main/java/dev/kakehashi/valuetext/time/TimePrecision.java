package dev.kakehashi.valuetext.time;

/// Rounding of times, timestamps and intervals to the digits of their type modifier, half away from zero.
public final class TimePrecision {
  private static final int MAX_PRECISION = 6;
  private static final long[] UNITS = {1_000_000, 100_000, 10_000, 1_000, 100, 10, 1};

  private TimePrecision() {}

  private static long round(long micros, int precision) {
    long unit = UNITS[precision];
    return micros >= 0 ? (micros + unit / 2) / unit * unit : -((-micros + unit / 2) / unit * unit);
  }

  /// Microseconds of a time of day, or of an interval.
  ///
  /// @param precision digits of seconds, -1: all
  public static long time(long micros, int precision) {
    return precision < 0 || precision >= MAX_PRECISION ? micros : round(micros, precision);
  }

  /// Not checked for range, as in PostgreSQL.
  public static long timestamp(long timestamp, int precision) {
    if (precision < 0 || precision >= MAX_PRECISION || !Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    return round(timestamp, precision);
  }
}
