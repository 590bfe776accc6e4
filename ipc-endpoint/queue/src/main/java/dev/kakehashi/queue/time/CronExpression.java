package dev.kakehashi.queue.time;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Times of a schedule: minute, hour, day of the month, month, weekday, each a list of `*`, numbers and ranges, with steps. Immutable.
///
/// Months and weekdays may be names of three letters; weekday 0 and 7 are Sunday. If both days are given, one of them is enough, as with
/// cron.
///
/// The fields are local times. Their meaning when clocks change depends on the minute and the hour, as with cron:
///
/// * With `*` in one of them (`*/15 * * * *`, `0 * * * *`, `0 */2 * * *`) they are an interval. Each instant whose local time matches
///   counts, so also both that have the same local time. A local time that is missing is left out.
/// * Else they are times of a day. One that is there twice, when clocks go back, counts once, at its first instant. One that is missing,
///   when they go forward, counts at the instant that is as long after the jump; so it is made up for, and never twice for one instant.
public final class CronExpression {
  private static final List<String> MONTHS =
      List.of("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec");
  private static final List<String> DAYS = List.of("sun", "mon", "tue", "wed", "thu", "fri", "sat");

  /// Leap days are at most eight years apart.
  private static final int MOST_DAYS = 9 * 366;

  private final BitSet minutes;
  private final BitSet hours;
  private final BitSet days;
  private final BitSet months;
  private final BitSet weekdays;
  private final boolean interval;
  private final boolean anyDay;
  private final boolean anyWeekday;
  private final ZoneId zone;

