package dev.kakehashi.valuetext.time;

import dev.kakehashi.valuetext.ValueErrors;
import org.jspecify.annotations.Nullable;

/// Input of intervals as ISO 8601 writes them, as PostgreSQL's `DecodeISO8601Interval()`: "P1Y2M3W4DT5H6M7.8S" with designators, and the
/// alternative forms "P0001-02-03T04:05:06" and "P00010203T040506".
final class IsoIntervalParser {
  private static final double MAX_NUMBER = 1e15;

  private final String text;
  private final IntervalSpan span = new IntervalSpan();
  private int at = 1;

  /// The number read last.
  private long value;

  private double fraction;

  /// Its digits before a point or an exponent.
  private int width;

  private IsoIntervalParser(String text) {
    this.text = text;
  }

  /// @param text begins with `P`
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_DATETIME_FORMAT
  /// @throws IntervalSpan.FieldOverflow if a field is too large
  static IntervalSpan parse(String text) {
    IsoIntervalParser parser = new IsoIntervalParser(text);
    if (text.length() < 2) {
      throw parser.invalid();
    }
    parser.read();
    return parser.span;
  }

  private RuntimeException invalid() {
    return ValueErrors.invalidDateTime("interval", text);
  }

  private boolean atEnd() {
    return at == text.length();
  }

  /// The character here, or NUL at the end.
  private char peek() {
    return atEnd() ? 0 : text.charAt(at);
  }

  private void read() {
    boolean date = true;
    boolean designated = false;
    while (!atEnd()) {
      if (peek() == 'T') {
        at++;
        date = false;
        designated = false;
        continue;
      }
      number();
      TimeUnit unit = date ? dateDesignator(peek()) : timeDesignator(peek());
      if (unit != null) {
        at++;
        span.add(unit, value, fraction);
        designated = true;
      } else if (designated
          || !(atEnd() || peek() == (date ? '-' : ':') || (date && peek() == 'T'))) {
        throw invalid();
      } else if (date) {
        dateFields();
      } else {
        timeFields();
      }
    }
  }

  private static @Nullable TimeUnit dateDesignator(char c) {
    return switch (c) {
      case 'Y' -> TimeUnit.YEAR;
      case 'M' -> TimeUnit.MONTH;
      case 'W' -> TimeUnit.WEEK;
      case 'D' -> TimeUnit.DAY;
      default -> null;
    };
  }

  private static @Nullable TimeUnit timeDesignator(char c) {
    return switch (c) {
      case 'H' -> TimeUnit.HOUR;
      case 'M' -> TimeUnit.MINUTE;
      case 'S' -> TimeUnit.SECOND;
      default -> null;
    };
  }

  /// `yyyymmdd` or `yyyy-mm-dd`, of which the first number was read.
  private void dateFields() {
    if (width == 8 && (atEnd() || peek() == 'T')) {
      span.add(TimeUnit.YEAR, value / 10_000, 0);
      span.add(TimeUnit.MONTH, value / 100 % 100, 0);
      span.add(TimeUnit.DAY, value % 100, fraction);
      return;
    }
    span.add(TimeUnit.YEAR, value, fraction);
    for (TimeUnit unit : new TimeUnit[] {TimeUnit.MONTH, TimeUnit.DAY}) {
      if (atEnd() || peek() == 'T') {
        return;
      }
      next('-');
      span.add(unit, value, fraction);
    }
    if (!atEnd() && peek() != 'T') {
      throw invalid();
    }
  }

  /// `hhmmss` or `hh:mm:ss`, of which the first number was read. Nothing follows.
  private void timeFields() {
    if (width == 6 && atEnd()) {
      span.add(TimeUnit.HOUR, value / 10_000, 0);
      span.add(TimeUnit.MINUTE, value / 100 % 100, 0);
      span.add(TimeUnit.SECOND, value % 100, 0);
      // Taken as microseconds, as PostgreSQL does.
      span.add(TimeUnit.MICROSECONDS, 0, fraction);
      return;
    }
    span.add(TimeUnit.HOUR, value, fraction);
    for (TimeUnit unit : new TimeUnit[] {TimeUnit.MINUTE, TimeUnit.SECOND}) {
      if (atEnd()) {
        return;
      }
      next(':');
      span.add(unit, value, fraction);
    }
    if (!atEnd()) {
      throw invalid();
    }
  }

  private void next(char delimiter) {
    if (peek() != delimiter) {
      throw invalid();
    }
    at++;
    number();
  }

  /// `-12.5e3`
  private void number() {
    int start = at;
    if (peek() == '-') {
      at++;
    }
    width = digits();
    int count = width;
    if (peek() == '.') {
      at++;
      count += digits();
    }
    if (count == 0) {
      throw invalid();
    }
    exponent();
    double number = Double.parseDouble(text.substring(start, at));
    if (Math.abs(number) > MAX_NUMBER) {
      throw new IntervalSpan.FieldOverflow();
    }
    value = (long) number;
    fraction = number - value;
  }

  private void exponent() {
    if (peek() != 'e' && peek() != 'E') {
      return;
    }
    int before = at++;
    if (peek() == '-' || peek() == '+') {
      at++;
    }
    if (digits() == 0) {
      at = before;
    }
  }

  private int digits() {
    int start = at;
    at = DateTimeTokens.endOfDigits(text, at);
    return at - start;
  }
}
