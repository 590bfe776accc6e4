package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// SEARCH and CYCLE of a recursive query of WITH; one of them may be null.
///
/// @param position in the statement, from 1
public record Traversal(@Nullable Search search, @Nullable Cycle cycle, int position) {
  /// SEARCH.
  ///
  /// @param breadth BREADTH FIRST, else DEPTH FIRST
  /// @param sequence name of the column that it adds
  public record Search(boolean breadth, List<QualifiedName> columns, QualifiedName sequence) {}

  /// CYCLE.
  ///
  /// @param mark name of the column that says whether a row closes a cycle
  /// @param value of the mark where it does; null: true
  /// @param otherwise its value elsewhere; null: false
  /// @param path name of the column with the rows on the way
  public record Cycle(
      List<QualifiedName> columns,
      QualifiedName mark,
      @Nullable Source value,
      @Nullable Source otherwise,
      QualifiedName path) {}
}
