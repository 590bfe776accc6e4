package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.Calendars;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// to_date() and to_timestamp(): a text read by a template, with PostgreSQL's leniency.
///
/// Patterns of to_char() for ISO weeks, quarters of a year in Roman letters, centuries and time zones are refused.
final class DateTimeFromChar {
  private static final Set<String> WORDS =
      Set.of(
          "A.M.", "P.M.", "AM", "PM", "A.D.", "B.C.", "AD", "BC", "MONTH", "MON", "DAY", "DY", "TZ",
          "OF", "RM", "FX");
  private static final long MAX_INT = Integer.MAX_VALUE;

  private final String text;
  private final List<DateTimeTemplate.Node> nodes;
  private int at;

  /// Blanks and separators of the text that the template did not ask for.
  private int extra;

  private boolean exact;

  private int year;
  private int month;
  private int day;
  private int dayOfYear;
  private int julian;
  private int hour;
  private int minute;
  private int second;
  private int secondOfDay;
  private int millis;
  private int micros;
  private boolean twelveHours;
  private int afternoon;
  private int beforeChrist;

  private DateTimeFromChar(String text, DateTimeTemplate template) {
    this.text = text;
    this.nodes = template.nodes();
  }

  /// Days since 2000-01-01.
  static long date(String text, String template) {
    DateTimeFromChar reader = new DateTimeFromChar(text, DateTimeTemplate.of(template));
    reader.read();
    return Calendars.checkedDate(reader.days());
  }

  /// Microseconds since 2000-01-01 00:00, without a zone.
  static long timestamp(String text, String template) {
    DateTimeFromChar reader = new DateTimeFromChar(text, DateTimeTemplate.of(template));
    reader.read();
    long days = reader.days();
    if (Math.abs(days) >= Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY) {
      throw ValueErrors.dateTimeOutOfRange("timestamp");
    }
    return Calendars.checkedTimestamp(days * Calendars.MICROS_PER_DAY + reader.time());
  }

  private void read() {
    for (int i = 0; i < nodes.size() && at < text.length(); i++) {
      DateTimeTemplate.Node node = nodes.get(i);
      if (!exact && (node.pattern() || i == 0)) {
        extra += skipBlanks();
      }
      if (!node.pattern()) {
        if (node.separates()) {
          separator();
        } else {
          character();
        }
        continue;
      }
      pattern(i, node);
      if (!exact) {
        extra = skipBlanks();
      }
    }
  }

  private int skipBlanks() {
    int start = at;
    while (at < text.length() && Spaces.isSpace(text.charAt(at))) {
      at++;
    }
    return at - start;
  }

  private void separator() {
    if (exact) {
      step();
      return;
    }
    extra--;
    if (at < text.length() && DateTimeTemplate.isSeparator(text.charAt(at))) {
      at++;
      extra++;
    }
  }

  private void character() {
    if (!exact && extra > 0) {
      extra--;
    } else {
      step();
    }
  }

  private void step() {
    if (at < text.length()) {
      at = text.offsetByCodePoints(at, 1);
    }
  }

  private void pattern(int index, DateTimeTemplate.Node node) {
    switch (node.text().toUpperCase(Locale.ROOT)) {
      case "FX" -> exact = true;
      case "YYYY" -> year = set(year, number(index, 4), node);
      case "YYY", "YY", "Y" -> {
        int start = at;
        int value = number(index, node.text().length());
        year = set(year, at - start < 4 ? near2020(value) : value, node);
      }
      case "MM" -> month = set(month, number(index, 2), node);
      case "MONTH" -> month = set(month, name(DateTimeToChar.MONTHS, 0, node) + 1, node);
      case "MON" -> month = set(month, name(DateTimeToChar.MONTHS, 3, node) + 1, node);
      case "DAY" -> name(DateTimeToChar.DAYS, 0, node);
      case "DY" -> name(DateTimeToChar.DAYS, 3, node);
      case "D", "Q" -> number(index, 1);
      case "DD" -> day = set(day, number(index, 2), node);
      case "DDD" -> dayOfYear = set(dayOfYear, number(index, 3), node);
      case "J" -> julian = set(julian, number(index, 1), node);
      case "HH24" -> hour = set(hour, number(index, 2), node);
      case "HH", "HH12" -> {
        hour = set(hour, number(index, 2), node);
        twelveHours = true;
      }
      case "MI" -> minute = set(minute, number(index, 2), node);
      case "SS" -> second = set(second, number(index, 2), node);
      case "SSSS", "SSSSS" ->
          secondOfDay = set(secondOfDay, number(index, node.text().length()), node);
      case "MS" -> millis = fraction(index, 3, 3, millis, node);
      case "US" -> micros = fraction(index, 6, 6, micros, node);
      case "FF1", "FF2", "FF3", "FF4", "FF5", "FF6" ->
          micros = fraction(index, node.text().charAt(2) - '0', 6, micros, node);
      case "AM", "PM" -> afternoon = half(List.of("AM", "PM"), node);
      case "A.M.", "P.M." -> afternoon = half(List.of("A.M.", "P.M."), node);
      case "AD", "BC" -> beforeChrist = set(beforeChrist, name(List.of("AD", "BC"), 0, node), node);
      case "A.D.", "B.C." ->
          beforeChrist = set(beforeChrist, name(List.of("A.D.", "B.C."), 0, node), node);
      default ->
          throw SqlErrors.notSupported(
              "formatting field \"" + node.text() + "\" is only supported in to_char");
    }
    if (node.ordinal() != 0) {
      step();
      step();
    }
  }

  private int half(List<String> names, DateTimeTemplate.Node node) {
    twelveHours = true;
    return set(afternoon, name(names, 0, node), node);
  }

