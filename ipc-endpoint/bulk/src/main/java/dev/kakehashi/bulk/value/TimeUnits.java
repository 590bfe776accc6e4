package dev.kakehashi.bulk.value;

/// Units of a file's times.
public enum TimeUnits {
  SECONDS(1),
  MILLIS(1_000),
  MICROS(1_000_000),
  NANOS(1_000_000_000);

  private final long perSecond;

  TimeUnits(long perSecond) {
    this.perSecond = perSecond;
  }

  /// Units in a second.
  public long perSecond() {
    return perSecond;
  }
}
