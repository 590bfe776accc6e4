package dev.kakehashi.valuetext.time;

import java.nio.charset.StandardCharsets;

/// Dates, times and intervals as strings, made by [TimeText]: DateStyle ISO, IntervalStyle postgres.
public final class DateTimeFormat {
  private static final byte[] NO_ZONE = {};

  private DateTimeFormat() {}

  private static String string(byte[] bytes, int end) {
    return new String(bytes, 0, end, StandardCharsets.ISO_8859_1);
  }

  /// @param date days since 2000-01-01
  public static String date(long date) {
    byte[] bytes = new byte[TimeText.MAX_BYTES];
    return string(bytes, TimeText.putDate(bytes, 0, (int) date));
  }

  /// @param micros since midnight, up to 24:00:00
  public static String time(long micros) {
    byte[] bytes = new byte[TimeText.MAX_BYTES];
    return string(bytes, TimeText.putTime(bytes, 0, micros));
  }

  /// @param timestamp microseconds since 2000-01-01 00:00
  public static String timestamp(long timestamp) {
    return timestamp(timestamp, NO_ZONE);
  }

  /// @param timestamp microseconds since 2000-01-01 UTC
  public static String timestamptz(long timestamp, Zone zone) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp(timestamp, NO_ZONE);
    }
    int seconds = zone.offsetSeconds(timestamp);
    // An instant at an end of the range is shown beyond it.
    return timestamp(
        timestamp + seconds * Calendars.MICROS_PER_SECOND,
        Zone.offsetText(seconds).getBytes(StandardCharsets.ISO_8859_1));
  }

  private static String timestamp(long timestamp, byte[] zone) {
    byte[] bytes = new byte[TimeText.MAX_BYTES];
    return string(bytes, TimeText.putTimestamp(bytes, 0, timestamp, ' ', zone));
  }

  /// For example "1 year 2 mons -3 days +04:05:06.7".
  public static String interval(int months, int days, long micros) {
    byte[] bytes = new byte[TimeText.MAX_INTERVAL_BYTES];
    return string(bytes, TimeText.putInterval(bytes, 0, months, days, micros));
  }
}
