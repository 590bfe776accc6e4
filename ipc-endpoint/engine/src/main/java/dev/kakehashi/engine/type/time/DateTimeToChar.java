package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.text.Ordinals;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.Zone;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// to_char() of timestamps and intervals, with English names.
final class DateTimeToChar {
  static final List<String> MONTHS =
      List.of(
          "January",
          "February",
          "March",
          "April",
          "May",
          "June",
          "July",
          "August",
          "September",
          "October",
          "November",
          "December");
  static final List<String> DAYS =
      List.of("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday");
  private static final List<String> ROMAN_MONTHS =
      List.of("XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III", "II", "I");
  private static final int LONGEST_NAME = 9;
  private static final int ABBREVIATION = 3;

  /// Fields of what is written. Fields of an interval may be negative, and its month is 0 to 11.
  ///
  /// @param year 0 is 1 BC
  /// @param micros of the second
  /// @param zone null for what has none
  /// @param timestamp the instant, for the zone
  private record Fields(
      boolean interval,
      @Nullable Zone zone,
      long timestamp,
      int year,
      int month,
      int day,
      long hour,
      int minute,
      int second,
      int micros,
      int dayOfYear) {
    int julian() {
      return DateTimeToChar.julian(year, month, day);
    }

    /// 0 is Sunday.
    int dayOfWeek() {
      return DateTimeToChar.dayOfWeek(julian());
    }
  }

  private final Fields fields;
  private final StringBuilder out = new StringBuilder();

  private DateTimeToChar(Fields fields) {
    this.fields = fields;
  }

  /// @param zone of a timestamp with time zone; null for one without
  static long timestamp(
      long timestamp, long template, @Nullable Zone zone, FunctionContext context) {
    if (!Calendars.isFinite(timestamp)) {
      return context.nullResult();
    }
    long local = zone == null ? timestamp : zone.clock(timestamp);
    long day = Calendars.dayOf(local);
    long civil = Calendars.civil(day);
    long time = Calendars.timeOf(local);
    int year = Calendars.year(civil);
    Fields fields =
        new Fields(
            false,
            zone,
            timestamp,
            year,
            Calendars.month(civil),
            Calendars.day(civil),
            time / Calendars.MICROS_PER_HOUR,
            (int) (time / Calendars.MICROS_PER_MINUTE % 60),
            (int) (time / Calendars.MICROS_PER_SECOND % 60),
            (int) (time % Calendars.MICROS_PER_SECOND),
            (int) (day - Calendars.days(year, 1, 1)) + 1);
    return text(fields, template, context);
  }

  static long interval(long interval, long template, FunctionContext context) {
    int months = Intervals.months(interval);
    int days = Intervals.days(interval);
    long time = Intervals.micros(interval);
    Fields fields =
        new Fields(
            true,
            null,
            0,
            months / 12,
            months % 12,
            days,
            time / Calendars.MICROS_PER_HOUR,
            (int) (time / Calendars.MICROS_PER_MINUTE % 60),
            (int) (time / Calendars.MICROS_PER_SECOND % 60),
            (int) (time % Calendars.MICROS_PER_SECOND),
            months * Calendars.DAYS_PER_MONTH + days);
    return text(fields, template, context);
  }

  private static long text(Fields fields, long template, FunctionContext context) {
    if (Varlena.length(template) == 0) {
      return context.nullResult();
    }
    DateTimeToChar writer = new DateTimeToChar(fields);
    for (DateTimeTemplate.Node node : DateTimeTemplate.of(Varlena.string(template)).nodes()) {
      if (node.pattern()) {
        writer.pattern(node);
      } else {
        writer.out.append(node.text());
      }
    }
    return Varlena.of(context.heap, writer.out.toString());
  }

