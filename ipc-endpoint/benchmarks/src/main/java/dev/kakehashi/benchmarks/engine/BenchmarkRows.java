package dev.kakehashi.benchmarks.engine;

import java.util.List;

/// Names of rows of the printed table, as the variable `ROWS` of the scripts has them.
public final class BenchmarkRows {
  private BenchmarkRows() {}

  /// @throws IllegalArgumentException when a row is wanted that the table has not
  public static void require(List<String> known, List<String> wanted) {
    for (String row : wanted) {
      if (!known.contains(row)) {
        throw new IllegalArgumentException(
            "no row \"" + row + "\"; the rows are " + String.join(", ", known));
      }
    }
  }
}
