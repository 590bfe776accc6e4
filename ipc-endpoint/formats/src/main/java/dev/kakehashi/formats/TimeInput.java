package dev.kakehashi.formats;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgTime;
import dev.kakehashi.valuetext.time.Calendars;

/// Reads dates and times of ISO 8601 and RFC 3339, and as PostgreSQL writes them with DateStyle ISO: `2026-11-25T22:30:00.5Z`,
/// `0044-03-15 10:00:00+01:30 BC`, `infinity`.
///
/// A time zone of a timestamp without one is read and left away, as is the time of a date, as PostgreSQL does; a timestamptz without one is
/// UTC. Digits beyond microseconds are rounded.
public final class TimeInput {
  private static final String HINT =
      "Write it as ISO 8601, or send it as text and cast it in the statement.";

  private static final int MAX_YEAR_DIGITS = 7;
  private static final int MAX_TIMETZ = 24;

  /// PostgreSQL's offsets are less than 16 hours.
  private static final int END_OFFSET_HOURS = 16;

  private final String type;
  private final String text;
  private int at;

  /// Seconds east of UTC, if `zoned`.
  private int offset;

  private boolean zoned;

  private TimeInput(String type, String text) {
    this.type = type;
    this.text = text;
  }

  /// Days since 2000-01-01.
  ///
  /// @throws EngineException INVALID_DATETIME_FORMAT, DATETIME_OVERFLOW
  public static int date(String text) {
    return switch (text) {
      case "infinity" -> PgTime.DATE_POSITIVE_INFINITY;
      case "-infinity" -> PgTime.DATE_NEGATIVE_INFINITY;
      default -> new TimeInput("date", text).date();
    };
  }

  private int date() {
    long year = year();
    int month = monthAfterDash();
    int day = dayAfterDash();
    clockAndZone();
    long days = days(era(year), month, day);
    expectEnd();
    if (days < Calendars.MIN_DATE || days >= Calendars.END_DATE) {
      throw outOfRange();
    }
    return (int) days;
  }

  /// Microseconds since midnight.
  ///
  /// @throws EngineException INVALID_DATETIME_FORMAT, DATETIME_OVERFLOW
  public static long time(String text) {
    TimeInput input = new TimeInput("time", text);
    long micros = input.clock();
    input.expectEnd();
    return micros;
  }

  /// A time with a zone as PostgreSQL writes it, from the same; UTC if there is none.
  ///
  /// @throws EngineException INVALID_DATETIME_FORMAT, DATETIME_OVERFLOW
  public static String timetz(String text) {
    TimeInput input = new TimeInput("time with time zone", text);
    long micros = input.clock();
    input.zone();
    input.expectEnd();
    byte[] bytes = new byte[TimeText.MAX_BYTES];
    int end = TimeText.putTime(bytes, 0, micros);
    StringBuilder out = new StringBuilder(MAX_TIMETZ);
    for (int i = 0; i < end; i++) {
      out.append((char) bytes[i]);
    }
    int seconds = Math.abs(input.offset);
    out.append(input.offset < 0 ? '-' : '+').append(two(seconds / 3600));
    if (seconds % 3600 != 0) {
      out.append(':').append(two(seconds / 60 % 60));
    }
    if (seconds % 60 != 0) {
      out.append(':').append(two(seconds % 60));
    }
    return out.toString();
  }

  private static String two(int value) {
    return value < 10 ? "0" + value : Integer.toString(value);
  }

  /// Microseconds since 2000-01-01.
  ///
  /// @param withZone whether it is a timestamptz
  /// @throws EngineException INVALID_DATETIME_FORMAT, DATETIME_OVERFLOW
  public static long timestamp(String text, boolean withZone) {
    if (text.equals("infinity")) {
      return PgTime.TIMESTAMP_POSITIVE_INFINITY;
    }
    if (text.equals("-infinity")) {
      return PgTime.TIMESTAMP_NEGATIVE_INFINITY;
    }
    TimeInput input = new TimeInput(withZone ? "timestamp with time zone" : "timestamp", text);
    return input.timestamp(withZone);
  }

  private long timestamp(boolean withZone) {
    long year = year();
    int month = monthAfterDash();
    int day = dayAfterDash();
    long micros = clockAndZone();
    long days = days(era(year), month, day);
    expectEnd();
    if (Math.abs(days) > Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY + 1) {
      throw outOfRange();
    }
    long shift = withZone && zoned ? offset * Calendars.MICROS_PER_SECOND : 0;
    long timestamp;
    try {
      timestamp = Math.addExact(Math.multiplyExact(days, Calendars.MICROS_PER_DAY), micros - shift);
    } catch (ArithmeticException e) {
      throw outOfRange(e);
    }
    if (timestamp < Calendars.MIN_TIMESTAMP || timestamp >= Calendars.END_TIMESTAMP) {
      throw outOfRange();
    }
    return timestamp;
  }

