package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.IntervalFields;
import dev.kakehashi.valuetext.time.TimePrecision;

/// Cutting of intervals to the fields of their type, and rounding to its digits.
public final class IntervalPrecision {
  private IntervalPrecision() {}

  /// Cuts what the type's fields do not have to the right, as PostgreSQL's `AdjustIntervalForTypmod()`; what they do not have to the left
  /// stays.
  ///
  /// @param precision digits of seconds, -1: all
  public static long cut(long value, IntervalFields fields, int precision, VarHeap heap) {
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
      case SECOND, DAY_TO_SECOND, HOUR_TO_SECOND, MINUTE_TO_SECOND, ALL ->
          micros = TimePrecision.time(micros, precision);
    }
    return Intervals.of(heap, months, days, micros);
  }
}
