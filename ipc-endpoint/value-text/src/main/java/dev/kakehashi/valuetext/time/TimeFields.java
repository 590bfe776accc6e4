package dev.kakehashi.valuetext.time;

import dev.kakehashi.valuetext.ValueErrors;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The fields of a date and a time while their text is read, as PostgreSQL's `pg_tm` and the mask of fields beside it. Months come before
/// days in a date of numbers alone that does not begin with its year.
final class TimeFields {
  static final int YEAR = 1;
  static final int MONTH = 1 << 1;
  static final int DAY = 1 << 2;
  static final int DATE = YEAR | MONTH | DAY;
  static final int DAY_OF_YEAR = 1 << 3;
  static final int HOUR = 1 << 4;
  static final int MINUTE = 1 << 5;
  static final int SECOND = 1 << 6;
  static final int TIME = HOUR | MINUTE | SECOND;
  static final int ZONE = 1 << 7;
  static final int SUMMER = 1 << 8;
  static final int HALF_OF_DAY = 1 << 9;
  static final int ERA = 1 << 10;
  static final int DAY_OF_WEEK = 1 << 11;

  /// A word that is a value: "epoch", "infinity".
  static final int SPECIAL = 1 << 12;

  private static final int MONTHS_PER_YEAR = 12;
  private static final int MAX_DAY_OF_YEAR = 366;
  private static final int FIRST_YEAR_OF_TWO_DIGITS = 70;

  private final String type;
  private final String text;

  /// Which fields were read.
  private int seen;

  private long year;
  private int month = 1;
  private int day = 1;
  private int dayOfYear;
  private long hour;
  private long minute;
  private long second;
  private long micros;

  /// Whether the year was written with one or two digits.
  private boolean shortYear;

  private boolean julian;
  private boolean monthInLetters;
  private boolean beforeChrist;

  /// "am" or "pm"; null: the day has 24 hours.
  private DateTimeWord.@Nullable Kind halfOfDay;

  /// @param type as errors name it
  TimeFields(String type, String text) {
    this.type = type;
    this.text = text;
  }

  /// 22007
  RuntimeException invalid() {
    return ValueErrors.invalidDateTime(type, text);
  }

  /// 22008
  RuntimeException outOfRange() {
    return ValueErrors.fieldOutOfRange(text);
  }

  boolean has(int fields) {
    return (seen & fields) == fields;
  }

  boolean hasAny(int fields) {
    return (seen & fields) != 0;
  }

  /// Says that fields were read, each of which may be there once.
  void see(int fields) {
    if (hasAny(fields)) {
      throw invalid();
    }
    seen |= fields;
  }

  void setDays(long days) {
    long civil = Calendars.civil(days);
    year = Calendars.year(civil);
    month = Calendars.month(civil);
    day = Calendars.day(civil);
  }

  void setJulian(long julianDay) {
    setDays(julianDay - Calendars.EPOCH_JULIAN);
    julian = true;
  }

  /// @param time microseconds since midnight
  void setTime(long time) {
    hour = time / Calendars.MICROS_PER_HOUR;
    minute = time / Calendars.MICROS_PER_MINUTE % 60;
    second = time / Calendars.MICROS_PER_SECOND % 60;
    micros = time % Calendars.MICROS_PER_SECOND;
  }

  void setHalfOfDay(DateTimeWord.Kind half) {
    see(HALF_OF_DAY);
    halfOfDay = half;
  }

  void setEra(boolean bc) {
    see(ERA);
    beforeChrist = bc;
  }

  /// A month in letters: a number that was taken for it is the day.
  void setMonth(int number) {
    if (has(MONTH) && !monthInLetters && !has(DAY) && month >= 1 && month <= 31) {
      day = month;
      see(DAY);
    } else {
      see(MONTH);
    }
    monthInLetters = true;
    month = number;
  }

