package dev.kakehashi.engine.sql.spelling;

import java.util.List;

/// Text that Calcite's parser takes, with a way back to the statement.
///
/// Every literal and parameter is a `?` in `text`; number i of them is `literals[i]`.
///
/// @param text one line
/// @param literals what the question marks stand for
/// @param positions offset in the statement of each character of `text`
/// @param end offset in the statement of what follows
public record Source(String text, List<Literal> literals, int[] positions, int end) {
  /// Text that a question mark stands for.
  public sealed interface Literal {
    /// `$number`
    record Parameter(int number) implements Literal {}

    record Text(String value) implements Literal {}

    /// An unsigned number as written.
    record NumberText(String text) implements Literal {}

    /// An expression where Calcite's parser takes a literal only.
    record Expression(Source text) implements Literal {}

    /// SEARCH and CYCLE of a query of WITH.
    record Path(Traversal traversal) implements Literal {}

    /// The count of FETCH FIRST ... WITH TIES.
    record WithTies(Literal count) implements Literal {}
  }

  /// Character in the statement, from 1, of column `column` (from 1) in `text`.
  public int position(int column) {
    int index = Math.min(Math.max(column - 1, 0), positions.length - 1);
    return index < 0 ? 0 : positions[index] + 1;
  }
}
