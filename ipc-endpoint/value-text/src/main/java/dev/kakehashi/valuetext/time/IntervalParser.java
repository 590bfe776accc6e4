package dev.kakehashi.valuetext.time;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.DateTimeTokens.Token;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Input of intervals, as PostgreSQL's `DecodeInterval()`: "1 year 2 mons -3 days 04:05:06.7", "@ 1 hour ago", the standard's "1-2 3
/// 4:05:06"; and those of ISO 8601, see [IsoIntervalParser].
public final class IntervalParser {
  private static final int MONTHS_PER_YEAR = 12;

  private static final Set<TimeUnit> CLOCK =
      EnumSet.of(
          TimeUnit.HOUR,
          TimeUnit.MINUTE,
          TimeUnit.SECOND,
          TimeUnit.MILLISECONDS,
          TimeUnit.MICROSECONDS);

  private static final Set<TimeUnit> ALL_SECONDS =
      EnumSet.of(TimeUnit.SECOND, TimeUnit.MILLISECONDS, TimeUnit.MICROSECONDS);

  /// Units that a word may name; the last four no interval has.
  private static final Set<TimeUnit> UNITS =
      EnumSet.of(
          TimeUnit.MICROSECONDS,
          TimeUnit.MILLISECONDS,
          TimeUnit.SECOND,
          TimeUnit.MINUTE,
          TimeUnit.HOUR,
          TimeUnit.DAY,
          TimeUnit.WEEK,
          TimeUnit.MONTH,
          TimeUnit.YEAR,
          TimeUnit.DECADE,
          TimeUnit.CENTURY,
          TimeUnit.MILLENNIUM,
          TimeUnit.QUARTER,
          TimeUnit.TIME_ZONE,
          TimeUnit.TIME_ZONE_HOUR,
          TimeUnit.TIME_ZONE_MINUTE);

  /// No number stands alone before "ago": a unit that no interval has.
  private static final TimeUnit NONE = TimeUnit.EPOCH;

  private final String text;
  private final IntervalFields range;
  private final IntervalSpan span = new IntervalSpan();

  /// Fields that were read; each may be there once.
  private final Set<TimeUnit> seen = EnumSet.noneOf(TimeUnit.class);

  /// The unit of the next number to the left. The leftmost of several units counts.
  private @Nullable TimeUnit unit;

  private boolean ago;

  private IntervalParser(String text, IntervalFields range) {
    this.text = text;
    this.range = range;
  }

  /// @param range which fields a text without units has
  /// @throws EngineException INVALID_DATETIME_FORMAT, INTERVAL_FIELD_OVERFLOW or DATETIME_OVERFLOW
  public static PgInterval parse(String text, IntervalFields range) {
    IntervalSpan span;
    try {
      span = read(text, range);
    } catch (IntervalSpan.FieldOverflow e) {
      throw ValueErrors.intervalFieldOverflow(text, e);
    }
    int months;
    try {
      months = span.months();
    } catch (IntervalSpan.FieldOverflow e) {
      throw ValueErrors.datetimeOverflow("interval out of range");
    }
    return new PgInterval(months, span.days(), span.micros());
  }

  private static IntervalSpan read(String text, IntervalFields range) {
    if (text.startsWith("P")) {
      try {
        return IsoIntervalParser.parse(text);
      } catch (EngineException malformed) {
        // The other form takes no text that begins so, but may say more of what is wrong, as in
        // PostgreSQL.
        return new IntervalParser(text, range).read();
      }
    }
    return new IntervalParser(text, range).read();
  }

  private RuntimeException invalid() {
    return ValueErrors.invalidDateTime("interval", text);
  }

  private IntervalSpan read() {
    List<Token> tokens = DateTimeTokens.split(text);
    if (tokens == null) {
      throw invalid();
    }
    // From the end, so that a unit is read before its number.
    for (Token token : tokens.reversed()) {
      switch (token.kind()) {
        case TIME -> {
          span.setMicros(clock(token.text()));
          unit = TimeUnit.DAY;
        }
        case SIGNED_NUMBER -> signedNumber(token.text());
        case NUMBER, DATE -> number(token.text());
        case WORD, SIGNED_WORD -> word(token.text());
      }
    }
    if (seen.isEmpty()) {
      throw invalid();
    }
    if (ago) {
      span.negate();
    }
    return span;
  }

  private void see(Set<TimeUnit> units) {
    for (TimeUnit each : units) {
      if (!seen.add(each)) {
        throw invalid();
      }
    }
  }

