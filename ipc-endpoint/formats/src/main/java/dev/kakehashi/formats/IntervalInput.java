package dev.kakehashi.formats;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.valuetext.time.Calendars;

/// Reads intervals as PostgreSQL writes them, "1 year 2 mons -3 days +04:05:06.7", and of ISO 8601, "P1Y2M-3DT4H5M6.7S". Fractions are for
/// seconds alone.
public final class IntervalInput {
  private static final String HINT =
      "Write it as \"1 year 2 mons 3 days 04:05:06.7\" or \"P1Y2M3DT4H5M6.7S\", or send it as text and cast it in the statement.";
  private static final int MONTHS_PER_YEAR = 12;
  private static final int DAYS_PER_WEEK = 7;
  private static final int MAX_DIGITS = 18;

  private final String text;
  private int at;
  private long months;
  private long days;
  private long micros;

  /// The number read last, and its millionths.
  private long whole;

  private long millionths;
  private boolean hasFraction;
  private boolean negative;

  private IntervalInput(String text) {
    this.text = text;
  }

  /// @throws EngineException INVALID_DATETIME_FORMAT, INTERVAL_FIELD_OVERFLOW
  public static PgInterval parse(String text) {
    IntervalInput input = new IntervalInput(text);
    try {
      if (text.startsWith("P")) {
        input.iso();
      } else {
        input.words();
      }
      return new PgInterval(
          Math.toIntExact(input.months), Math.toIntExact(input.days), input.micros);
    } catch (ArithmeticException e) {
      throw new EngineException(
          ErrorCode.INTERVAL_FIELD_OVERFLOW,
          "interval field value out of range: \"" + TextInput.shown(text) + "\"",
          e);
    }
  }

  private void iso() {
    at = 1;
    boolean date = true;
    int fields = 0;
    while (at < text.length()) {
      if (date && peek() == 'T') {
        date = false;
        at++;
        if (at == text.length()) {
          throw invalid();
        }
        continue;
      }
      number();
      char unit = peek();
      at++;
      if (date) {
        switch (unit) {
          case 'Y' -> addMonths(MONTHS_PER_YEAR);
          case 'M' -> addMonths(1);
          case 'W' -> addDays(DAYS_PER_WEEK);
          case 'D' -> addDays(1);
          default -> throw invalid();
        }
      } else {
        addTime(
            switch (unit) {
              case 'H' -> Calendars.MICROS_PER_HOUR;
              case 'M' -> Calendars.MICROS_PER_MINUTE;
              case 'S' -> Calendars.MICROS_PER_SECOND;
              default -> throw invalid();
            });
      }
      fields++;
    }
    if (fields == 0) {
      throw invalid();
    }
  }

  private void words() {
    int fields = 0;
    while (at < text.length()) {
      if (fields > 0) {
        expect(' ');
      }
      number();
      if (peek() == ':') {
        clock();
      } else {
        expect(' ');
        unit();
      }
      fields++;
    }
    if (fields == 0) {
      throw invalid();
    }
  }

  private void unit() {
    int begin = at;
    while (peek() >= 'a' && peek() <= 'z') {
      at++;
    }
    switch (text.substring(begin, at)) {
      case "year", "years" -> addMonths(MONTHS_PER_YEAR);
      case "mon", "mons", "month", "months" -> addMonths(1);
      case "week", "weeks" -> addDays(DAYS_PER_WEEK);
      case "day", "days" -> addDays(1);
      case "hour", "hours" -> addTime(Calendars.MICROS_PER_HOUR);
      case "min", "mins", "minute", "minutes" -> addTime(Calendars.MICROS_PER_MINUTE);
      case "sec", "secs", "second", "seconds" -> addTime(Calendars.MICROS_PER_SECOND);
      default -> throw invalid();
    }
  }

  /// `h:mm[:ss[.f]]`, of which the hours were read.
  private void clock() {
    if (hasFraction) {
      throw invalid();
    }
    boolean minus = negative;
    long sum =
        Math.multiplyExact(whole, minus ? -Calendars.MICROS_PER_HOUR : Calendars.MICROS_PER_HOUR);
    at++;
    long minutes = digits(2);
    long rest = minutes * Calendars.MICROS_PER_MINUTE;
    long seconds = 0;
    if (peek() == ':') {
      at++;
      seconds = digits(2);
      rest += seconds * Calendars.MICROS_PER_SECOND;
      if (peek() == '.') {
        at++;
        rest += fraction();
      }
    }
    if (minutes > 59 || seconds > 60) {
      throw new ArithmeticException("minutes or seconds");
    }
    micros = Math.addExact(micros, Math.addExact(sum, minus ? -rest : rest));
  }

  private void addMonths(int each) {
    refuseFraction();
    months = Math.addExact(months, Math.multiplyExact(signed(), each));
  }

  private void addDays(int each) {
    refuseFraction();
    days = Math.addExact(days, Math.multiplyExact(signed(), each));
  }

  private void addTime(long each) {
    long fraction = 0;
    if (hasFraction) {
      if (each != Calendars.MICROS_PER_SECOND) {
        throw invalid();
      }
      fraction = negative ? -millionths : millionths;
    }
    micros = Math.addExact(micros, Math.addExact(Math.multiplyExact(signed(), each), fraction));
  }

  private long signed() {
    return negative ? -whole : whole;
  }

  private void refuseFraction() {
    if (hasFraction) {
      throw invalid();
    }
  }

  private void number() {
    negative = peek() == '-';
    if (negative || peek() == '+') {
      at++;
    }
    whole = digits(0);
    hasFraction = peek() == '.';
    millionths = 0;
    if (hasFraction) {
      at++;
      millionths = fraction();
    }
  }

  private long fraction() {
    int begin = at;
    long value = 0;
    boolean up = false;
    while (isDigit()) {
      int digit = text.charAt(at) - '0';
      int place = at - begin;
      if (place < 6) {
        value = 10 * value + digit;
      } else if (place == 6) {
        up = digit >= 5;
      }
      at++;
    }
    if (at == begin) {
      throw invalid();
    }
    for (int place = at - begin; place < 6; place++) {
      value *= 10;
    }
    return up ? value + 1 : value;
  }

  /// @param count of digits; 0: any number
  private long digits(int count) {
    int begin = at;
    long value = 0;
    while (isDigit()) {
      value = 10 * value + (text.charAt(at) - '0');
      at++;
      if (at - begin > MAX_DIGITS) {
        throw new ArithmeticException("digits");
      }
    }
    if (at == begin || (count > 0 && at - begin != count)) {
      throw invalid();
    }
    return value;
  }

  private boolean isDigit() {
    return peek() >= '0' && peek() <= '9';
  }

  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }

  private void expect(char c) {
    if (peek() != c) {
      throw invalid();
    }
    at++;
  }

  private EngineException invalid() {
    return new EngineException(
            ErrorCode.INVALID_DATETIME_FORMAT,
            "invalid input syntax for type interval: \"" + TextInput.shown(text) + "\"")
        .withHint(HINT);
  }
}