  private void pattern(DateTimeTemplate.Node node) {
    int start = out.length();
    switch (node.text().toUpperCase(Locale.ROOT)) {
      case "A.M.", "P.M." -> halfDay(node, "A.M.", "P.M.");
      case "AM", "PM" -> halfDay(node, "AM", "PM");
      case "A.D.", "B.C." -> era(node, "A.D.", "B.C.");
      case "AD", "BC" -> era(node, "AD", "BC");
      case "HH", "HH12" -> signed(node, fields.hour % 12 == 0 ? 12 : fields.hour % 12, fields.hour);
      case "HH24" -> signed(node, fields.hour, fields.hour);
      case "MI" -> signed(node, fields.minute, fields.minute);
      case "SS" -> signed(node, fields.second, fields.second);
      case "FF1" -> digits(fields.micros / 100_000, 1);
      case "FF2" -> digits(fields.micros / 10_000, 2);
      case "FF3", "MS" -> digits(fields.micros / 1000, 3);
      case "FF4" -> digits(fields.micros / 100, 4);
      case "FF5" -> digits(fields.micros / 10, 5);
      case "FF6", "US" -> digits(fields.micros, 6);
      case "SSSS", "SSSSS" -> out.append(fields.hour * 3600 + fields.minute * 60L + fields.second);
      case "TZ", "TZH", "TZM", "OF" -> zone(node);
      case "MONTH" -> name(node, MONTHS, fields.month - 1, LONGEST_NAME);
      case "MON" -> name(node, MONTHS, fields.month - 1, ABBREVIATION);
      case "DAY" -> name(node, DAYS, fields.dayOfWeek(), LONGEST_NAME);
      case "DY" -> name(node, DAYS, fields.dayOfWeek(), ABBREVIATION);
      case "MM" -> signed(node, fields.month, fields.month);
      case "RM" -> romanMonth(node);
      default -> date(node);
    }
    if (node.ordinal() != 0
        && out.length() > start
        && hasOrdinal(node.text().toUpperCase(Locale.ROOT))) {
      out.append(Ordinals.ending(out.substring(start), node.ordinal() == 'T'));
    }
  }

  private static boolean hasOrdinal(String pattern) {
    return switch (pattern) {
      case "A.M.", "P.M.", "AM", "PM", "A.D.", "B.C.", "AD", "BC", "TZ", "TZH", "TZM", "OF" ->
          false;
      case "MONTH", "MON", "DAY", "DY", "RM", "FX" -> false;
      default -> true;
    };
  }

  private void date(DateTimeTemplate.Node node) {
    int year = adjusted(fields.year);
    switch (node.text().toUpperCase(Locale.ROOT)) {
      case "DDD" -> filled(node, fields.dayOfYear, 3);
      case "IDDD" -> filled(node, isoDayOfYear(), 3);
      case "DD" -> filled(node, fields.day, 2);
      case "D" -> {
        refuseInterval();
        out.append(fields.dayOfWeek() + 1);
      }
      case "ID" -> {
        refuseInterval();
        out.append(fields.dayOfWeek() == 0 ? 7 : fields.dayOfWeek());
      }
      case "WW" -> filled(node, (fields.dayOfYear - 1) / 7 + 1, 2);
      case "IW" -> filled(node, isoWeek(), 2);
      case "W" -> out.append((fields.day - 1) / 7 + 1);
      case "Q" -> {
        if (fields.month != 0) {
          out.append((fields.month - 1) / 3 + 1);
        }
      }
      case "CC" -> century(node);
      case "Y,YYY" -> {
        out.append(year / 1000).append(',');
        digits(year % 1000, 3);
      }
      case "YYYY" -> year(node, year, year, 4);
      case "IYYY" -> year(node, isoYear(), year, 4);
      case "YYY" -> year(node, year % 1000, year, 3);
      case "IYY" -> year(node, isoYear() % 1000, year, 3);
      case "YY" -> year(node, year % 100, year, 2);
      case "IY" -> year(node, isoYear() % 100, year, 2);
      case "Y" -> out.append(year % 10);
      case "I" -> out.append(isoYear() % 10);
      case "J" -> out.append(fields.julian());
      default -> {
        // FX is for reading.
      }
    }
  }

  private int isoYear() {
    return adjusted(isoYear(fields.year, fields.month, fields.day));
  }

  private void refuseInterval() {
    if (fields.interval) {
      throw new EngineException(
              ErrorCode.INVALID_DATETIME_FORMAT,
              "invalid format specification for an interval value")
          .withHint("Intervals are not tied to specific calendar dates.");
    }
  }

  private void halfDay(DateTimeTemplate.Node node, String before, String after) {
    cased(node, fields.hour % 24 >= 12 ? after : before);
  }

  private void era(DateTimeTemplate.Node node, String after, String before) {
    refuseInterval();
    cased(node, fields.year <= 0 ? before : after);
  }

  private void cased(DateTimeTemplate.Node node, String text) {
    boolean lower = Character.isLowerCase(node.text().charAt(0));
    out.append(lower ? text.toLowerCase(Locale.ROOT) : text);
  }

