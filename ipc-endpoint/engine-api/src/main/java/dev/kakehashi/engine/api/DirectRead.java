package dev.kakehashi.engine.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// How a client that has the engine's memory mapped finds the rows of a statement by itself: the one with certain values in a whole unique
/// key, or those in a range of an index. Immutable.
///
/// @param definitions version of tables, rights and roles for which it holds
/// @param tableCell offset of the table's cell in the memory
/// @param tableGeneration that the cell has
/// @param indexCell the same of the index
/// @param pageRows rows of a page
/// @param keys one for each column of the key, in its order; of a range two for the column that has both bounds, the lower one first
/// @param order how the rows of a range come; null: it is none
/// @param columns of the result, in its order
public record DirectRead(
    long definitions,
    long tableCell,
    long tableGeneration,
    long indexCell,
    long indexGeneration,
    int pageRows,
    @Nullable Order order,
    List<Key> keys,
    List<Column> columns) {

  /// The order of the index, or the opposite one.
  public enum Order {
    FORWARD,
    REVERSE
  }

  /// How a key's parameter bounds its column.
  public enum Use {
    EQUAL,
    LOWER,
    LOWER_EXCLUSIVE,
    UPPER,
    UPPER_EXCLUSIVE,
    /// Any value: there is no parameter.
    UNBOUND
  }

  /// How a value lies in a word, or behind it.
  public enum Kind {
    WORD,
    FLOAT4,
    FLOAT8,
    VARLENA,
    FIXED16,
    /// The word of a parameter, which is no column of the table.
    PARAMETER
  }

  /// A column of the key.
  ///
  /// @param parameter that its value is compared with, from 0
  /// @param column of the table's pages
  /// @param dictionaryCell offset of the cell of its shared values; 0: it has none
  public record Key(
      Use use,
      int parameter,
      int column,
      Kind kind,
      boolean isNullable,
      boolean isDescending,
      long dictionaryCell) {}

  /// A column of the result.
  ///
  /// @param column of the table's pages; the number of the parameter, from 0
  /// @param isMissingNull whether it is null where a page has no place for it
  /// @param dictionaryCell offset of the cell of its shared values; 0: it has none
  public record Column(int column, Kind kind, boolean isMissingNull, long dictionaryCell) {}
}
