package dev.kakehashi.protocol.value;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;

/// Dates and times as PostgreSQL's numbers. The infinities are the extremes of the number types; they map to the extremes of the
/// Java types (`LocalDate.MIN`, `Instant.MAX`, ...).
public final class PgTime {
  private static final long EPOCH_DAY = LocalDate.of(2000, 1, 1).toEpochDay();
  private static final long EPOCH_SECOND = EPOCH_DAY * 86_400;
  private static final long MICROS_PER_SECOND = 1_000_000;
  public static final int DATE_NEGATIVE_INFINITY = Integer.MIN_VALUE;
  public static final int DATE_POSITIVE_INFINITY = Integer.MAX_VALUE;
  public static final long TIMESTAMP_NEGATIVE_INFINITY = Long.MIN_VALUE;
  public static final long TIMESTAMP_POSITIVE_INFINITY = Long.MAX_VALUE;

  /// Days since 2000-01-01.
  ///
  /// @throws ArithmeticException when out of range
  public static int fromDate(LocalDate date) {
    if (date.equals(LocalDate.MAX)) {
      return DATE_POSITIVE_INFINITY;
    }
    if (date.equals(LocalDate.MIN)) {
      return DATE_NEGATIVE_INFINITY;
    }
    return Math.toIntExact(date.toEpochDay() - EPOCH_DAY);
  }

  public static LocalDate toDate(int days) {
    return switch (days) {
      case DATE_POSITIVE_INFINITY -> LocalDate.MAX;
      case DATE_NEGATIVE_INFINITY -> LocalDate.MIN;
      default -> LocalDate.ofEpochDay(EPOCH_DAY + days);
    };
  }

  /// Microseconds since midnight; 24:00:00 has no `LocalTime` and cannot occur here.
  public static long fromTime(LocalTime time) {
    return time.toNanoOfDay() / 1000;
  }

  /// @throws java.time.DateTimeException for 24:00:00, which has no `LocalTime`
  public static LocalTime toTime(long micros) {
    return LocalTime.ofNanoOfDay(Math.multiplyExact(micros, 1000L));
  }

  /// Microseconds since 2000-01-01.
  public static long fromTimestamp(LocalDateTime timestamp) {
    if (timestamp.equals(LocalDateTime.MAX)) {
      return TIMESTAMP_POSITIVE_INFINITY;
    }
    if (timestamp.equals(LocalDateTime.MIN)) {
      return TIMESTAMP_NEGATIVE_INFINITY;
    }
    return fromInstant(timestamp.toInstant(ZoneOffset.UTC));
  }

  public static LocalDateTime toTimestamp(long micros) {
    if (micros == TIMESTAMP_POSITIVE_INFINITY) {
      return LocalDateTime.MAX;
    }
    if (micros == TIMESTAMP_NEGATIVE_INFINITY) {
      return LocalDateTime.MIN;
    }
    return LocalDateTime.ofEpochSecond(seconds(micros), nanos(micros), ZoneOffset.UTC);
  }

  /// Microseconds since 2000-01-01 UTC.
  public static long fromInstant(Instant instant) {
    if (instant.equals(Instant.MAX)) {
      return TIMESTAMP_POSITIVE_INFINITY;
    }
    if (instant.equals(Instant.MIN)) {
      return TIMESTAMP_NEGATIVE_INFINITY;
    }
    return micros(instant.getEpochSecond(), instant.getNano());
  }

  public static Instant toInstant(long micros) {
    if (micros == TIMESTAMP_POSITIVE_INFINITY) {
      return Instant.MAX;
    }
    if (micros == TIMESTAMP_NEGATIVE_INFINITY) {
      return Instant.MIN;
    }
    return Instant.ofEpochSecond(seconds(micros), nanos(micros));
  }

  private static long micros(long epochSecond, int nano) {
    return Math.addExact(
        Math.multiplyExact(epochSecond - EPOCH_SECOND, MICROS_PER_SECOND), nano / 1000);
  }

  private static long seconds(long micros) {
    return Math.floorDiv(micros, MICROS_PER_SECOND) + EPOCH_SECOND;
  }

  private static int nanos(long micros) {
    return (int) Math.floorMod(micros, MICROS_PER_SECOND) * 1000;
  }

  private PgTime() {}
}