  /// @throws EngineException INVALID_PARAMETER_VALUE
  public CronExpression(String text, String zone) {
    String[] fields = text.strip().split("\\s+", -1);
    if (fields.length != 5) {
      throw refused(text, "it has " + fields.length + " fields and not 5");
    }
    minutes = field(text, fields[0], 0, 59, List.of());
    hours = field(text, fields[1], 0, 23, List.of());
    days = field(text, fields[2], 1, 31, List.of());
    months = field(text, fields[3], 1, 12, MONTHS);
    weekdays = field(text, fields[4], 0, 7, DAYS);
    if (weekdays.get(7)) {
      weekdays.set(0);
    }
    interval = fields[0].contains("*") || fields[1].contains("*");
    anyDay = fields[2].startsWith("*");
    anyWeekday = fields[4].startsWith("*");
    try {
      this.zone = ZoneId.of(zone);
    } catch (java.time.DateTimeException e) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE, "there is no time zone \"" + zone + "\"", e);
    }
  }

  private static BitSet field(
      String text, String field, int least, int greatest, List<String> names) {
    BitSet result = new BitSet(greatest + 1);
    for (String part : field.split(",", -1)) {
      String[] stepped = part.split("/", -1);
      int step = stepped.length == 1 ? 1 : number(text, stepped[1], 1, 99, List.of(), 0);
      String[] ends = stepped[0].split("-", -1);
      int from;
      int to;
      if (stepped[0].equals("*")) {
        from = least;
        to = greatest == 7 ? 6 : greatest;
      } else {
        from = number(text, ends[0], least, greatest, names, least);
        to =
            ends.length > 1
                ? number(text, ends[1], least, greatest, names, least)
                : stepped.length > 1 ? greatest : from;
      }
      if (stepped.length > 2 || ends.length > 2 || to < from) {
        throw refused(text, "\"" + part + "\" is no range");
      }
      for (int at = from; at <= to; at += step) {
        result.set(at);
      }
    }
    return result;
  }

  private static int number(
      String text, String part, int least, int greatest, List<String> names, int firstName) {
    int named = names.indexOf(part.toLowerCase(Locale.ROOT));
    if (named >= 0) {
      return named + firstName;
    }
    if (part.matches("[0-9]{1,2}")) {
      int value = Integer.parseInt(part);
      if (value >= least && value <= greatest) {
        return value;
      }
    }
    throw refused(text, "\"" + part + "\" is not " + least + " to " + greatest);
  }

  private static EngineException refused(String text, String why) {
    return new EngineException(
        ErrorCode.INVALID_PARAMETER_VALUE, "\"" + text + "\" is no cron expression: " + why);
  }

  /// The first time after another one; [Long#MAX_VALUE] if there is none (February 30).
  ///
  /// @param afterMillis since 1970, as the result
  public long next(long afterMillis) {
    return interval ? nextOfInterval(afterMillis) : nextOfDay(afterMillis);
  }

  /// Goes through stretches of time without a change of clocks, in which local times follow each other as instants do.
  private long nextOfInterval(long afterMillis) {
    ZoneRules rules = zone.getRules();
    Instant from = Instant.ofEpochMilli(afterMillis);
    Instant end = from.plus(MOST_DAYS, ChronoUnit.DAYS);
    while (from.isBefore(end)) {
      ZoneOffset offset = rules.getOffset(from);
      ZoneOffsetTransition change = rules.nextTransition(from);
      Instant until =
          change == null || change.getInstant().isAfter(end) ? end : change.getInstant();
      Instant found = next(from, until, offset);
      if (found != null) {
        return found.toEpochMilli();
      }
      // The first instant of the next stretch counts, too.
      if (matchesFrom(until)) {
        return until.toEpochMilli();
      }
      from = until;
    }
    return Long.MAX_VALUE;
  }

  private boolean matchesFrom(Instant instant) {
    LocalDateTime local = LocalDateTime.ofInstant(instant, zone);
    return local.getSecond() == 0
        && local.getNano() == 0
        && minutes.get(local.getMinute())
        && hours.get(local.getHour())
        && matches(local.toLocalDate());
  }

  /// The first instant after one and before another that matches; null: there is none.
  private @Nullable Instant next(Instant after, Instant before, ZoneOffset offset) {
    LocalDateTime local = LocalDateTime.ofInstant(after, offset);
    LocalDateTime last = LocalDateTime.ofInstant(before, offset);
    LocalDate day = local.toLocalDate();
    LocalTime from = local.toLocalTime();
    for (; !day.isAfter(last.toLocalDate()); day = day.plusDays(1), from = LocalTime.MIN) {
      Instant found = matches(day) ? first(day, from, after, offset) : null;
      if (found != null) {
        return found.isBefore(before) ? found : null;
      }
    }
    return null;
  }

  private long nextOfDay(long afterMillis) {
    Instant after = Instant.ofEpochMilli(afterMillis);
    LocalDateTime local = LocalDateTime.ofInstant(after, zone);
    LocalDate day = local.toLocalDate();
    LocalTime from = local.toLocalTime();
    // Clocks go back by less than a day: the local times before `local` are looked at by their
    // instants.
    for (int count = 0; count < MOST_DAYS; count++) {
      if (matches(day)) {
        Instant found = first(day, from, after, zone);
        if (found != null) {
          return found.toEpochMilli();
        }
      }
      day = day.plusDays(1);
      from = LocalTime.MIN;
    }
    return Long.MAX_VALUE;
  }

  /// The first instant of a day that matches and is after another one; null: there is none.
  private @Nullable Instant first(LocalDate day, LocalTime from, Instant after, ZoneId in) {
    for (int hour = hours.nextSetBit(from.getHour());
        hour >= 0;
        hour = hours.nextSetBit(hour + 1)) {
      int first = hour == from.getHour() ? from.getMinute() : 0;
      for (int minute = minutes.nextSetBit(first);
          minute >= 0;
          minute = minutes.nextSetBit(minute + 1)) {
        Instant at = ZonedDateTime.of(day, LocalTime.of(hour, minute), in).toInstant();
        if (at.isAfter(after)) {
          return at;
        }
      }
    }
    return null;
  }

  private boolean matches(LocalDate day) {
    if (!months.get(day.getMonthValue())) {
      return false;
    }
    boolean ofMonth = days.get(day.getDayOfMonth());
    boolean ofWeek = weekdays.get(day.getDayOfWeek().getValue() % 7);
    if (anyDay || anyWeekday) {
      return ofMonth && ofWeek;
    }
    return ofMonth || ofWeek;
  }
}
