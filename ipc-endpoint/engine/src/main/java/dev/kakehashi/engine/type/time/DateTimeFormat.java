package dev.kakehashi.engine.type.time;

import dev.kakehashi.valuetext.time.Calendars;

/// Text forms of dates and times: DateStyle ISO, IntervalStyle postgres.
public final class DateTimeFormat {
  private DateTimeFormat() {}

  public static String date(long date) {
    if (!Calendars.isFiniteDate(date)) {
      return date > 0 ? "infinity" : "-infinity";
    }
    StringBuilder out = new StringBuilder(16);
    long civil = Calendars.civil(date);
    appendDate(out, civil);
    appendEra(out, civil);
    return out.toString();
  }

  public static String time(long micros) {
    StringBuilder out = new StringBuilder(16);
    appendTime(out, micros);
    return out.toString();
  }

  public static String timestamp(long timestamp) {
    return timestamp(timestamp, "");
  }

  public static String timestamptz(long timestamp, Zone zone) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp(timestamp, "");
    }
    int seconds = zone.offsetSeconds(timestamp);
    // An instant at an end of the range is shown beyond it.
    return timestamp(timestamp + seconds * Calendars.MICROS_PER_SECOND, Zone.offsetText(seconds));
  }

  private static String timestamp(long timestamp, String zone) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp > 0 ? "infinity" : "-infinity";
    }
    StringBuilder out = new StringBuilder(32);
    long civil = Calendars.civil(Calendars.dayOf(timestamp));
    appendDate(out, civil);
    out.append(' ');
    appendTime(out, Calendars.timeOf(timestamp));
    out.append(zone);
    appendEra(out, civil);
    return out.toString();
  }

  private static void appendDate(StringBuilder out, long civil) {
    int year = Calendars.year(civil);
    appendPadded(out, year > 0 ? year : 1L - year, 4);
    appendPadded(out.append('-'), Calendars.month(civil), 2);
    appendPadded(out.append('-'), Calendars.day(civil), 2);
  }

  private static void appendEra(StringBuilder out, long civil) {
    if (Calendars.year(civil) <= 0) {
      out.append(" BC");
    }
  }

  private static void appendTime(StringBuilder out, long micros) {
    appendPadded(out, micros / Calendars.MICROS_PER_HOUR, 2);
    appendPadded(out.append(':'), micros / Calendars.MICROS_PER_MINUTE % 60, 2);
    out.append(':');
    appendSeconds(out, micros % Calendars.MICROS_PER_MINUTE);
  }

  /// Two digits and up to six after the point, without zeros at the end.
  private static void appendSeconds(StringBuilder out, long micros) {
    appendPadded(out, micros / Calendars.MICROS_PER_SECOND, 2);
    long fraction = micros % Calendars.MICROS_PER_SECOND;
    if (fraction != 0) {
      int begin = out.append('.').length();
      appendPadded(out, fraction, 6);
      int end = out.length();
      while (end > begin && out.charAt(end - 1) == '0') {
        end--;
      }
      out.setLength(end);
    }
  }

  private static void appendPadded(StringBuilder out, long value, int digits) {
    String text = Long.toString(value);
    out.repeat('0', Math.max(0, digits - text.length())).append(text);
  }

  /// For example "1 year 2 mons -3 days +04:05:06.7".
  public static String interval(int months, int days, long micros) {
    StringBuilder out = new StringBuilder(32);
    boolean before = appendPart(out, months / 12, "year", false);
    before = appendPart(out, months % 12, "mon", before);
    before = appendPart(out, days, "day", before);
    if (out.isEmpty() || micros != 0) {
      if (!out.isEmpty()) {
        out.append(' ');
      }
      if (micros < 0) {
        out.append('-');
      } else if (before) {
        out.append('+');
      }
      // Quotients and remainders of the signed value, so that Long.MIN_VALUE works.
      appendPadded(out, Math.abs(micros / Calendars.MICROS_PER_HOUR), 2);
      appendPadded(out.append(':'), Math.abs(micros / Calendars.MICROS_PER_MINUTE % 60), 2);
      out.append(':');
      appendSeconds(out, Math.abs(micros % Calendars.MICROS_PER_MINUTE));
    }
    return out.toString();
  }

  private static boolean appendPart(StringBuilder out, int value, String unit, boolean before) {
    if (value == 0) {
      return before;
    }
    if (!out.isEmpty()) {
      out.append(' ');
    }
    if (before && value > 0) {
      out.append('+');
    }
    out.append(value).append(' ').append(unit).append(value == 1 ? "" : "s");
    return value < 0;
  }
}
