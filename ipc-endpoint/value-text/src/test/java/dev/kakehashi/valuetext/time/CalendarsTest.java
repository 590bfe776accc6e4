package dev.kakehashi.valuetext.time;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.LocalDate;
import java.time.YearMonth;
import java.time.temporal.IsoFields;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The calendar against that of java.time, which counts years in the same way.
class CalendarsTest {
  private static final LocalDate EPOCH = LocalDate.of(2000, 1, 1);

  private static void check(long days) {
    LocalDate date = EPOCH.plusDays(days);
    long civil = Calendars.civil(days);
    assertEquals(date.getYear(), Calendars.year(civil), () -> "year of " + date);
    assertEquals(date.getMonthValue(), Calendars.month(civil), () -> "month of " + date);
    assertEquals(date.getDayOfMonth(), Calendars.day(civil), () -> "day of " + date);
    assertEquals(days, Calendars.days(date.getYear(), date.getMonthValue(), date.getDayOfMonth()));
    assertEquals(date.getDayOfWeek().getValue(), Calendars.isoDayOfWeek(days));
    assertEquals(date.get(IsoFields.WEEK_BASED_YEAR), Calendars.isoYear(days));
    assertEquals(date.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR), Calendars.isoWeek(days));
  }

  @Test
  void shouldCountEachDayOfAnEra() {
    // Eras of 400 years are alike, and one lies on both sides of the year 1.
    long first = Calendars.days(-199, 1, 1);
    for (long days = first; days < first + 146_097; days++) {
      check(days);
    }
  }

  @Test
  void shouldCountDaysOfAllYears() {
    long seed = Long.getLong("valuetext.seed", 40);
    Random random = new Random(seed);
    for (int i = 0; i < 50_000; i++) {
      check(random.nextLong(Calendars.MIN_DATE, Calendars.END_DATE));
    }
    check(Calendars.MIN_DATE);
    check(Calendars.END_DATE - 1);
  }

  @Test
  void shouldKnowTheLengthOfMonths() {
    for (int year = -400; year <= 2400; year++) {
      for (int month = 1; month <= 12; month++) {
        assertEquals(YearMonth.of(year, month).lengthOfMonth(), Calendars.daysInMonth(year, month));
      }
    }
  }

  @Test
  void shouldBeginAndEndWherePostgresDoes() {
    assertEquals(Calendars.days(-4713, 11, 24), Calendars.MIN_DATE);
    assertEquals(Calendars.days(5_874_898, 1, 1), Calendars.END_DATE);
    assertEquals(Calendars.days(294_277, 1, 1) * Calendars.MICROS_PER_DAY, Calendars.END_TIMESTAMP);
    assertEquals(-EPOCH.toEpochDay(), -Calendars.UNIX_EPOCH_DAYS);
  }
}