  /// Numbers and letters with separators, as `DecodeDate()`.
  void date(String date) {
    List<String> parts = parts(date);
    boolean letters = false;
    for (String part : parts) {
      DateTimeWord word = DateTimeTokens.isDigit(part.charAt(0)) ? null : DateTimeWord.find(part);
      if (word != null && word.kind() == DateTimeWord.Kind.MONTH) {
        see(MONTH);
        month = word.value();
        letters = true;
      } else if (!DateTimeTokens.isDigit(part.charAt(0))
          && (word == null || word.kind() != DateTimeWord.Kind.NOTHING)) {
        throw invalid();
      }
    }
    for (String part : parts) {
      if (DateTimeTokens.isDigit(part.charAt(0))) {
        number(part, letters, 0);
      }
    }
    if ((seen & ~(DAY_OF_YEAR | ZONE)) != DATE) {
      throw invalid();
    }
  }

  private List<String> parts(String date) {
    List<String> parts = new ArrayList<>();
    int at = 0;
    while (at < date.length()) {
      while (at < date.length() && !Character.isLetterOrDigit(date.charAt(at))) {
        at++;
      }
      if (at == date.length()) {
        throw invalid();
      }
      int start = at;
      boolean digits = DateTimeTokens.isDigit(date.charAt(at));
      while (at < date.length()
          && Character.isLetterOrDigit(date.charAt(at))
          && DateTimeTokens.isDigit(date.charAt(at)) == digits) {
        at++;
      }
      parts.add(date.substring(start, at));
      // One character is taken for the separator, whatever it is, as in PostgreSQL.
      at++;
    }
    return parts;
  }

  void number(String number) {
    number(number, monthInLetters, 0);
  }

  /// A number whose meaning depends on what was read before, as `DecodeNumber()`.
  ///
  /// @param assumed fields to take for read
  void number(String number, boolean letters, int assumed) {
    int point = number.indexOf('.');
    if (point > 2) {
      numberField(number, assumed | DATE);
      return;
    }
    int value = integer(point < 0 ? number : number.substring(0, point));
    if (point >= 0) {
      micros = fraction(number.substring(point));
    }
    int date = (seen | assumed) & DATE;
    if (number.length() == 3 && date == YEAR && value >= 1 && value <= MAX_DAY_OF_YEAR) {
      see(DAY_OF_YEAR | MONTH | DAY);
      dayOfYear = value;
      return;
    }
    boolean isLong = number.length() >= 3;
    switch (date) {
      case 0 -> {
        if (isLong) {
          setYear(value, number);
        } else {
          see(MONTH);
          month = value;
        }
      }
      case YEAR, DAY -> {
        see(MONTH);
        month = value;
      }
      case MONTH -> {
        if (letters && isLong) {
          setYear(value, number);
        } else {
          see(DAY);
          day = value;
        }
      }
      case YEAR | MONTH -> {
        see(DAY);
        if (letters && isLong && shortYear) {
          // The number before was the day.
          day = (int) year;
          year = value;
          shortYear = false;
        } else {
          day = value;
        }
      }
      case MONTH | DAY -> setYear(value, number);
      case DATE -> numberField(number, assumed);
      default -> throw invalid();
    }
  }

  private void setYear(int value, String number) {
    see(YEAR);
    year = value;
    shortYear = number.length() <= 2;
  }

  /// A date or a time without separators, `yyyymmdd`, `hhmmss.f`, `hhmm`, as `DecodeNumberField()`.
  ///
  /// @param assumed fields to take for read
  void numberField(String number, int assumed) {
    int point = number.indexOf('.');
    String digits = point < 0 ? number : number.substring(0, point);
    int length = digits.length();
    if (point >= 0) {
      micros = fraction(number.substring(point));
    } else if (((seen | assumed) & DATE) != DATE && length >= 6) {
      see(DATE);
      day = integer(digits.substring(length - 2));
      month = integer(digits.substring(length - 4, length - 2));
      year = integer(digits.substring(0, length - 4));
      shortYear = length == 6;
      return;
    }
    if (((seen | assumed) & TIME) == TIME || (length != 4 && length != 6)) {
      throw invalid();
    }
    see(TIME);
    hour = integer(digits.substring(0, 2));
    minute = integer(digits.substring(2, 4));
    second = length == 6 ? integer(digits.substring(4)) : 0;
  }

