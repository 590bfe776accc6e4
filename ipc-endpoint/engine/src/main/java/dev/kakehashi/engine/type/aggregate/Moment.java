package dev.kakehashi.engine.type.aggregate;

/// Statistic that is computed from count, sum and sum of squares.
enum Moment {
  AVERAGE,
  VARIANCE_SAMPLE,
  VARIANCE_POPULATION,
  DEVIATION_SAMPLE,
  DEVIATION_POPULATION;

  /// Whether one value is too few.
  boolean isSample() {
    return this == VARIANCE_SAMPLE || this == DEVIATION_SAMPLE;
  }

  boolean isDeviation() {
    return this == DEVIATION_SAMPLE || this == DEVIATION_POPULATION;
  }
}
