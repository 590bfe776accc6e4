package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.TimeUnit;
import dev.kakehashi.valuetext.time.Zone;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/// extract(): one field of a date, time, timestamp or interval, exact, with PostgreSQL's scale.
///
/// Results are a long and a scale, so that callers make a numeric or a double of them.
final class DateTimeFields {
  private static final long UNIX_EPOCH_MICROS = 946_684_800_000_000L;
  private static final int MONTHS_PER_YEAR = 12;

  private DateTimeFields() {}

  /// The unit that a text names; its lower-cased name appears in messages.
  static TimeUnit unit(long unitText, int oid) {
    TimeUnit unit = TimeUnit.find(Varlena.string(unitText));
    if (unit == null) {
      throw notRecognized(unitText, oid);
    }
    return unit;
  }

  static RuntimeException notRecognized(long unitText, int oid) {
    return SqlErrors.invalidParameter(
        "unit \""
            + lower(Varlena.string(unitText))
            + "\" not recognized for type "
            + Types.name(oid));
  }

  static RuntimeException notSupported(long unitText, int oid) {
    return SqlErrors.notSupported(
        "unit \""
            + lower(Varlena.string(unitText))
            + "\" not supported for type "
            + Types.name(oid));
  }

  private static String lower(String name) {
    StringBuilder out = new StringBuilder(name);
    for (int i = 0; i < out.length(); i++) {
      char c = out.charAt(i);
      if (c >= 'A' && c <= 'Z') {
        out.setCharAt(i, (char) (c + 32));
      }
    }
    return out.toString();
  }

  /// Whether the field of an infinite value is infinite (it grows with time) rather than null (it repeats).
  static boolean isMonotonic(TimeUnit unit) {
    return switch (unit) {
      case YEAR, DECADE, CENTURY, MILLENNIUM, JULIAN, ISO_YEAR, EPOCH -> true;
      default -> false;
    };
  }

  /// Refuses the fields that a type does not have.
  static void requireSupported(TimeUnit unit, long unitText, int oid) {
    if (oid == TypeOid.DATE && ofDay(unit, 0) == null) {
      throw notSupported(unitText, oid);
    }
  }

  /// Fields that depend on the day only; null for others.
  static @Nullable Long ofDay(TimeUnit unit, long days) {
    long civil = Calendars.civil(days);
    int year = Calendars.year(civil);
    return switch (unit) {
      case DAY -> (long) Calendars.day(civil);
      case MONTH -> (long) Calendars.month(civil);
      case QUARTER -> (Calendars.month(civil) - 1) / 3 + 1L;
      case WEEK -> (long) Calendars.isoWeek(days);
      case YEAR -> year > 0 ? year : year - 1L;
      case DECADE -> year >= 0 ? year / 10L : -((8L - (year - 1)) / 10);
      case CENTURY -> year > 0 ? (year + 99L) / 100 : -((99L - (year - 1)) / 100);
      case MILLENNIUM -> year > 0 ? (year + 999L) / 1000 : -((999L - (year - 1)) / 1000);
      case ISO_YEAR -> {
        long isoYear = Calendars.isoYear(days);
        yield isoYear > 0 ? isoYear : isoYear - 1;
      }
      case DAY_OF_WEEK -> Calendars.isoDayOfWeek(days) % 7L;
      case ISO_DAY_OF_WEEK -> (long) Calendars.isoDayOfWeek(days);
      case DAY_OF_YEAR -> days - Calendars.days(year, 1, 1) + 1;
      case JULIAN -> days + Calendars.EPOCH_JULIAN;
      default -> null;
    };
  }

  /// Fields of a date.
  static BigDecimal ofDate(long unitText, long date) {
    TimeUnit unit = unit(unitText, TypeOid.DATE);
    if (unit == TimeUnit.EPOCH) {
      return BigDecimal.valueOf((date + Calendars.UNIX_EPOCH_DAYS) * 86_400L);
    }
    Long field = ofDay(unit, date);
    if (field == null) {
      throw notSupported(unitText, TypeOid.DATE);
    }
    return BigDecimal.valueOf(field);
  }

  /// Fields of a time of day in microseconds; null for others.
  static @Nullable BigDecimal ofTimeOfDay(TimeUnit unit, long micros) {
    long inMinute = micros % Calendars.MICROS_PER_MINUTE;
    return switch (unit) {
      case MICROSECONDS -> BigDecimal.valueOf(inMinute);
      case MILLISECONDS -> BigDecimal.valueOf(inMinute, 3);
      case SECOND -> BigDecimal.valueOf(inMinute, 6);
      case MINUTE -> BigDecimal.valueOf(micros / Calendars.MICROS_PER_MINUTE % 60);
      case HOUR -> BigDecimal.valueOf(micros / Calendars.MICROS_PER_HOUR);
      default -> null;
    };
  }

  static BigDecimal ofTime(long unitText, long time) {
    TimeUnit unit = unit(unitText, TypeOid.TIME);
    if (unit == TimeUnit.EPOCH) {
      return BigDecimal.valueOf(time, 6);
    }
    BigDecimal field = ofTimeOfDay(unit, time);
    if (field == null) {
      throw notSupported(unitText, TypeOid.TIME);
    }
    return field;
  }

