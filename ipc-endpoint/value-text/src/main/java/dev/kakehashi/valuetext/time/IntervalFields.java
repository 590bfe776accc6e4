package dev.kakehashi.valuetext.time;

import org.jspecify.annotations.Nullable;

/// The fields that an interval's type may name, `interval day to second(3)`, as bits of its type modifier (`INTERVAL_MASK` of PostgreSQL).
public enum IntervalFields {
  YEAR("year", 1 << 2),
  MONTH("month", 1 << 1),
  DAY("day", 1 << 3),
  HOUR("hour", 1 << 10),
  MINUTE("minute", 1 << 11),
  SECOND("second", 1 << 12),
  YEAR_TO_MONTH("year to month", YEAR.bits | MONTH.bits),
  DAY_TO_HOUR("day to hour", DAY.bits | HOUR.bits),
  DAY_TO_MINUTE("day to minute", DAY_TO_HOUR.bits | MINUTE.bits),
  DAY_TO_SECOND("day to second", DAY_TO_MINUTE.bits | SECOND.bits),
  HOUR_TO_MINUTE("hour to minute", HOUR.bits | MINUTE.bits),
  HOUR_TO_SECOND("hour to second", HOUR_TO_MINUTE.bits | SECOND.bits),
  MINUTE_TO_SECOND("minute to second", MINUTE.bits | SECOND.bits),
  ALL("", 0x7FFF);

  private static final int FULL_PRECISION = 0xFFFF;

  private final String text;
  private final int bits;

  IntervalFields(String text, int bits) {
    this.text = text;
    this.bits = bits;
  }

  /// Fields of a type modifier, -1 for none.
  ///
  /// @throws IllegalArgumentException if no type has it
  public static IntervalFields of(int typeModifier) {
    if (typeModifier < 0) {
      return ALL;
    }
    int bits = typeModifier >> 16 & ALL.bits;
    for (IntervalFields fields : values()) {
      if (fields.bits == bits) {
        return fields;
      }
    }
    throw new IllegalArgumentException("interval type modifier " + typeModifier);
  }

  /// The fields with that text in small letters, for example "day to second"; null: there are none.
  public static @Nullable IntervalFields find(String text) {
    for (IntervalFields fields : values()) {
      if (fields.text.equals(text)) {
        return fields;
      }
    }
    return null;
  }

  /// As SQL writes them; empty for all.
  public String text() {
    return text;
  }

  /// Whether digits of seconds may be said.
  public boolean hasSeconds() {
    return (bits & SECOND.bits) != 0;
  }

  /// The modifier of interval's type.
  ///
  /// @param precision digits of seconds, -1: all
  public int typeModifier(int precision) {
    return bits << 16 | (precision < 0 ? FULL_PRECISION : precision);
  }

  /// Digits of seconds of a type modifier; -1: all.
  public static int precision(int typeModifier) {
    int precision = typeModifier & FULL_PRECISION;
    return typeModifier < 0 || precision == FULL_PRECISION ? -1 : precision;
  }

  /// The unit of a number that stands last and alone.
  TimeUnit lastUnit() {
    return switch (this) {
      case YEAR -> TimeUnit.YEAR;
      case MONTH, YEAR_TO_MONTH -> TimeUnit.MONTH;
      case DAY -> TimeUnit.DAY;
      case HOUR, DAY_TO_HOUR -> TimeUnit.HOUR;
      case MINUTE, HOUR_TO_MINUTE, DAY_TO_MINUTE -> TimeUnit.MINUTE;
      default -> TimeUnit.SECOND;
    };
  }
}