  private void zone(DateTimeTemplate.Node node) {
    refuseInterval();
    Zone zone = fields.zone;
    int offsetSeconds = zone == null ? 0 : zone.offsetSeconds(fields.timestamp);
    int distance = Math.abs(offsetSeconds);
    char sign = offsetSeconds < 0 ? '-' : '+';
    int minutes = distance / 60 % 60;
    switch (node.text().toUpperCase(Locale.ROOT)) {
      case "TZ" -> cased(node, zone == null ? "" : zone.abbreviation(fields.timestamp));
      case "TZM" -> out.append("%02d".formatted(minutes));
      case "OF" -> {
        out.append(sign).append((node.fill() ? "%02d" : "%d").formatted(distance / 3600));
        if (distance % 3600 != 0) {
          out.append(":%02d".formatted(minutes));
        }
      }
      default -> out.append(sign).append("%02d".formatted(distance / 3600));
    }
  }

  /// @param length of an abbreviation, or the width of full names
  private void name(DateTimeTemplate.Node node, List<String> names, int index, int length) {
    refuseInterval();
    String full = names.get(index);
    String name = length == ABBREVIATION ? full.substring(0, ABBREVIATION) : full;
    String pattern = node.text();
    if (Character.isLowerCase(pattern.charAt(0))) {
      name = name.toLowerCase(Locale.ROOT);
    } else if (Character.isUpperCase(pattern.charAt(1))) {
      name = name.toUpperCase(Locale.ROOT);
    }
    out.append(name);
    if (length == LONGEST_NAME && node.fill() && !node.translated()) {
      out.repeat(" ", length - name.length());
    }
  }

  private void romanMonth(DateTimeTemplate.Node node) {
    if (fields.month == 0 && fields.year == 0) {
      return;
    }
    int index;
    if (fields.month == 0) {
      index = fields.year >= 0 ? 0 : 11;
    } else {
      index = fields.month < 0 ? -(fields.month + 1) : 12 - fields.month;
    }
    String name = ROMAN_MONTHS.get(index);
    cased(node, name);
    if (node.fill()) {
      out.repeat(" ", 4 - name.length());
    }
  }

  private void century(DateTimeTemplate.Node node) {
    int year = fields.year;
    int century;
    if (fields.interval) {
      century = year / 100;
    } else {
      century = year > 0 ? (year - 1) / 100 + 1 : year / 100 - 1;
    }
    signed(node, century, century);
  }

  /// Two digits at least, one more place for the sign of `sign`.
  private void signed(DateTimeTemplate.Node node, long value, long sign) {
    year(node, value, sign, 2);
  }

  /// One more place if `sign` is negative: as in PostgreSQL that is the year, also when the value is an ISO year.
  private void year(DateTimeTemplate.Node node, long value, long sign, int width) {
    filled(node, value, sign >= 0 ? width : width + 1);
  }

  private void filled(DateTimeTemplate.Node node, long value, int width) {
    digits(value, node.fill() ? width : 0);
  }

  /// Zeros in front up to `width` characters, the sign among them.
  private void digits(long value, int width) {
    String digits = Long.toString(Math.abs(value));
    String sign = value < 0 ? "-" : "";
    out.append(sign)
        .repeat("0", Math.max(0, width - digits.length() - sign.length()))
        .append(digits);
  }

  /// Years as they are written: there is no year 0.
  private int adjusted(int year) {
    return fields.interval || year > 0 ? year : -(year - 1);
  }

  /// Julian day, by PostgreSQL's arithmetic: fields of intervals are no dates.
  private static int julian(int year, int month, int day) {
    int m = month > 2 ? month + 1 : month + 13;
    int y = month > 2 ? year + 4800 : year + 4799;
    int century = y / 100;
    return y * 365 - 32_167 + y / 4 - century + century / 4 + 7834 * m / 256 + day;
  }

  private static int dayOfWeek(int julian) {
    return Math.floorMod(julian + 1, 7);
  }

  /// The Monday of the first ISO week.
  private static int isoStart(int year) {
    int january4 = julian(year, 1, 4);
    return january4 - dayOfWeek(january4 - 1);
  }

  private static int isoYear(int year, int month, int day) {
    int julian = julian(year, month, day);
    if (julian < isoStart(year)) {
      return isoYearFrom(julian, year - 1, year);
    }
    return isoYearFrom(julian, year, year + 1);
  }

  private static int isoYearFrom(int julian, int year, int next) {
    return (julian - isoStart(year)) / 7 + 1 >= 52 && julian >= isoStart(next) ? next : year;
  }

  private int isoWeek() {
    int julian = fields.julian();
    return (julian - isoStart(isoYear(fields.year, fields.month, fields.day))) / 7 + 1;
  }

  private int isoDayOfYear() {
    return fields.julian() - isoStart(isoYear(fields.year, fields.month, fields.day)) + 1;
  }
}
