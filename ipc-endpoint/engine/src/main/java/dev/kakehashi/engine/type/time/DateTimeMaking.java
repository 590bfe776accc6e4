package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.Calendars;

/// Timestamps and intervals from their fields, and from seconds since 1970.
final class DateTimeMaking {
  private static final double UNIX_EPOCH_SECONDS = Calendars.UNIX_EPOCH_DAYS * 86_400.0;

  private DateTimeMaking() {}

  /// @param arguments year, month, day, hour, minute, and seconds as float8
  /// @param seconds of the minute
  static long timestamp(long[] arguments, double seconds) {
    long date = DateTimeMath.makeDate(arguments[0], arguments[1], arguments[2]);
    long time = DateTimeMath.makeTime(arguments[3], arguments[4], seconds);
    if (date >= Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY) {
      throw ValueErrors.dateTimeOutOfRange("timestamp");
    }
    return Calendars.checkedTimestamp(date * Calendars.MICROS_PER_DAY + time);
  }

  /// to_timestamp(float8): seconds since 1970-01-01 UTC.
  static long ofUnixSeconds(double seconds) {
    if (Double.isInfinite(seconds)) {
      return seconds > 0 ? Calendars.INFINITY : Calendars.MINUS_INFINITY;
    }
    if (Double.isNaN(seconds)) {
      throw ValueErrors.datetimeOverflow("timestamp cannot be NaN");
    }
    double micros = Math.rint((seconds - UNIX_EPOCH_SECONDS) * 1e6);
    if (!(micros >= Calendars.MIN_TIMESTAMP && micros < Calendars.END_TIMESTAMP)) {
      throw ValueErrors.datetimeOverflow("timestamp out of range: \"" + seconds + "\"");
    }
    return (long) micros;
  }

  /// @param fields years, months, weeks, days, hours, minutes; missing ones are 0
  static long interval(long[] fields, double seconds, VarHeap heap) {
    long months = field(fields, 0) * 12 + field(fields, 1);
    long days = field(fields, 2) * 7 + field(fields, 3);
    double rounded = Math.rint(seconds * 1e6);
    long whole =
        field(fields, 4) * Calendars.MICROS_PER_HOUR
            + field(fields, 5) * Calendars.MICROS_PER_MINUTE;
    if (months != (int) months || days != (int) days || !(rounded >= -0x1p63 && rounded < 0x1p63)) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    long micros = whole + (long) rounded;
    if (((whole ^ micros) & ((long) rounded ^ micros)) < 0) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    return Intervals.of(heap, (int) months, (int) days, micros);
  }

  private static long field(long[] fields, int index) {
    return index < fields.length ? fields[index] : 0;
  }

  /// date_bin(): the begin of the stride that holds a timestamp; strides are counted from an origin.
  static long bin(long stride, long timestamp, long origin) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    if (!Calendars.isFinite(origin)) {
      throw ValueErrors.datetimeOverflow("origin out of range");
    }
    if (Intervals.months(stride) != 0) {
      throw SqlErrors.notSupported(
          "timestamps cannot be binned into intervals containing months or years");
    }
    long days = Intervals.days(stride) * Calendars.MICROS_PER_DAY;
    long micros = days + Intervals.micros(stride);
    if (Math.multiplyHigh(Intervals.days(stride), Calendars.MICROS_PER_DAY) != days >> 63
        || ((days ^ micros) & (Intervals.micros(stride) ^ micros)) < 0) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    if (micros <= 0) {
      throw ValueErrors.datetimeOverflow("stride must be greater than zero");
    }
    long distance = timestamp - origin;
    if (((timestamp ^ origin) & (timestamp ^ distance)) < 0) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    long begin = origin + distance - distance % micros;
    if (distance % micros < 0) {
      long earlier = begin - micros;
      if (earlier > begin) {
        throw ValueErrors.dateTimeOutOfRange("timestamp");
      }
      begin = Calendars.checkedTimestamp(earlier);
    }
    return begin;
  }
}
