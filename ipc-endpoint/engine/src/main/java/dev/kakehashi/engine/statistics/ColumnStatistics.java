package dev.kakehashi.engine.statistics;

import org.jspecify.annotations.Nullable;

/// Statistics of the values of a column, in the terms of PostgreSQL's `pg_stats`. Immutable.
///
/// @param oid type of the column
/// @param nullFraction fraction of rows that are null
/// @param averageWidthBytes of values that are not null; 0 if there are none
/// @param distinct number of distinct values if positive; minus their fraction of the rows if it grows with them; 0: unknown
/// @param mostCommon most common values, the most frequent first; null for a type without equality
/// @param frequencies fraction of all rows of each of them
/// @param histogram bounds of parts with about the same number of the other values; null when there are too few, or the type has no order
public record ColumnStatistics(
    int oid,
    double nullFraction,
    int averageWidthBytes,
    double distinct,
    @Nullable ValueList mostCommon,
    double[] frequencies,
    @Nullable ValueList histogram) {

  /// Distinct values in a table of so many rows; 0: unknown.
  public double distinctOf(double rows) {
    return distinct >= 0 ? Math.min(distinct, rows) : -distinct * rows;
  }

  /// Fraction of the rows that have one of the most common values.
  public double commonFraction() {
    double sum = 0;
    for (double frequency : frequencies) {
      sum += frequency;
    }
    return sum;
  }

  /// The frequencies as PostgreSQL prints an array of them.
  public String frequenciesText() {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < frequencies.length; i++) {
      text.append(i == 0 ? "" : ",").append((float) frequencies[i]);
    }
    return text.append('}').toString();
  }
}