  private int fraction(int index, int length, int digits, int before, DateTimeTemplate.Node node) {
    int start = at;
    int value = number(index, length);
    for (int read = at - start; read < digits; read++) {
      value *= 10;
    }
    return set(before, value, node);
  }

  /// Reads a number: of all digits if what follows in the template is none, else of so many characters.
  private int number(int index, int length) {
    DateTimeTemplate.Node node = nodes.get(index);
    int start = at;
    skipBlanks();
    int begin = at;
    boolean whole = !node.fill() || endsNumber(index);
    if (!whole && text.length() - begin < length) {
      throw invalid("source string too short for \"" + node.text() + "\" formatting field");
    }
    int limit = whole ? text.length() : begin + length;
    int end = begin;
    if (end < limit && (text.charAt(end) == '-' || text.charAt(end) == '+')) {
      end++;
    }
    int digits = end;
    while (end < limit && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
      end++;
    }
    if (end == digits) {
      end = begin;
    }
    if (!whole && end > begin && end < limit) {
      throw invalidValue(text.substring(begin, limit), node);
    }
    if (end == begin) {
      at = start;
      throw invalidValue(text.substring(begin, Math.min(text.length(), begin + length)), node);
    }
    long value = 0;
    for (int i = digits; i < end && value <= MAX_INT; i++) {
      value = value * 10 + text.charAt(i) - '0';
    }
    if (value > MAX_INT) {
      throw ValueErrors.datetimeOverflow(
          "value for \"" + node.text() + "\" in source string is out of range");
    }
    at = end;
    return (int) (text.charAt(begin) == '-' ? -value : value);
  }

  private boolean endsNumber(int index) {
    if (nodes.get(index).ordinal() != 0 || index + 1 == nodes.size()) {
      return true;
    }
    DateTimeTemplate.Node next = nodes.get(index + 1);
    return next.pattern()
        ? WORDS.contains(next.text().toUpperCase(Locale.ROOT))
        : next.text().charAt(0) < '0' || next.text().charAt(0) > '9';
  }

  /// @param length of abbreviations; 0: whole names
  private int name(List<String> names, int length, DateTimeTemplate.Node node) {
    for (int i = 0; i < names.size(); i++) {
      String name = length == 0 ? names.get(i) : names.get(i).substring(0, length);
      if (text.regionMatches(true, at, name, 0, name.length())) {
        at += name.length();
        return i;
      }
    }
    throw invalidValue(text.substring(at), node);
  }

  private static int set(int before, int value, DateTimeTemplate.Node node) {
    if (before != 0 && before != value) {
      throw invalid("conflicting values for \"" + node.text() + "\" field in formatting string");
    }
    return value;
  }

  private static int near2020(int year) {
    if (year < 70) {
      return year + 2000;
    }
    return year < 100 ? year + 1900 : year < 520 ? year + 2000 : year < 1000 ? year + 1000 : year;
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_DATETIME_FORMAT, message);
  }

  private static EngineException invalidValue(String value, DateTimeTemplate.Node node) {
    return invalid("invalid value \"" + value + "\" for \"" + node.text() + "\"");
  }

  /// Days since 2000-01-01 of the fields that were read; a field that was not given is that of the first of January of 1 BC.
  private long days() {
    long y = beforeChrist != 0 ? -(long) year : year;
    y = y < 0 ? y + 1 : y;
    int m = month == 0 ? 1 : month;
    int d = day == 0 ? 1 : day;
    if (julian != 0) {
      return (long) julian - Calendars.EPOCH_JULIAN;
    }
    if (dayOfYear != 0 && (m <= 1 || d <= 1)) {
      if (y == 0 && beforeChrist == 0) {
        throw invalid("cannot calculate day of year without year information");
      }
      if (month == 0 && day == 0) {
        if (dayOfYear < 1 || dayOfYear > (Calendars.isLeap(y) ? 366 : 365)) {
          throw ValueErrors.fieldOutOfRange(text);
        }
        return checked(y, 1) + dayOfYear - 1;
      }
      throw SqlErrors.notSupported("a day of the year together with a month or day");
    }
    boolean wrongMonth = month != 0 && (month < 1 || month > 12);
    boolean wrongDay = day != 0 && (day < 1 || day > 31);
    if (wrongMonth
        || wrongDay
        || (year != 0 && month != 0 && day != 0 && d > Calendars.daysInMonth(y, m))) {
      throw ValueErrors.fieldOutOfRange(text);
    }
    return checked(y, m) + d - 1;
  }

  /// The first day of a month.
  private static long checked(long year, int month) {
    if (!Calendars.isValidJulian(year, month)) {
      throw ValueErrors.dateTimeOutOfRange("date");
    }
    return Calendars.days(year, month, 1);
  }

  private long time() {
    int h = secondOfDay / 3600;
    int m = secondOfDay % 3600 / 60;
    int s = secondOfDay % 60;
    h = hour != 0 ? hour : h;
    m = minute != 0 ? minute : m;
    s = second != 0 ? second : s;
    if (twelveHours) {
      if (h < 1 || h > 12) {
        throw invalid("hour \"" + h + "\" is invalid for the 12-hour clock")
            .withHint("Use the 24-hour clock, or give an hour between 1 and 12.");
      }
      h = h % 12 + (afternoon != 0 ? 12 : 0);
    }
    long fraction = millis * 1000L + micros;
    if (h < 0
        || h > 23
        || m < 0
        || m > 59
        || s < 0
        || s > 59
        || fraction < 0
        || fraction >= Calendars.MICROS_PER_SECOND) {
      throw ValueErrors.fieldOutOfRange(text);
    }
    return h * Calendars.MICROS_PER_HOUR
        + m * Calendars.MICROS_PER_MINUTE
        + s * Calendars.MICROS_PER_SECOND
        + fraction;
  }
}
