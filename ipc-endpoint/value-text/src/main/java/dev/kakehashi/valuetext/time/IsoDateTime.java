package dev.kakehashi.valuetext.time;

import java.nio.charset.StandardCharsets;

/// The fast path of [DateTimeInput]: dates and times in the form that PostgreSQL and most programs write them in, `2026-11-25 22:30:00.5`,
/// of the years 1900 to 2099. It makes no objects. All other text, also wrong text, is for the whole grammar.
public final class IsoDateTime {
  /// No text of this form.
  public static final long NONE = Long.MIN_VALUE;

  private static final int DATE_BYTES = 10;
  private static final int CLOCK_BYTES = 8;

  /// Longest text of this form, with a zone.
  private static final int MAX_BYTES = 29;

  private static final int FIRST_YEAR = 1900;
  private static final int END_YEAR = 2100;

  /// Days of the first of each month since 2000-01-01, and of the one behind the last.
  private static final int[] MONTHS = new int[12 * (END_YEAR - FIRST_YEAR) + 1];

  /// Microseconds of the last of that many digits of a fraction.
  private static final int[] FRACTIONS = {1_000_000, 100_000, 10_000, 1_000, 100, 10, 1};

  private static final byte[] NOTHING = {};

  static {
    for (int i = 0; i < MONTHS.length; i++) {
      MONTHS[i] = (int) Calendars.days(FIRST_YEAR + i / 12, i % 12 + 1, 1);
    }
  }

  private IsoDateTime() {}

  /// Characters of a text as bytes; nothing if it is longer than this form, `?` for those that it does not have.
  static byte[] bytes(String text) {
    return text.length() > MAX_BYTES ? NOTHING : text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /// `YYYY-MM-DD`.
  ///
  /// @return days since 2000-01-01, or NONE
  public static long date(byte[] bytes, int from, int to) {
    return to - from == DATE_BYTES ? days(bytes, from) : NONE;
  }

  /// `hh:mm:ss` and up to six digits behind a point.
  ///
  /// @return microseconds since midnight, or NONE
  public static long time(byte[] bytes, int from, int to) {
    if (to - from < CLOCK_BYTES) {
      return NONE;
    }
    int hours = two(bytes, from);
    int minutes = two(bytes, from + 3);
    int seconds = two(bytes, from + 6);
    if ((hours | minutes | seconds) < 0
        || bytes[from + 2] != ':'
        || bytes[from + 5] != ':'
        || hours > 23
        || minutes > 59
        || seconds > 59) {
      return NONE;
    }
    long micros = Calendars.MICROS_PER_SECOND * (3600 * hours + 60 * minutes + seconds);
    int at = from + CLOCK_BYTES;
    if (at == to) {
      return micros;
    }
    int digits = to - at - 1;
    if (bytes[at] != '.' || digits < 1 || digits >= FRACTIONS.length) {
      return NONE;
    }
    long fraction = 0;
    for (at++; at < to; at++) {
      int digit = bytes[at] - '0';
      if (digit < 0 || digit > 9) {
        return NONE;
      }
      fraction = 10 * fraction + digit;
    }
    return micros + fraction * FRACTIONS[digits];
  }

  /// A date, a blank or `T`, and a time, without a zone.
  ///
  /// @return microseconds since 2000-01-01 00:00, or NONE
  public static long timestamp(byte[] bytes, int from, int to) {
    if (to - from < DATE_BYTES + 1 + CLOCK_BYTES) {
      return NONE;
    }
    long days = days(bytes, from);
    byte separator = bytes[from + DATE_BYTES];
    if (days == NONE || (separator != ' ' && separator != 'T')) {
      return NONE;
    }
    long micros = time(bytes, from + DATE_BYTES + 1, to);
    return micros == NONE ? NONE : days * Calendars.MICROS_PER_DAY + micros;
  }

  /// Where a timestamp with a zone ends if its zone is UTC, written as `Z` or `+00`; otherwise `to`.
  public static int endBeforeUtc(byte[] bytes, int from, int to) {
    if (to - from <= DATE_BYTES + 1 + CLOCK_BYTES) {
      return to;
    }
    if (bytes[to - 1] == 'Z') {
      return to - 1;
    }
    return bytes[to - 3] == '+' && bytes[to - 2] == '0' && bytes[to - 1] == '0' ? to - 3 : to;
  }

  private static long days(byte[] bytes, int at) {
    int century = two(bytes, at);
    int years = two(bytes, at + 2);
    int month = two(bytes, at + 5);
    int day = two(bytes, at + 8);
    if ((century | years | month | day) < 0 || bytes[at + 4] != '-' || bytes[at + 7] != '-') {
      return NONE;
    }
    int year = 100 * century + years;
    if (year < FIRST_YEAR || year >= END_YEAR || month < 1 || month > 12) {
      return NONE;
    }
    int index = 12 * (year - FIRST_YEAR) + month - 1;
    int first = MONTHS[index];
    return day >= 1 && first + day <= MONTHS[index + 1] ? first + day - 1 : NONE;
  }

  /// Two digits; negative if they are none.
  private static int two(byte[] bytes, int at) {
    int tens = bytes[at] - '0';
    int ones = bytes[at + 1] - '0';
    return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : 10 * tens + ones;
  }
}
