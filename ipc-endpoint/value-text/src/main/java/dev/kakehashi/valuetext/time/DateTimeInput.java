package dev.kakehashi.valuetext.time;

import dev.kakehashi.valuetext.ValueErrors;
import java.util.Locale;
import java.util.function.LongSupplier;

/// Input of dates, times and timestamps in PostgreSQL's forms: the usual one by [IsoDateTime], all others by [DateTimeParser].
///
/// `zone` is the session's time zone, `now` the instant of the words "now", "today", "tomorrow" and "yesterday" in microseconds since
/// 2000-01-01 UTC.
public final class DateTimeInput {
  private static final long MAX_DAYS = 110_000_000;

  private DateTimeInput() {}

  /// Days since 2000-01-01.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_DATETIME_FORMAT, DATETIME_OVERFLOW, INVALID_TIME_ZONE_DISPLACEMENT or
  ///     INVALID_PARAMETER_VALUE
  public static long date(String text, Zone zone, LongSupplier now) {
    byte[] bytes = IsoDateTime.bytes(text);
    long usual = IsoDateTime.date(bytes, 0, bytes.length);
    return usual != IsoDateTime.NONE ? usual : anyDate(text, zone, now);
  }

  static long anyDate(String text, Zone zone, LongSupplier now) {
    DateTimeParser parser = new DateTimeParser("date", text, false, zone, now);
    DateTimeWord.Kind special = parser.special();
    if (special != null) {
      return switch (special) {
        case EPOCH -> -Calendars.UNIX_EPOCH_DAYS;
        case INFINITY -> Calendars.DATE_INFINITY;
        default -> Calendars.DATE_MINUS_INFINITY;
      };
    }
    TimeFields fields = parser.fields();
    long days = fields.isDay() ? fields.days() : Long.MAX_VALUE;
    if (!Calendars.isValidDate(days)) {
      throw ValueErrors.datetimeOverflow("date out of range: \"" + ValueErrors.shown(text) + "\"");
    }
    return days;
  }

  /// Microseconds since midnight.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException as of [#date]
  public static long time(String text, Zone zone, LongSupplier now) {
    byte[] bytes = IsoDateTime.bytes(text);
    long usual = IsoDateTime.time(bytes, 0, bytes.length);
    return usual != IsoDateTime.NONE ? usual : anyTime(text, zone, now);
  }

  static long anyTime(String text, Zone zone, LongSupplier now) {
    return new DateTimeParser("time", text, true, zone, now).fields().time();
  }

  /// A time of day with its offset from UTC as PostgreSQL writes it, for example "04:05:06+02".
  ///
  /// @param precision digits of seconds, -1: all
  /// @throws dev.kakehashi.engine.api.error.EngineException as of [#date]
  public static String timeWithZone(String text, int precision, Zone zone, LongSupplier now) {
    DateTimeParser parser = new DateTimeParser("time with time zone", text, true, zone, now);
    long time = TimePrecision.time(parser.fields().time(), precision);
    return DateTimeFormat.time(time) + Zone.offsetText(parser.offsetSeconds());
  }

  /// Microseconds since 2000-01-01 00:00; a zone in the text means nothing.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException as of [#date]
  public static long timestamp(String text, Zone zone, LongSupplier now) {
    byte[] bytes = IsoDateTime.bytes(text);
    long usual = IsoDateTime.timestamp(bytes, 0, bytes.length);
    return usual != IsoDateTime.NONE ? usual : anyTimestamp(text, zone, now);
  }

  static long anyTimestamp(String text, Zone zone, LongSupplier now) {
    DateTimeParser parser = new DateTimeParser("timestamp", text, false, zone, now);
    return parser.special() != null ? special(parser.special()) : checked(local(parser), text);
  }

  /// Microseconds since 2000-01-01 UTC.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException as of [#date]
  public static long timestamptz(String text, Zone zone, LongSupplier now) {
    byte[] bytes = IsoDateTime.bytes(text);
    int end = IsoDateTime.endBeforeUtc(bytes, 0, bytes.length);
    long usual = IsoDateTime.timestamp(bytes, 0, end);
    if (usual == IsoDateTime.NONE) {
      return anyTimestamptz(text, zone, now);
    }
    return end < bytes.length ? usual : zone.toInstant(usual);
  }

  static long anyTimestamptz(String text, Zone zone, LongSupplier now) {
    DateTimeParser parser = new DateTimeParser("timestamp with time zone", text, false, zone, now);
    if (parser.special() != null) {
      return special(parser.special());
    }
    long local = local(parser);
    return local == Long.MIN_VALUE ? checked(local, text) : checked(parser.instant(local), text);
  }

  /// Whether a text may be another value later, because of a word such as "now". May say so of others.
  public static boolean dependsOnNow(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    return lower.contains("now")
        || lower.contains("today")
        || lower.contains("tomorrow")
        || lower.contains("yesterday");
  }

  private static long special(DateTimeWord.Kind word) {
    return switch (word) {
      case EPOCH -> -Calendars.UNIX_EPOCH_DAYS * Calendars.MICROS_PER_DAY;
      case INFINITY -> Calendars.INFINITY;
      default -> Calendars.MINUS_INFINITY;
    };
  }

  /// The fields without their zone; the least long if that is no time.
  private static long local(DateTimeParser parser) {
    TimeFields fields = parser.fields();
    if (!fields.isDay()) {
      return Long.MIN_VALUE;
    }
    long days = fields.days();
    if (Math.abs(days) > MAX_DAYS) {
      return Long.MIN_VALUE;
    }
    long local = days * Calendars.MICROS_PER_DAY + fields.time();
    return (days > 0 && local < 0) || (days < -1 && local > 0) ? Long.MIN_VALUE : local;
  }

  private static long checked(long timestamp, String text) {
    if (!Calendars.isValidTimestamp(timestamp)) {
      throw ValueErrors.datetimeOverflow(
          "timestamp out of range: \"" + ValueErrors.shown(text) + "\"");
    }
    return timestamp;
  }
}