  /// `hh:mm`, `hh:mm:ss.f` or `mm:ss.f`; the caller says that it was read.
  void clock(String clock) {
    int colon = clock.indexOf(':');
    int end = DateTimeTokens.endOfDigits(clock, colon + 1);
    hour = integer(clock.substring(0, colon));
    minute = integer(clock.substring(colon + 1, end));
    second = 0;
    micros = 0;
    if (end < clock.length() && clock.charAt(end) == ':') {
      int start = end + 1;
      end = DateTimeTokens.endOfDigits(clock, start);
      second = integer(clock.substring(start, end));
      micros = fraction(clock.substring(end));
    } else if (end < clock.length()) {
      micros = fraction(clock.substring(end));
      second = minute;
      minute = hour;
      hour = 0;
    }
    if (minute > 59 || second > 60) {
      throw outOfRange();
    }
  }

  /// No digits are 0.
  int integer(String digits) {
    long value = 0;
    for (int i = 0; i < digits.length() && value <= Integer.MAX_VALUE; i++) {
      if (!DateTimeTokens.isDigit(digits.charAt(i))) {
        throw invalid();
      }
      value = value * 10 + digits.charAt(i) - '0';
    }
    if (value > Integer.MAX_VALUE) {
      throw outOfRange();
    }
    return (int) value;
  }

  /// Microseconds of what begins with a point, or is empty.
  private long fraction(String digits) {
    double fraction = DateTimeTokens.fraction(digits);
    if (fraction < 0) {
      throw invalid();
    }
    return (long) Math.rint(fraction * Calendars.MICROS_PER_SECOND);
  }

  /// Checks and completes what was read, as `ValidateDate()`, and applies "am" and "pm".
  void complete() {
    if (has(YEAR) && !julian) {
      completeYear();
    }
    if (has(DAY_OF_YEAR)) {
      setDays(Calendars.days(year, 1, 1) + dayOfYear - 1);
    }
    if (has(MONTH) && (month < 1 || month > MONTHS_PER_YEAR)) {
      throw outOfRange();
    }
    if (has(DAY) && (day < 1 || day > 31)) {
      throw outOfRange();
    }
    if (has(DATE) && day > Calendars.daysInMonth(year, month)) {
      throw outOfRange();
    }
    if (halfOfDay != null) {
      if (hour > 12) {
        throw outOfRange();
      }
      hour = hour % 12 + (halfOfDay == DateTimeWord.Kind.PM ? 12 : 0);
    }
  }

  private void completeYear() {
    if (beforeChrist) {
      if (year <= 0) {
        throw outOfRange();
      }
      year = 1 - year;
    } else if (shortYear) {
      year += year < FIRST_YEAR_OF_TWO_DIGITS ? 2000 : year < 100 ? 1900 : 0;
    } else if (year <= 0) {
      throw outOfRange();
    }
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException DATETIME_OVERFLOW if it is later than 24:00
  void checkTime() {
    if (hour > 24
        || minute > 59
        || second > 60
        || micros > Calendars.MICROS_PER_SECOND
        || time() > Calendars.MICROS_PER_DAY) {
      throw outOfRange();
    }
  }

  /// Microseconds since midnight.
  long time() {
    return hour * Calendars.MICROS_PER_HOUR
        + minute * Calendars.MICROS_PER_MINUTE
        + second * Calendars.MICROS_PER_SECOND
        + micros;
  }

  /// Whether there is a day of that name that can be counted.
  boolean isDay() {
    return Calendars.isValidJulian(year, month);
  }

  /// Days since 2000-01-01.
  long days() {
    return Calendars.days(year, month, day);
  }
}
