package dev.kakehashi.engine.api.bulk;

import org.jspecify.annotations.Nullable;

/// A condition that each row fulfils that a load wants: others may be left out before they are read.
///
/// @param column index into the columns that [LoadRequest#open] is given; a null fulfils none but IS_NULL
/// @param value null for IS_NULL and IS_NOT_NULL. Long for integers, dates (days since 2000-01-01) and timestamps (microseconds since
///     then); Double, not NaN, for floats; BigDecimal for numeric; String for texts, which are compared as UTF-8
public record LoadCondition(int column, Operator operator, @Nullable Object value) {
  /// The column is on the left.
  public enum Operator {
    LESS,
    LESS_OR_EQUAL,
    EQUAL,
    GREATER_OR_EQUAL,
    GREATER,
    IS_NULL,
    IS_NOT_NULL
  }
}
