package dev.kakehashi.engine.sql;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads SEARCH and CYCLE behind a query of WITH.
final class TraversalParser {
  private final StatementParser statement;
  private final TokenReader in;

  TraversalParser(StatementParser statement) {
    this.statement = statement;
    this.in = statement.in;
  }

  /// What follows; null if it is neither.
  ParsedStatement.@Nullable Traversal traversal() {
    int position = in.peek().start() + 1;
    ParsedStatement.Search search = search();
    ParsedStatement.Cycle cycle = cycle();
    return search == null && cycle == null
        ? null
        : new ParsedStatement.Traversal(search, cycle, position);
  }

  private ParsedStatement.@Nullable Search search() {
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
    return new ParsedStatement.Search(breadth, columns, statement.name());
  }

  private ParsedStatement.@Nullable Cycle cycle() {
    if (!in.acceptWords("cycle")) {
      return null;
    }
    List<QualifiedName> columns = names();
    in.expectWord("set");
    QualifiedName mark = statement.name();
    Source value = null;
    Source otherwise = null;
    if (in.acceptWords("to")) {
      value = statement.until(statement.clause("default"));
      in.expectWord("default");
      otherwise = statement.until(statement.clause("using"));
    }
    in.expectWord("using");
    return new ParsedStatement.Cycle(columns, mark, value, otherwise, statement.name());
  }

  private List<QualifiedName> names() {
    List<QualifiedName> names = new ArrayList<>();
    do {
      names.add(statement.name());
    } while (in.acceptOperator(","));
    return names;
  }
}