  /// Fields of a finite timestamp.
  ///
  /// @param oid timestamp or timestamptz
  /// @param zone whose clocks count
  static BigDecimal ofTimestamp(long unitText, long timestamp, int oid, Zone zone) {
    TimeUnit unit = unit(unitText, oid);
    long local = zone.clock(timestamp);
    long time = Calendars.timeOf(local);
    BigDecimal field = ofTimeOfDay(unit, time);
    if (field != null) {
      return field;
    }
    switch (unit) {
      case EPOCH -> {
        BigDecimal epoch =
            BigDecimal.valueOf(timestamp)
                .add(BigDecimal.valueOf(UNIX_EPOCH_MICROS))
                .movePointLeft(6);
        // Where microseconds since 1970 exceed 64 bits, PostgreSQL divides numerics and gets four
        // digits.
        return timestamp >= Long.MAX_VALUE - UNIX_EPOCH_MICROS
            ? epoch.setScale(4, RoundingMode.HALF_UP).setScale(6)
            : epoch.setScale(6);
      }
      case TIME_ZONE, TIME_ZONE_HOUR, TIME_ZONE_MINUTE -> {
        if (oid == TypeOid.TIMESTAMPTZ) {
          int offset = zone.offsetSeconds(timestamp);
          return BigDecimal.valueOf(
              unit == TimeUnit.TIME_ZONE
                  ? offset
                  : unit == TimeUnit.TIME_ZONE_HOUR ? offset / 3600 : offset / 60 % 60);
        }
        throw notSupported(unitText, oid);
      }
      default -> {}
    }
    Long ofDay = ofDay(unit, Calendars.dayOf(local));
    if (ofDay == null) {
      throw notSupported(unitText, oid);
    }
    if (unit == TimeUnit.JULIAN) {
      return BigDecimal.valueOf(ofDay).add(dayFraction(time));
    }
    return BigDecimal.valueOf(ofDay);
  }

  /// Part of a day with the digits of a numeric division by the microseconds of a day.
  private static BigDecimal dayFraction(long time) {
    int scale = julianScale(time);
    return BigDecimal.valueOf(time)
        .divide(BigDecimal.valueOf(Calendars.MICROS_PER_DAY), scale, RoundingMode.HALF_UP);
  }

  // PostgreSQL's scale of a quotient depends on the first base-10000 digits; those of 86400000000
  // are 864 at weight 2.
  private static int julianScale(long time) {
    long first = time;
    int weight = 0;
    while (first >= 10_000) {
      first /= 10_000;
      weight++;
    }
    return 16 - 4 * (weight - 2 - (first <= 864 ? 1 : 0));
  }

  /// The fields that date_part() computes in floating point; null for others, which are those of extract().
  ///
  /// @param oid time, timestamp, timestamptz or interval
  static @Nullable Double inexact(TimeUnit unit, long word, int oid) {
    boolean interval = oid == TypeOid.INTERVAL;
    boolean timestamp = oid == TypeOid.TIMESTAMP || oid == TypeOid.TIMESTAMPTZ;
    long micros = interval ? Intervals.micros(word) : timestamp ? Calendars.timeOf(word) : word;
    long seconds = micros / Calendars.MICROS_PER_SECOND;
    double fraction = micros % Calendars.MICROS_PER_SECOND;
    return switch (unit) {
      case SECOND -> (double) (seconds % 60) + fraction / 1e6;
      case MILLISECONDS -> seconds % 60 * 1000.0 + fraction / 1000.0;
      case JULIAN ->
          timestamp
              ? Calendars.dayOf(word)
                  + Calendars.EPOCH_JULIAN
                  + (seconds + fraction / 1e6) / 86_400.0
              : null;
      case EPOCH -> {
        if (interval) {
          int months = Intervals.months(word);
          int years = months / MONTHS_PER_YEAR;
          yield micros / 1e6
              + 365.25 * 86_400 * years
              + 30.0 * 86_400 * (months % MONTHS_PER_YEAR)
              + 86_400.0 * Intervals.days(word);
        }
        if (!timestamp) {
          yield micros / 1e6;
        }
        yield word < Long.MAX_VALUE - UNIX_EPOCH_MICROS
            ? (double) (word + UNIX_EPOCH_MICROS) / 1e6
            : ((double) word + UNIX_EPOCH_MICROS) / 1e6;
      }
      default -> null;
    };
  }

  static BigDecimal ofInterval(long unitText, long interval) {
    TimeUnit unit = unit(unitText, TypeOid.INTERVAL);
    int months = Intervals.months(interval);
    long micros = Intervals.micros(interval);
    int years = months / MONTHS_PER_YEAR;
    BigDecimal field = ofTimeOfDay(unit, micros);
    if (field != null) {
      return field;
    }
    return switch (unit) {
      case DAY -> BigDecimal.valueOf(Intervals.days(interval));
      case MONTH -> BigDecimal.valueOf(months % MONTHS_PER_YEAR);
      case QUARTER -> BigDecimal.valueOf(months % MONTHS_PER_YEAR / 3 + 1);
      case YEAR -> BigDecimal.valueOf(years);
      case DECADE -> BigDecimal.valueOf(years / 10);
      case CENTURY -> BigDecimal.valueOf(years / 100);
      case MILLENNIUM -> BigDecimal.valueOf(years / 1000);
      case EPOCH -> {
        // A year has 365.25 days.
        long quarterDays =
            1461L * years + 120L * (months % MONTHS_PER_YEAR) + 4L * Intervals.days(interval);
        yield BigDecimal.valueOf(quarterDays * 21_600L)
            .add(BigDecimal.valueOf(micros, 6))
            .setScale(6);
      }
      default -> throw notSupported(unitText, TypeOid.INTERVAL);
    };
  }
}
