package dev.kakehashi.valuetext.time;

import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.value.PgTime;
import dev.kakehashi.valuetext.number.Digits;
import java.nio.charset.StandardCharsets;

/// Dates, times and intervals as PostgreSQL writes them with DateStyle ISO and IntervalStyle postgres, written in place. The time zone is
/// UTC where no other is given.
public final class TimeText {
  /// Longest text of a date, a time or a timestamp.
  public static final int MAX_BYTES = 48;

  /// Longest text of an interval.
  public static final int MAX_INTERVAL_BYTES = 96;

  private static final byte[] INFINITY = ascii("infinity");
  private static final byte[] MINUS_INFINITY = ascii("-infinity");
  private static final byte[] ERA = ascii(" BC");
  private static final byte[] UTC = ascii("+00");
  private static final byte[] RFC_UTC = ascii("+00:00");
  private static final byte[] YEAR = ascii(" year");
  private static final byte[] MONTH = ascii(" mon");
  private static final byte[] DAY = ascii(" day");

  private TimeText() {}

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /// @param days since 2000-01-01
  public static int putDate(byte[] bytes, int at, int days) {
    if (days == PgTime.DATE_POSITIVE_INFINITY || days == PgTime.DATE_NEGATIVE_INFINITY) {
      return put(bytes, at, days > 0 ? INFINITY : MINUS_INFINITY);
    }
    long civil = Calendars.civil(days);
    return putEra(bytes, putCivil(bytes, at, civil), civil);
  }

  /// @param micros since midnight
  /// @throws MalformedFrameException when they are more than a day, or negative
  public static int putTime(byte[] bytes, int at, long micros) {
    if (micros < 0 || micros > Calendars.MICROS_PER_DAY) {
      throw new MalformedFrameException("time of " + micros + " microseconds");
    }
    long hours = micros / Calendars.MICROS_PER_HOUR;
    int next = Digits.putTwo(bytes, at, (int) hours);
    return putMinutes(bytes, next, micros - hours * Calendars.MICROS_PER_HOUR);
  }

  /// @param micros since 2000-01-01
  /// @param separator between date and time: a blank, or T
  public static int putTimestamp(byte[] bytes, int at, long micros, char separator) {
    return putTimestamp(bytes, at, micros, separator, new byte[0]);
  }

  /// @param separator between date and time: a blank; with T the zone is written as in RFC 3339
  public static int putTimestamptz(byte[] bytes, int at, long micros, char separator) {
    return putTimestamp(bytes, at, micros, separator, separator == 'T' ? RFC_UTC : UTC);
  }

  /// @param separator between date and time: a blank, or T
  /// @param zone as it is to stand behind the time; infinities have none
  static int putTimestamp(byte[] bytes, int at, long micros, char separator, byte[] zone) {
    if (micros == PgTime.TIMESTAMP_POSITIVE_INFINITY
        || micros == PgTime.TIMESTAMP_NEGATIVE_INFINITY) {
      return put(bytes, at, micros > 0 ? INFINITY : MINUS_INFINITY);
    }
    long days = Math.floorDiv(micros, Calendars.MICROS_PER_DAY);
    long civil = Calendars.civil(days);
    int next = putCivil(bytes, at, civil);
    bytes[next++] = (byte) separator;
    next = putTime(bytes, next, micros - days * Calendars.MICROS_PER_DAY);
    return putEra(bytes, put(bytes, next, zone), civil);
  }

  /// For example "1 year 2 mons -3 days +04:05:06.7".
  public static int putInterval(byte[] bytes, int at, int months, int days, long micros) {
    int next = putPart(bytes, at, at, months / 12, YEAR, false);
    boolean before = months / 12 < 0;
    next = putPart(bytes, at, next, months % 12, MONTH, before);
    before = months % 12 == 0 ? before : months % 12 < 0;
    next = putPart(bytes, at, next, days, DAY, before);
    before = days == 0 ? before : days < 0;
    if (next > at && micros == 0) {
      return next;
    }
    if (next > at) {
      bytes[next++] = ' ';
    }
    if (micros < 0) {
      bytes[next++] = '-';
    } else if (before) {
      bytes[next++] = '+';
    }
    // Quotient and remainder of the signed value, so that Long.MIN_VALUE works.
    long hours = Math.abs(micros / Calendars.MICROS_PER_HOUR);
    next =
        hours < 100
            ? Digits.putTwo(bytes, next, (int) hours)
            : Digits.putDigits(bytes, next, hours);
    return putMinutes(bytes, next, Math.abs(micros % Calendars.MICROS_PER_HOUR));
  }

  private static int putPart(
      byte[] bytes, int begin, int at, int value, byte[] unit, boolean negativeBefore) {
    if (value == 0) {
      return at;
    }
    int next = at;
    if (next > begin) {
      bytes[next++] = ' ';
    }
    if (negativeBefore && value > 0) {
      bytes[next++] = '+';
    }
    next = put(bytes, Digits.putLong(bytes, next, value), unit);
    if (value != 1) {
      bytes[next++] = 's';
    }
    return next;
  }

  /// `:mm:ss.ffffff`, without zeros at the end.
  private static int putMinutes(byte[] bytes, int at, long micros) {
    int minutes = (int) (micros / Calendars.MICROS_PER_MINUTE);
    int rest = (int) (micros - minutes * Calendars.MICROS_PER_MINUTE);
    int seconds = rest / 1_000_000;
    int fraction = rest - seconds * 1_000_000;
    bytes[at] = ':';
    int next = Digits.putTwo(bytes, at + 1, minutes);
    bytes[next] = ':';
    next = Digits.putTwo(bytes, next + 1, seconds);
    if (fraction == 0) {
      return next;
    }
    bytes[next] = '.';
    next = Digits.putPadded(bytes, next + 1, fraction, 6);
    while (bytes[next - 1] == '0') {
      next--;
    }
    return next;
  }

  private static int putCivil(byte[] bytes, int at, long civil) {
    int year = Calendars.year(civil);
    int shown = year > 0 ? year : 1 - year;
    int next =
        shown < 10_000 ? Digits.putPadded(bytes, at, shown, 4) : Digits.putDigits(bytes, at, shown);
    bytes[next] = '-';
    next = Digits.putTwo(bytes, next + 1, Calendars.month(civil));
    bytes[next] = '-';
    return Digits.putTwo(bytes, next + 1, Calendars.day(civil));
  }

  private static int putEra(byte[] bytes, int at, long civil) {
    return Calendars.year(civil) > 0 ? at : put(bytes, at, ERA);
  }

  private static int put(byte[] bytes, int at, byte[] text) {
    System.arraycopy(text, 0, bytes, at, text.length);
    return at + text.length;
  }
}
