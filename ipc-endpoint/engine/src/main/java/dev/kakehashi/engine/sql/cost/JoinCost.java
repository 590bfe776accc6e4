package dev.kakehashi.engine.sql.cost;

/// Costs of joins, in rows that probe a small hash table.
public final class JoinCost {
  /// A row of a table that is read and filtered.
  static final double READ_ROW = 0.25;

  static final double HASHED_ROW = 2;

  /// A row that is sorted among very many, be it for its number within its group (1,000,000 rows of five columns: 2.3 s, while a scan reads
  /// as many in 0.066 s).
  static final double SORTED_ROW = 10;

  /// A look at an index, and each row that is read through it.
  private static final double LOOKUP = 25;

  private static final double FOUND_ROW = 5;

  /// Rows of a hash table that the processor's caches hold: the unit is a probe of such a one.
  private static final double CACHED_ROWS = 4_096;

  /// Rows of a table that they hold next to nothing of. A probe waits for memory then (1.8 million rows of TPC-H's lineitem: some 20 ns in
  /// a table of 800 rows, 100 in one of 120,000).
  private static final double UNCACHED_ROWS = 262_144;

  private static final double UNCACHED_PROBE = 2;

  private JoinCost() {}

  /// A probe for each row of the larger side, two for each of the side that is hashed.
  public static double hashJoin(double rows, double otherRows) {
    return hashed(Math.max(rows, otherRows), Math.min(rows, otherRows));
  }

  /// The same where it is given which side is hashed.
  public static double hashed(double rows, double hashedRows) {
    return rows * probe(hashedRows) + HASHED_ROW * hashedRows;
  }

  private static double probe(double hashedRows) {
    double uncached =
        Math.log(Math.max(1, hashedRows / CACHED_ROWS)) / Math.log(UNCACHED_ROWS / CACHED_ROWS);
    return 1 + (UNCACHED_PROBE - 1) * Math.min(1, uncached);
  }

  /// A look at every pair.
  public static double nestedLoop(double rows, double otherRows) {
    return rows * otherRows + Math.min(rows, otherRows);
  }

  /// @param found rows of each look
  public static double lookups(double looks, double found) {
    return looks * (LOOKUP + FOUND_ROW * found);
  }
}
