package dev.kakehashi.rest.sql;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of a statement as texts. Immutable; the arrays are the reader's.
///
/// @param columns empty: the statement returns none
/// @param rows a value is null for SQL's null
/// @param rowCount rows that the statement has sent or changed; -1: not known, because it was ended early
/// @param isCut whether there were more rows
public record TextResult(
    List<Column> columns, List<@Nullable String[]> rows, long rowCount, boolean isCut) {
  /// @param type as PostgreSQL names it
  /// @param isNumber whether it stands right
  public record Column(String name, String type, boolean isNumber) {}

  /// Where a column is.
  ///
  /// @throws IllegalArgumentException there is none of this name
  public int column(String name) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException("no column " + name);
  }
}
