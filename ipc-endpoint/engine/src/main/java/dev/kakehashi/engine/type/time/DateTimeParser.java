package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.number.FloatText;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Input of dates, times and timestamps in ISO 8601 and SQL form: `[date][T ][time][zone][ BC]`, YYYYMMDD, infinity, epoch.
///
/// Other orders of day and month, names of months and words such as "tomorrow", which PostgreSQL takes too, are refused. Zones are UTC, GMT,
/// Z or offsets; a timestamp without zone ignores them.
public final class DateTimeParser {
  private static final Pattern FORM =
      Pattern.compile(
          "(?:(\\d{4,})-(\\d{1,2})-(\\d{1,2})|(\\d{4,6})(\\d{2})(\\d{2})(?!\\d*:))?"
              + "(?:(?:^|(?<=\\d)(?:\\s+|\\s*[Tt]))(\\d{1,2}):(\\d{2})(?::(\\d{2})(\\.\\d*)?)?)?"
              + "\\s*(z|utc|gmt|[+-]\\d{1,2}(?::?\\d{2}(?::\\d{2})?)?)?"
              + "(?:\\s*(bc|ad))?",
          Pattern.CASE_INSENSITIVE);

  private static final int MAX_ZONE_HOURS = 15;

  /// Fields of one text; `day` null: no date given.
  private record Fields(
      long year,
      int month,
      int day,
      boolean hasDate,
      long time,
      boolean hasTime,
      @Nullable Long zone) {}

  private DateTimeParser() {}

  /// Days since 2000-01-01.
  public static long date(String text) {
    String trimmed = FloatText.trim(text);
    Long word = special(trimmed);
    if (word != null) {
      if (word == 0) {
        return -Calendars.UNIX_EPOCH_DAYS;
      }
      return word > 0 ? Calendars.DATE_INFINITY : Calendars.DATE_MINUS_INFINITY;
    }
    Fields fields = parse(trimmed, "date", text);
    if (!fields.hasDate) {
      throw SqlErrors.invalidDateTime("date", text);
    }
    if (!Calendars.isValidJulian(fields.year, fields.month)) {
      throw SqlErrors.datetimeOverflow("date out of range: \"" + text + "\"");
    }
    long days = Calendars.days(fields.year, fields.month, fields.day);
    if (!Calendars.isValidDate(days)) {
      throw SqlErrors.datetimeOverflow("date out of range: \"" + text + "\"");
    }
    return days;
  }

  /// Microseconds since midnight.
  public static long time(String text) {
    Fields fields = parse(FloatText.trim(text), "time", text);
    if (!fields.hasTime) {
      throw SqlErrors.invalidDateTime("time", text);
    }
    return fields.time;
  }

  /// Microseconds since 2000-01-01 00:00.
  ///
  /// @param zone of a time that says none; null: a timestamp without time zone
  public static long timestamp(String text, @Nullable Zone zone) {
    String type = zone != null ? "timestamp with time zone" : "timestamp";
    String trimmed = FloatText.trim(text);
    Long word = special(trimmed);
    if (word != null) {
      if (word == 0) {
        return -Calendars.UNIX_EPOCH_DAYS * Calendars.MICROS_PER_DAY;
      }
      return word > 0 ? Calendars.INFINITY : Calendars.MINUS_INFINITY;
    }
    Fields fields = parse(trimmed, type, text);
    if (!fields.hasDate) {
      throw SqlErrors.invalidDateTime(type, text);
    }
    long result = Long.MIN_VALUE;
    if (Calendars.isValidJulian(fields.year, fields.month)) {
      long days = Calendars.days(fields.year, fields.month, fields.day);
      if (Math.abs(days) < 110_000_000) {
        // Wrapping is harmless: what wraps lies outside the valid range in both directions.
        result = days * Calendars.MICROS_PER_DAY + fields.time;
        if (zone != null && fields.zone != null) {
          result -= fields.zone;
        }
        if ((days > 0 && result < 0) || (days < -1 && result > 0)) {
          result = Long.MIN_VALUE;
        }
      }
    }
    if (!Calendars.isValidTimestamp(result)) {
      throw SqlErrors.datetimeOverflow("timestamp out of range: \"" + text + "\"");
    }
    return zone != null && fields.zone == null ? zone.toInstant(result) : result;
  }

