package dev.kakehashi.engine.type.time;

import static dev.kakehashi.protocol.TypeOid.DATE;
import static dev.kakehashi.protocol.TypeOid.INTERVAL;
import static dev.kakehashi.protocol.TypeOid.TIME;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMP;
import static dev.kakehashi.protocol.TypeOid.TIMESTAMPTZ;

import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.CastRegistry;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.Calendars;

/// Conversions among dates, times, timestamps and intervals; the time zone is the session's.
public final class DateTimeCasts {
  private DateTimeCasts() {}

  public static void register(CastRegistry casts) {
    casts.add(DATE, TIMESTAMP, CastContext.IMPLICIT, true, (a, _, _) -> dateToTimestamp(a[0]));
    casts.add(
        DATE,
        TIMESTAMPTZ,
        CastContext.IMPLICIT,
        false,
        (a, _, c) -> c.zone.toInstant(dateToTimestamp(a[0])));
    casts.add(
        TIMESTAMP, TIMESTAMPTZ, CastContext.IMPLICIT, false, (a, _, c) -> c.zone.toInstant(a[0]));
    casts.add(
        TIMESTAMPTZ, TIMESTAMP, CastContext.ASSIGNMENT, false, (a, _, c) -> c.zone.toLocal(a[0]));
    casts.add(TIMESTAMP, DATE, CastContext.ASSIGNMENT, true, (a, _, _) -> timestampToDate(a[0]));
    casts.add(
        TIMESTAMPTZ,
        DATE,
        CastContext.ASSIGNMENT,
        false,
        (a, _, c) -> timestampToDate(c.zone.clock(a[0])));
    timeOf(casts, TIMESTAMP);
    timeOf(casts, TIMESTAMPTZ);
    casts.add(
        TIME, INTERVAL, CastContext.IMPLICIT, true, (a, _, c) -> Intervals.of(c.heap, 0, 0, a[0]));
    casts.add(
        INTERVAL,
        TIME,
        CastContext.ASSIGNMENT,
        true,
        (a, _, _) -> Math.floorMod(Intervals.micros(a[0]), Calendars.MICROS_PER_DAY));
  }

  private static void timeOf(CastRegistry casts, int from) {
    boolean zoned = from == TIMESTAMPTZ;
    casts.add(
        from,
        TIME,
        CastContext.ASSIGNMENT,
        !zoned,
        (a, _, c) -> {
          if (!Calendars.isFinite(a[0])) {
            return c.nullResult();
          }
          return Calendars.timeOf(zoned ? c.zone.clock(a[0]) : a[0]);
        });
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException DATETIME_OVERFLOW
  public static long dateToTimestamp(long date) {
    if (!Calendars.isFiniteDate(date)) {
      return date > 0 ? Calendars.INFINITY : Calendars.MINUS_INFINITY;
    }
    if (date >= Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY) {
      throw ValueErrors.datetimeOverflow("date out of range for timestamp");
    }
    return date * Calendars.MICROS_PER_DAY;
  }

  public static long timestampToDate(long timestamp) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp > 0 ? Calendars.DATE_INFINITY : Calendars.DATE_MINUS_INFINITY;
    }
    return Calendars.dayOf(timestamp);
  }
}
