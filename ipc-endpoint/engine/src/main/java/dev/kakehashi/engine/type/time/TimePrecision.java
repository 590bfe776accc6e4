package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.valuetext.time.Calendars;

/// Rounding of times, timestamps and intervals to the digits of their type modifier, half away from zero, and cutting of intervals to their
/// fields.
public final class TimePrecision {
  private static final int MAX_PRECISION = 6;
  private static final long[] UNITS = {1_000_000, 100_000, 10_000, 1_000, 100, 10, 1};

  private TimePrecision() {}

  private static long round(long micros, int precision) {
    long unit = UNITS[precision];
    return micros >= 0 ? (micros + unit / 2) / unit * unit : -((-micros + unit / 2) / unit * unit);
  }

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

  /// Cuts what the type's fields do not have to the right, as PostgreSQL's `AdjustIntervalForTypmod()`; what they do not have to the left
  /// stays.
  ///
  /// @param precision digits of seconds, -1: all
  public static long interval(long value, IntervalFields fields, int precision, VarHeap heap) {
    int months = Intervals.months(value);
    int days = Intervals.days(value);
    long micros = Intervals.micros(value);
    switch (fields) {
      case YEAR -> {
        months = months / 12 * 12;
        days = 0;
        micros = 0;
      }
      case MONTH, YEAR_TO_MONTH -> {
        days = 0;
        micros = 0;
      }
      case DAY -> micros = 0;
      case HOUR, DAY_TO_HOUR ->
          micros = micros / Calendars.MICROS_PER_HOUR * Calendars.MICROS_PER_HOUR;
      case MINUTE, DAY_TO_MINUTE, HOUR_TO_MINUTE ->
          micros = micros / Calendars.MICROS_PER_MINUTE * Calendars.MICROS_PER_MINUTE;
      case SECOND, DAY_TO_SECOND, HOUR_TO_SECOND, MINUTE_TO_SECOND, ALL -> {
        if (precision >= 0 && precision < MAX_PRECISION) {
          micros = round(micros, precision);
        }
      }
    }
    return Intervals.of(heap, months, days, micros);
  }
}
