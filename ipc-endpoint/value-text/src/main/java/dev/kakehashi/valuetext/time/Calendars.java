package dev.kakehashi.valuetext.time;

import dev.kakehashi.valuetext.ValueErrors;

/// The proleptic Gregorian calendar on days since 2000-01-01 and microseconds since 2000-01-01 00:00; year 0 is 1 BC.
///
/// A civil date is packed in a long, see [#year], [#month], [#day], so that no object is made.
public final class Calendars {
  public static final long MICROS_PER_SECOND = 1_000_000L;
  public static final long MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND;
  public static final long MICROS_PER_HOUR = 60 * MICROS_PER_MINUTE;
  public static final long MICROS_PER_DAY = 24 * MICROS_PER_HOUR;

  /// Days that a month of an interval counts for.
  public static final int DAYS_PER_MONTH = 30;

  /// Julian day of 2000-01-01.
  public static final int EPOCH_JULIAN = 2_451_545;

  /// Days from 1970-01-01 to 2000-01-01.
  public static final int UNIX_EPOCH_DAYS = 10_957;

  public static final long DATE_INFINITY = Integer.MAX_VALUE;
  public static final long DATE_MINUS_INFINITY = Integer.MIN_VALUE;
  public static final long INFINITY = Long.MAX_VALUE;
  public static final long MINUS_INFINITY = Long.MIN_VALUE;

  /// 4714-11-24 BC, the first day.
  public static final long MIN_DATE = -EPOCH_JULIAN;

  /// The day after 5874897-12-31.
  public static final long END_DATE = 2_147_483_494L - EPOCH_JULIAN;

  public static final long MIN_TIMESTAMP = MIN_DATE * MICROS_PER_DAY;

  /// 294277-01-01, the first instant that is not a timestamp.
  public static final long END_TIMESTAMP = 9_223_371_331_200_000_000L;

  private static final int DAYS_PER_ERA = 146_097;

  /// Days from 0000-03-01 to 2000-01-01.
  private static final long MARCH_EPOCH = 730_425;

  private Calendars() {}

  /// The civil date of a day, packed.
  public static long civil(long days) {
    // Years that begin in March, eras of 400 years.
    long shifted = days + MARCH_EPOCH;
    long era = Math.floorDiv(shifted, DAYS_PER_ERA);
    int dayOfEra = (int) (shifted - era * DAYS_PER_ERA);
    int yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
    int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    int marchMonth = (5 * dayOfYear + 2) / 153;
    int day = dayOfYear - (153 * marchMonth + 2) / 5 + 1;
    int month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
    long year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
    return year << 16 | month << 8 | day;
  }

  public static int year(long civil) {
    return (int) (civil >> 16);
  }

  /// 1 to 12.
  public static int month(long civil) {
    return (int) (civil >> 8) & 0xFF;
  }

  /// 1 to 31.
  public static int day(long civil) {
    return (int) civil & 0xFF;
  }

  /// Days since 2000-01-01; months beyond 1 to 12 are not allowed, days are.
  public static long days(long year, int month, int day) {
    long marchYear = month <= 2 ? year - 1 : year;
    long era = Math.floorDiv(marchYear, 400L);
    int yearOfEra = (int) (marchYear - era * 400);
    int dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
    return era * DAYS_PER_ERA + dayOfEra - MARCH_EPOCH;
  }

  public static boolean isLeap(long year) {
    return (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0);
  }

  public static int daysInMonth(long year, int month) {
    return switch (month) {
      case 2 -> isLeap(year) ? 29 : 28;
      case 4, 6, 9, 11 -> 30;
      default -> 31;
    };
  }

  /// 1 is Monday, 7 is Sunday.
  public static int isoDayOfWeek(long days) {
    return (int) Math.floorMod(days + 5, 7L) + 1;
  }

  /// ISO 8601 week-numbering year.
  public static long isoYear(long days) {
    // The Thursday of a week decides its year.
    return year(civil(days + 4 - isoDayOfWeek(days)));
  }

  /// ISO 8601 week, 1 to 53.
  public static int isoWeek(long days) {
    long thursday = days + 4 - isoDayOfWeek(days);
    return (int) ((thursday - days(year(civil(thursday)), 1, 1)) / 7) + 1;
  }

  /// Monday of ISO week 1 of a year.
  public static long isoYearStart(long isoYear) {
    long january4 = days(isoYear, 1, 4);
    return january4 - (isoDayOfWeek(january4) - 1);
  }

  public static boolean isFinite(long timestamp) {
    return timestamp != INFINITY && timestamp != MINUS_INFINITY;
  }

  public static boolean isFiniteDate(long date) {
    return date != DATE_INFINITY && date != DATE_MINUS_INFINITY;
  }

  public static long dayOf(long timestamp) {
    return Math.floorDiv(timestamp, MICROS_PER_DAY);
  }

  public static long timeOf(long timestamp) {
    return Math.floorMod(timestamp, MICROS_PER_DAY);
  }

  public static boolean isValidTimestamp(long timestamp) {
    return timestamp >= MIN_TIMESTAMP && timestamp < END_TIMESTAMP;
  }

  public static boolean isValidDate(long date) {
    return date >= MIN_DATE && date < END_DATE;
  }

  public static long checkedTimestamp(long timestamp) {
    if (!isValidTimestamp(timestamp)) {
      throw ValueErrors.dateTimeOutOfRange("timestamp");
    }
    return timestamp;
  }

  public static long checkedDate(long date) {
    if (!isValidDate(date)) {
      throw ValueErrors.dateTimeOutOfRange("date");
    }
    return date;
  }

  /// Whether PostgreSQL has a Julian day for the date.
  public static boolean isValidJulian(long year, int month) {
    return (year > -4713 || (year == -4713 && month >= 11))
        && (year < 5_874_898 || (year == 5_874_898 && month < 6));
  }
}