  private void word(String word) {
    if (word.equals("ago")) {
      ago = true;
      unit = NONE;
      return;
    }
    TimeUnit found = TimeUnit.find(word);
    if (found == null || !UNITS.contains(found)) {
      throw invalid();
    }
    unit = found;
  }

  private void signedNumber(String signed) {
    if (signed.indexOf(':') < 0) {
      number(signed);
      return;
    }
    long micros;
    try {
      micros = clock(signed.substring(1));
    } catch (EngineException | IntervalSpan.FieldOverflow notAClock) {
      // No number either: that says what is wrong with it.
      number(signed);
      throw invalid();
    }
    span.setMicros(signed.charAt(0) == '-' ? -micros : micros);
    unit = TimeUnit.DAY;
  }

  /// `h:mm`, `h:mm:ss.f`, `mm:ss.f`, in microseconds.
  private long clock(String clock) {
    int colon = DateTimeTokens.endOfDigits(clock, 0);
    long hours = integer(clock.substring(0, colon));
    if (colon == clock.length() || clock.charAt(colon) != ':') {
      throw invalid();
    }
    int end = DateTimeTokens.endOfDigits(clock, colon + 1);
    long minutes = smallInteger(clock.substring(colon + 1, end));
    long seconds = 0;
    double fraction = 0;
    char next = end == clock.length() ? 0 : clock.charAt(end);
    if (next == ':') {
      int start = end + 1;
      end = DateTimeTokens.endOfDigits(clock, start);
      seconds = smallInteger(clock.substring(start, end));
      fraction = fraction(clock.substring(end));
    } else {
      fraction = fraction(clock.substring(end));
      // Two numbers are minutes and seconds if they have a fraction, or if the type says so.
      if (next == '.' || range == IntervalFields.MINUTE_TO_SECOND) {
        seconds = minutes;
        minutes = hours;
        hours = 0;
      }
    }
    if (minutes > 59 || seconds > 60) {
      throw new IntervalSpan.FieldOverflow();
    }
    long micros = IntervalSpan.product(hours, Calendars.MICROS_PER_HOUR);
    long rest =
        minutes * Calendars.MICROS_PER_MINUTE
            + seconds * Calendars.MICROS_PER_SECOND
            + (long) Math.rint(fraction * Calendars.MICROS_PER_SECOND);
    if (micros > Long.MAX_VALUE - rest) {
      throw new IntervalSpan.FieldOverflow();
    }
    see(CLOCK);
    return micros + rest;
  }

  private void number(String number) {
    boolean negative = number.startsWith("-");
    int start = negative || number.startsWith("+") ? 1 : 0;
    int end = DateTimeTokens.endOfDigits(number, start);
    long value = integer(number.substring(start, end));
    double fraction = 0;
    TimeUnit its = unit == null ? range.lastUnit() : unit;
    if (end < number.length() && number.charAt(end) == '-') {
      value = yearsAndMonths(value, number, end + 1);
      its = TimeUnit.MONTH;
    } else if (end < number.length()) {
      fraction = fraction(number.substring(end));
    }
    if (!span.add(its, negative ? -value : value, negative ? -fraction : fraction)) {
      throw invalid();
    }
    see(its == TimeUnit.SECOND && fraction != 0 ? ALL_SECONDS : EnumSet.of(its));
    // A number left of hours is days, also without saying so.
    unit = its == TimeUnit.HOUR ? TimeUnit.DAY : its;
  }

  /// The standard's `years-months`.
  private long yearsAndMonths(long years, String number, int start) {
    int end = DateTimeTokens.endOfDigits(number, start);
    long value = integer(number.substring(start, end));
    if (value >= MONTHS_PER_YEAR) {
      throw new IntervalSpan.FieldOverflow();
    }
    if (end < number.length()) {
      throw invalid();
    }
    return IntervalSpan.product(years, MONTHS_PER_YEAR) + value;
  }

  /// No digits are 0.
  private static long integer(String digits) {
    try {
      return digits.isEmpty() ? 0 : Long.parseLong(digits);
    } catch (NumberFormatException e) {
      IntervalSpan.FieldOverflow overflow = new IntervalSpan.FieldOverflow();
      overflow.initCause(e);
      throw overflow;
    }
  }

  private static long smallInteger(String digits) {
    long value = integer(digits);
    if (value > Integer.MAX_VALUE) {
      throw new IntervalSpan.FieldOverflow();
    }
    return value;
  }

  /// Fraction of a text that begins with a point, or is empty.
  private double fraction(String digits) {
    double fraction = DateTimeTokens.fraction(digits);
    if (fraction < 0) {
      throw invalid();
    }
    return fraction;
  }
}
