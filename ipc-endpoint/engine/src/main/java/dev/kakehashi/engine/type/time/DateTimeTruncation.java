package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.TimeUnit;
import dev.kakehashi.valuetext.time.Zone;

/// date_trunc() of timestamps and intervals.
final class DateTimeTruncation {
  private static final int MONTHS_PER_YEAR = 12;

  private DateTimeTruncation() {}

  /// @param zone whose hours and days count
  static long timestamp(long unitText, long timestamp, int oid, Zone zone) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    TimeUnit unit = DateTimeFields.unit(unitText, oid);
    long unitMicros = unitMicros(unit);
    if (unit == TimeUnit.DAY) {
      long local = zone.clock(timestamp);
      return zone.toInstant(local - Math.floorMod(local, unitMicros));
    }
    if (unitMicros > 0) {
      // Within a day the offset stays what it is; midnight may have another one.
      long passed = Math.floorMod(zone.uncheckedClock(timestamp), unitMicros);
      return Calendars.checkedTimestamp(timestamp - passed);
    }
    refuseFields(unit, unitText, oid);
    long days = Calendars.dayOf(zone.clock(timestamp));
    long civil = Calendars.civil(days);
    int year = Calendars.year(civil);
    int month = Calendars.month(civil);
    long truncated =
        switch (unit) {
          case WEEK -> days - (Calendars.isoDayOfWeek(days) - 1);
          case MONTH -> Calendars.days(year, month, 1);
          case QUARTER -> Calendars.days(year, (month - 1) / 3 * 3 + 1, 1);
          case YEAR -> Calendars.days(year, 1, 1);
          case DECADE -> Calendars.days(Math.floorDiv(year, 10) * 10L, 1, 1);
          case CENTURY -> Calendars.days(Math.floorDiv(year - 1, 100) * 100L + 1, 1, 1);
          case MILLENNIUM -> Calendars.days(Math.floorDiv(year - 1, 1000) * 1000L + 1, 1, 1);
          default -> throw DateTimeFields.notSupported(unitText, oid);
        };
    if (truncated < Calendars.MIN_DATE) {
      throw ValueErrors.dateTimeOutOfRange("timestamp");
    }
    return zone.toInstant(truncated * Calendars.MICROS_PER_DAY);
  }

  /// Names that extract() knows and date_trunc() does not.
  private static void refuseFields(TimeUnit unit, long unitText, int oid) {
    switch (unit) {
      case DAY_OF_WEEK, ISO_DAY_OF_WEEK, DAY_OF_YEAR, ISO_YEAR, JULIAN, EPOCH ->
          throw DateTimeFields.notRecognized(unitText, oid);
      default -> {}
    }
  }

  private static long unitMicros(TimeUnit unit) {
    return switch (unit) {
      case MICROSECONDS -> 1;
      case MILLISECONDS -> 1000;
      case SECOND -> Calendars.MICROS_PER_SECOND;
      case MINUTE -> Calendars.MICROS_PER_MINUTE;
      case HOUR -> Calendars.MICROS_PER_HOUR;
      case DAY -> Calendars.MICROS_PER_DAY;
      default -> 0;
    };
  }

  static long interval(long unitText, long interval, VarHeap heap) {
    TimeUnit unit = DateTimeFields.unit(unitText, TypeOid.INTERVAL);
    int months = Intervals.months(interval);
    long micros = Intervals.micros(interval);
    if (unit == TimeUnit.DAY) {
      return Intervals.of(heap, months, Intervals.days(interval), 0);
    }
    long unitMicros = unitMicros(unit);
    if (unitMicros > 0) {
      return Intervals.of(heap, months, Intervals.days(interval), micros / unitMicros * unitMicros);
    }
    refuseFields(unit, unitText, TypeOid.INTERVAL);
    int unitMonths =
        switch (unit) {
          case MONTH -> 1;
          case QUARTER -> 3;
          case YEAR -> MONTHS_PER_YEAR;
          case DECADE -> 10 * MONTHS_PER_YEAR;
          case CENTURY -> 100 * MONTHS_PER_YEAR;
          case MILLENNIUM -> 1000 * MONTHS_PER_YEAR;
          default -> throw DateTimeFields.notSupported(unitText, TypeOid.INTERVAL);
        };
    return Intervals.of(heap, months / unitMonths * unitMonths, 0, 0);
  }
}
