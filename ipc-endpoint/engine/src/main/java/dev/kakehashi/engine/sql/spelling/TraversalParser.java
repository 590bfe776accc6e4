package dev.kakehashi.engine.sql.spelling;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Reads SEARCH and CYCLE behind a query of WITH.
public final class TraversalParser {
  private final PieceReader pieces;
  private final TokenReader in;

  public TraversalParser(PieceReader pieces) {
    this.pieces = pieces;
    this.in = pieces.in;
  }

  /// Reads them where a reader stands, which stands behind them afterwards.
  static Traversal traversal(String sql, TokenReader reader) {
    TraversalParser parser = new TraversalParser(new PieceReader(sql, reader.tokens(), reader.at));
    Traversal traversal = parser.traversal();
    reader.at = parser.in.at;
    return Objects.requireNonNull(traversal);
  }

  /// SEARCH and CYCLE that follow; null if neither does.
  public @Nullable Traversal traversal() {
    int position = in.peek().start() + 1;
    Traversal.Search search = search();
    Traversal.Cycle cycle = cycle();
    return search == null && cycle == null ? null : new Traversal(search, cycle, position);
  }

  private Traversal.@Nullable Search search() {
    if (!in.acceptWords("search")) {
      return null;
    }
    boolean breadth = in.acceptWords("breadth");
    if (!breadth) {
      in.expectWord("depth");
    }
    in.expectWord("first");
    in.expectWord("by");
    List<QualifiedName> columns = names();
    in.expectWord("set");
    return new Traversal.Search(breadth, columns, pieces.name());
  }

  private Traversal.@Nullable Cycle cycle() {
    if (!in.acceptWords("cycle")) {
      return null;
    }
    List<QualifiedName> columns = names();
    in.expectWord("set");
    QualifiedName mark = pieces.name();
    Source value = null;
    Source otherwise = null;
    if (in.acceptWords("to")) {
      value = pieces.until(pieces.clause("default"));
      in.expectWord("default");
      otherwise = pieces.until(pieces.clause("using"));
    }
    in.expectWord("using");
    return new Traversal.Cycle(columns, mark, value, otherwise, pieces.name());
  }

  private List<QualifiedName> names() {
    List<QualifiedName> names = new ArrayList<>();
    do {
      names.add(pieces.name());
    } while (in.acceptOperator(","));
    return names;
  }
}
