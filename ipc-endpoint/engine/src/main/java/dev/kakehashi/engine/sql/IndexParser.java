package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.sql.DdlStatement.Name;
import java.util.ArrayList;
import java.util.List;

/// Parser of CREATE INDEX, after these words.
final class IndexParser {
  private final TokenReader in;

  IndexParser(TokenReader in) {
    this.in = in;
  }

  DdlStatement create(boolean unique) {
    // Others write meanwhile in any case.
    in.acceptWords("concurrently");
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    String name = in.peek().isWord("on") && !ifNotExists ? null : in.expectName();
    in.expectWord("on");
    Name table = in.name();
    if (in.acceptWords("using") && !in.acceptWords("btree")) {
      throw in.notSupported("index method \"" + in.peek().text() + "\"");
    }
    in.expectOperator("(");
    List<String> columns = new ArrayList<>();
    List<Boolean> descending = new ArrayList<>();
    do {
      if (in.peek().isOperator("(") || in.peek(1).isOperator("(")) {
        throw in.notSupported("index on expressions")
            .withHint("A generated column can have an index.");
      }
      columns.add(in.expectName());
      boolean desc = in.acceptWords("desc");
      if (!desc) {
        in.acceptWords("asc");
      }
      nulls(desc);
      descending.add(desc);
    } while (in.acceptOperator(","));
    in.expectOperator(")");
    if (in.peek().isWord("include")) {
      throw in.notSupported("INCLUDE of an index");
    }
    return new DdlStatement.CreateIndex(
        name,
        table,
        unique,
        ifNotExists,
        columns,
        descending,
        in.acceptWords("where") ? in.rest() : null);
  }

  /// Nulls are greater than everything.
  private void nulls(boolean descending) {
    if (!in.acceptWords("nulls", descending ? "first" : "last")
        && in.acceptWords("nulls", descending ? "last" : "first")) {
      throw in.notSupported(descending ? "DESC NULLS LAST" : "ASC NULLS FIRST");
    }
  }
}