  private static @Nullable Long special(String trimmed) {
    return switch (trimmed.toLowerCase(Locale.ROOT)) {
      case "infinity", "+infinity" -> 1L;
      case "-infinity" -> -1L;
      case "epoch" -> 0L;
      default -> null;
    };
  }

  private static Fields parse(String trimmed, String type, String text) {
    Matcher matcher = FORM.matcher(trimmed);
    if (trimmed.isEmpty() || !matcher.matches()) {
      throw SqlErrors.invalidDateTime(type, text);
    }
    int dateGroup = matcher.group(1) != null ? 1 : 4;
    boolean hasDate = matcher.group(dateGroup) != null;
    long year = 0;
    int month = 1;
    int day = 1;
    if (hasDate) {
      if (matcher.group(dateGroup).length() > 9) {
        throw SqlErrors.fieldOutOfRange(text);
      }
      year = Long.parseLong(matcher.group(dateGroup));
      month = Integer.parseInt(matcher.group(dateGroup + 1));
      day = Integer.parseInt(matcher.group(dateGroup + 2));
      boolean bc = "bc".equalsIgnoreCase(matcher.group(12));
      if (year == 0 || month < 1 || month > 12) {
        throw SqlErrors.fieldOutOfRange(text);
      }
      year = bc ? 1 - year : year;
      if (day < 1 || day > Calendars.daysInMonth(year, month)) {
        throw SqlErrors.fieldOutOfRange(text);
      }
    }
    boolean hasTime = matcher.group(7) != null;
    long time = hasTime ? time(matcher, text) : 0;
    return new Fields(year, month, day, hasDate, time, hasTime, zone(matcher.group(11), text));
  }

  private static long time(Matcher matcher, String text) {
    int hour = Integer.parseInt(matcher.group(7));
    int minute = Integer.parseInt(matcher.group(8));
    int second = matcher.group(9) == null ? 0 : Integer.parseInt(matcher.group(9));
    String fraction = matcher.group(10);
    long micros =
        fraction == null || fraction.length() == 1
            ? 0
            : (long) Math.rint(Double.parseDouble(fraction) * 1e6);
    if (minute > 59 || second > 60 || hour > 24) {
      throw SqlErrors.fieldOutOfRange(text);
    }
    long time =
        hour * Calendars.MICROS_PER_HOUR
            + minute * Calendars.MICROS_PER_MINUTE
            + second * Calendars.MICROS_PER_SECOND
            + micros;
    if (time > Calendars.MICROS_PER_DAY) {
      throw SqlErrors.fieldOutOfRange(text);
    }
    return time;
  }

  /// Microseconds east of UTC; null if the text does not say.
  private static @Nullable Long zone(@Nullable String zone, String text) {
    if (zone == null) {
      return null;
    }
    if (Character.isLetter(zone.charAt(0))) {
      return 0L;
    }
    String digits = zone.substring(1).replace(":", "");
    if (digits.length() == 1 || digits.length() == 3) {
      digits = "0" + digits;
    }
    int hours = Integer.parseInt(digits.substring(0, 2));
    int minutes = digits.length() >= 4 ? Integer.parseInt(digits.substring(2, 4)) : 0;
    int seconds = digits.length() >= 6 ? Integer.parseInt(digits.substring(4, 6)) : 0;
    if (hours > MAX_ZONE_HOURS || minutes > 59 || seconds > 59) {
      throw SqlErrors.datetimeOverflow("time zone displacement out of range: \"" + text + "\"");
    }
    long offset = hours * 3600L + minutes * 60L + seconds;
    return (zone.charAt(0) == '-' ? -offset : offset) * Calendars.MICROS_PER_SECOND;
  }
}