  /// A time of day and a zone after a date, if there are.
  ///
  /// @return microseconds; 0: there is no time
  private long clockAndZone() {
    if (peek() != 'T' && peek() != 't' && (peek() != ' ' || !digitAt(at + 1))) {
      return 0;
    }
    at++;
    long micros = clock();
    zone();
    return micros;
  }

  private boolean digitAt(int index) {
    return index < text.length() && text.charAt(index) >= '0' && text.charAt(index) <= '9';
  }

  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }

  private long year() {
    int begin = at;
    int year = 0;
    while (digitAt(at)) {
      year = 10 * year + (text.charAt(at) - '0');
      at++;
      if (at - begin > MAX_YEAR_DIGITS) {
        throw outOfRange();
      }
    }
    if (at - begin < 4) {
      throw invalid();
    }
    return year;
  }

  private int monthAfterDash() {
    expect('-');
    int month = twoDigits();
    if (month < 1 || month > 12) {
      throw outOfRange();
    }
    return month;
  }

  private int dayAfterDash() {
    expect('-');
    return twoDigits();
  }

  /// The year that an era at the end makes of one.
  private long era(long year) {
    if (year == 0) {
      throw outOfRange();
    }
    if (text.startsWith(" BC", at)) {
      at += 3;
      return 1 - year;
    }
    return year;
  }

  private long days(long year, int month, int day) {
    if (day < 1 || day > Calendars.daysInMonth(year, month)) {
      throw outOfRange();
    }
    return Calendars.days(year, month, day);
  }

  /// `hh:mm[:ss[.f]]`, up to 24:00:00, seconds up to 60.
  private long clock() {
    int hours = twoDigits();
    expect(':');
    int minutes = twoDigits();
    long micros = 0;
    if (peek() == ':') {
      at++;
      int seconds = twoDigits();
      micros = seconds * Calendars.MICROS_PER_SECOND;
      if (seconds > 60) {
        throw outOfRange();
      }
      if (peek() == '.') {
        at++;
        micros += fraction();
      }
    }
    micros += hours * Calendars.MICROS_PER_HOUR + minutes * Calendars.MICROS_PER_MINUTE;
    if (minutes > 59 || micros > Calendars.MICROS_PER_DAY) {
      throw outOfRange();
    }
    return micros;
  }

  private long fraction() {
    int begin = at;
    long micros = 0;
    boolean up = false;
    while (digitAt(at)) {
      int digit = text.charAt(at) - '0';
      int place = at - begin;
      if (place < 6) {
        micros = 10 * micros + digit;
      } else if (place == 6) {
        up = digit >= 5;
      }
      at++;
    }
    if (at == begin) {
      throw invalid();
    }
    for (int place = at - begin; place < 6; place++) {
      micros *= 10;
    }
    return up ? micros + 1 : micros;
  }

  /// `Z`, `+hh`, `+hh:mm`, `+hhmm`, `+hh:mm:ss`, or nothing.
  private void zone() {
    char sign = peek();
    if (sign == 'Z' || sign == 'z') {
      at++;
      zoned = true;
      return;
    }
    if (sign != '+' && sign != '-') {
      return;
    }
    at++;
    int hours = twoDigits();
    int minutes = 0;
    int seconds = 0;
    if (peek() == ':') {
      at++;
      minutes = twoDigits();
      if (peek() == ':') {
        at++;
        seconds = twoDigits();
      }
    } else if (digitAt(at)) {
      minutes = twoDigits();
    }
    if (hours >= END_OFFSET_HOURS || minutes > 59 || seconds > 59) {
      throw new EngineException(
          ErrorCode.INVALID_TIME_ZONE_DISPLACEMENT,
          "time zone displacement out of range: \"" + TextInput.shown(text) + "\"");
    }
    int east = 3600 * hours + 60 * minutes + seconds;
    offset = sign == '-' ? -east : east;
    zoned = true;
  }

  private int twoDigits() {
    if (!digitAt(at) || !digitAt(at + 1)) {
      throw invalid();
    }
    int value = 10 * (text.charAt(at) - '0') + (text.charAt(at + 1) - '0');
    at += 2;
    return value;
  }

  private void expect(char c) {
    if (peek() != c) {
      throw invalid();
    }
    at++;
  }

  private void expectEnd() {
    if (at != text.length()) {
      throw invalid();
    }
  }

  private EngineException invalid() {
    return new EngineException(
            ErrorCode.INVALID_DATETIME_FORMAT,
            "invalid input syntax for type " + type + ": \"" + TextInput.shown(text) + "\"")
        .withHint(HINT);
  }

  private EngineException outOfRange() {
    return new EngineException(
        ErrorCode.DATETIME_OVERFLOW,
        "date/time field value out of range: \"" + TextInput.shown(text) + "\"");
  }

  private EngineException outOfRange(ArithmeticException cause) {
    return new EngineException(
        ErrorCode.DATETIME_OVERFLOW, String.valueOf(outOfRange().getMessage()), cause);
  }
}
