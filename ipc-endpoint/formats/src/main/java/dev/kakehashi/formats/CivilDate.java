package dev.kakehashi.formats;

/// The proleptic Gregorian calendar on days since 2000-01-01; year 0 is 1 BC. A civil date is packed in a long, so that no object is made.
public final class CivilDate {
  public static final long MICROS_PER_SECOND = 1_000_000L;
  public static final long MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND;
  public static final long MICROS_PER_HOUR = 60 * MICROS_PER_MINUTE;
  public static final long MICROS_PER_DAY = 24 * MICROS_PER_HOUR;

  /// Days from 1970-01-01 to 2000-01-01.
  public static final int UNIX_EPOCH_DAYS = 10_957;

  private static final int DAYS_PER_ERA = 146_097;

  /// Days from 0000-03-01 to 2000-01-01.
  private static final long MARCH_EPOCH = 730_425;

  private CivilDate() {}

  public static long of(long days) {
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

  public static int month(long civil) {
    return (int) (civil >> 8) & 0xFF;
  }

  public static int day(long civil) {
    return (int) civil & 0xFF;
  }

  /// Days since 2000-01-01.
  public static long days(long year, int month, int day) {
    long marchYear = month <= 2 ? year - 1 : year;
    long era = Math.floorDiv(marchYear, 400L);
    int yearOfEra = (int) (marchYear - era * 400);
    int dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
    return era * DAYS_PER_ERA + dayOfEra - MARCH_EPOCH;
  }

  public static int daysInMonth(long year, int month) {
    return switch (month) {
      case 2 -> (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
      case 4, 6, 9, 11 -> 30;
      default -> 31;
    };
  }
}
