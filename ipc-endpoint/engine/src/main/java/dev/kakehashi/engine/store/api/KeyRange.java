package dev.kakehashi.engine.store.api;

import org.jspecify.annotations.Nullable;

/// Bounds of an index scan over a prefix of the key columns, as words (see [dev.kakehashi.engine.vector.ColumnVector]; the values must stay
/// alive while the scan is open).
///
/// The first `equalColumns` key columns equal `lower[i]`; the column after them lies between `lower[equalColumns]` and
/// `upper[equalColumns]` where present. Nulls never lie in a range with a bound or equality, unless one asks for null.
///
/// @param equalColumns number of leading key columns bound by equality
/// @param values words of those columns
/// @param hasLower whether the next column has a lower bound
/// @param lower its word
/// @param lowerInclusive whether it belongs to the range
/// @param hasUpper whether the next column has an upper bound
/// @param upper its word
/// @param upperInclusive whether it belongs to the range
/// @param nulls which of the columns that are bound by equality are null instead; null: none
public record KeyRange(
    int equalColumns,
    long[] values,
    boolean hasLower,
    long lower,
    boolean lowerInclusive,
    boolean hasUpper,
    long upper,
    boolean upperInclusive,
    boolean @Nullable [] nulls) {
  /// The whole index.
  public static final KeyRange ALL = new KeyRange(0, new long[0], false, 0, false, false, 0, false);

  /// A range without nulls.
  public KeyRange(
      int equalColumns,
      long[] values,
      boolean hasLower,
      long lower,
      boolean lowerInclusive,
      boolean hasUpper,
      long upper,
      boolean upperInclusive) {
    this(
        equalColumns,
        values,
        hasLower,
        lower,
        lowerInclusive,
        hasUpper,
        upper,
        upperInclusive,
        null);
  }

  /// Equality on the first `values.length` key columns.
  public static KeyRange equal(long... values) {
    return new KeyRange(values.length, values, false, 0, false, false, 0, false);
  }

  /// Equality of which nulls are equal, too, on the first `values.length` key columns.
  ///
  /// @param nulls which of them are null
  public static KeyRange notDistinct(long[] values, boolean[] nulls) {
    return new KeyRange(values.length, values, false, 0, false, false, 0, false, nulls);
  }

  /// Whether a column that is bound by equality is null.
  public boolean isNull(int keyColumn) {
    return nulls != null && nulls[keyColumn];
  }
}
