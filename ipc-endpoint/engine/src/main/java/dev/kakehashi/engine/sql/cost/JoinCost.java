package dev.kakehashi.engine.sql.cost;

/// Costs of joins, in rows that probe a hash table.
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

  private JoinCost() {}

  /// A row read for each row of the larger side, two for each of the side that is hashed.
  public static double hashJoin(double rows, double otherRows) {
    return hashed(Math.max(rows, otherRows), Math.min(rows, otherRows));
  }

  /// The same where it is given which side is hashed.
  public static double hashed(double rows, double hashedRows) {
    return rows + HASHED_ROW * hashedRows;
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
