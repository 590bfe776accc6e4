package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.Zone;

/// Arithmetic of dates, times and timestamps. Infinite values stay infinite where that means something.
public final class DateTimeMath {
  private static final int MONTHS_PER_YEAR = 12;

  private DateTimeMath() {}

  public static long addDays(long date, long days) {
    if (!Calendars.isFiniteDate(date)) {
      return date;
    }
    return Calendars.checkedDate(date + days);
  }

  /// Days between two dates.
  public static long subtractDates(long a, long b) {
    if (!Calendars.isFiniteDate(a) || !Calendars.isFiniteDate(b)) {
      throw ValueErrors.datetimeOverflow("cannot subtract infinite dates");
    }
    return (int) (a - b);
  }

  /// A timestamp from a date and a time of day.
  public static long dateAndTime(long date, long time) {
    long timestamp = DateTimeCasts.dateToTimestamp(date);
    if (!Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    return Calendars.checkedTimestamp(timestamp + time);
  }

  /// Months first (a day beyond the end of the month becomes its last day), then days, then time.
  public static long add(long timestamp, int months, int days, long micros) {
    if (!Calendars.isFinite(timestamp)) {
      return timestamp;
    }
    long result = timestamp;
    if (months != 0) {
      result = addMonths(result, months);
    }
    if (days != 0) {
      long day = Calendars.dayOf(result) + days;
      if (Math.abs(day) > Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY) {
        throw ValueErrors.dateTimeOutOfRange("timestamp");
      }
      result =
          Calendars.checkedTimestamp(day * Calendars.MICROS_PER_DAY + Calendars.timeOf(result));
    }
    long sum = result + micros;
    if (((result ^ sum) & (micros ^ sum)) < 0) {
      throw ValueErrors.dateTimeOutOfRange("timestamp");
    }
    return Calendars.checkedTimestamp(sum);
  }

  private static long addMonths(long timestamp, int months) {
    long civil = Calendars.civil(Calendars.dayOf(timestamp));
    long month =
        (long) Calendars.year(civil) * MONTHS_PER_YEAR + Calendars.month(civil) - 1 + months;
    long year = Math.floorDiv(month, MONTHS_PER_YEAR);
    int monthOfYear = Math.floorMod(month, MONTHS_PER_YEAR) + 1;
    if (!Calendars.isValidJulian(year, monthOfYear)) {
      throw ValueErrors.dateTimeOutOfRange("timestamp");
    }
    int day = Math.min(Calendars.day(civil), Calendars.daysInMonth(year, monthOfYear));
    long days = Calendars.days(year, monthOfYear, day);
    if (Math.abs(days) >= Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY) {
      throw ValueErrors.dateTimeOutOfRange("timestamp");
    }
    return Calendars.checkedTimestamp(
        days * Calendars.MICROS_PER_DAY + Calendars.timeOf(timestamp));
  }

  /// Months and days are those of a zone's calendar; time is not.
  public static long addInterval(long timestamp, long interval, Zone zone) {
    return add(
        timestamp,
        Intervals.months(interval),
        Intervals.days(interval),
        Intervals.micros(interval),
        zone);
  }

  /// As adding the negated interval, which must be representable.
  public static long subtractInterval(long timestamp, long interval, Zone zone) {
    return add(
        timestamp,
        -Intervals.months(interval),
        -Intervals.days(interval),
        -Intervals.micros(interval),
        zone);
  }

  private static long add(long timestamp, int months, int days, long micros, Zone zone) {
    long result = timestamp;
    if (months != 0) {
      result = zone.toInstant(add(zone.clock(result), months, 0, 0));
    }
    if (days != 0) {
      result = zone.toInstant(add(zone.clock(result), 0, days, 0));
    }
    return add(result, 0, 0, micros);
  }

  /// Days and time between two timestamps, without months.
  public static long subtract(long a, long b, VarHeap heap) {
    if (!Calendars.isFinite(a) || !Calendars.isFinite(b)) {
      throw ValueErrors.datetimeOverflow("cannot subtract infinite timestamps");
    }
    long micros = a - b;
    if (((a ^ b) & (a ^ micros)) < 0) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    long days = micros / Calendars.MICROS_PER_DAY;
    return Intervals.of(heap, 0, (int) days, micros - days * Calendars.MICROS_PER_DAY);
  }

  /// Time of day, modulo 24 hours; a sum beyond 64 bits wraps around, as in PostgreSQL.
  public static long addToTime(long time, long micros) {
    return Math.floorMod(time + micros, Calendars.MICROS_PER_DAY);
  }

  /// Difference in years, months, days and time of what the clocks of a zone show; borrowed days are those of the earlier value's month.
  public static long age(long a, long b, Zone zone, VarHeap heap) {
    if (!Calendars.isFinite(a) || !Calendars.isFinite(b)) {
      throw ValueErrors.dateTimeOutOfRange("timestamp");
    }
    boolean negative = a < b;
    long later = zone.clock(negative ? b : a);
    long earlier = zone.clock(negative ? a : b);
    long laterCivil = Calendars.civil(Calendars.dayOf(later));
    long earlierCivil = Calendars.civil(Calendars.dayOf(earlier));
    int months =
        (Calendars.year(laterCivil) - Calendars.year(earlierCivil)) * MONTHS_PER_YEAR
            + Calendars.month(laterCivil)
            - Calendars.month(earlierCivil);
    int days = Calendars.day(laterCivil) - Calendars.day(earlierCivil);
    long micros = Calendars.timeOf(later) - Calendars.timeOf(earlier);
    if (micros < 0) {
      micros += Calendars.MICROS_PER_DAY;
      days--;
    }
    int borrowed =
        Calendars.daysInMonth(Calendars.year(earlierCivil), Calendars.month(earlierCivil));
    while (days < 0) {
      days += borrowed;
      months--;
    }
    return negative
        ? Intervals.of(heap, -months, -days, -micros)
        : Intervals.of(heap, months, days, micros);
  }

  /// Order of a date and a timestamp; dates beyond the timestamps are beyond every finite one.
  ///
  /// @param zone of the date
  public static int compareDate(long date, long timestamp, Zone zone) {
    if (Calendars.isFiniteDate(date)
        && date >= Calendars.END_TIMESTAMP / Calendars.MICROS_PER_DAY) {
      return timestamp == Calendars.INFINITY ? -1 : 1;
    }
    return zone.compareLocal(DateTimeCasts.dateToTimestamp(date), timestamp);
  }

  /// @param year negative: BC
  public static long makeDate(long year, long month, long day) {
    long astronomical = year < 0 ? year + 1 : year;
    if (year == 0
        || month < 1
        || month > MONTHS_PER_YEAR
        || day < 1
        || day > Calendars.daysInMonth(astronomical, (int) month)) {
      throw ValueErrors.datetimeOverflow(
          "date field value out of range: " + year + "-" + twoDigits(month) + "-" + twoDigits(day));
    }
    if (!Calendars.isValidJulian(astronomical, (int) month)
        || !Calendars.isValidDate(Calendars.days(astronomical, (int) month, (int) day))) {
      throw ValueErrors.datetimeOverflow(
          "date out of range: " + year + "-" + twoDigits(month) + "-" + twoDigits(day));
    }
    return Calendars.days(astronomical, (int) month, (int) day);
  }

  private static String twoDigits(long value) {
    return value >= 0 && value < 10 ? "0" + value : Long.toString(value);
  }

  public static long makeTime(long hour, long minute, double seconds) {
    double micros = Math.rint(seconds * 1e6);
    if (hour < 0
        || minute < 0
        || minute > 59
        || !(micros >= 0 && micros <= Calendars.MICROS_PER_MINUTE)
        || hour > 24
        || (hour == 24 && (minute > 0 || micros > 0))) {
      throw ValueErrors.datetimeOverflow(
          "time field value out of range: " + hour + ":" + twoDigits(minute) + ":" + seconds);
    }
    return hour * Calendars.MICROS_PER_HOUR + minute * Calendars.MICROS_PER_MINUTE + (long) micros;
  }
}
