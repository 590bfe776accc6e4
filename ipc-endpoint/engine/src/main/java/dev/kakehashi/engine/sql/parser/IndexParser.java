package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.DdlStatement.IndexElement;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Parser of CREATE INDEX, after these words.
final class IndexParser {
  /// Operator classes for the order that all indexes have, that by bytes. PostgreSQL has a class for each type besides.
  private static final Set<String> OPERATOR_CLASSES =
      Set.of(
          """
          text_ops varchar_ops bpchar_ops name_ops text_pattern_ops varchar_pattern_ops bpchar_pattern_ops
          int2_ops int4_ops int8_ops numeric_ops float4_ops float8_ops bool_ops bytea_ops uuid_ops date_ops
          time_ops timestamp_ops timestamptz_ops interval_ops\
          """
              .split("\\s+"));

  private final String sql;
  private final TokenReader in;

  IndexParser(String sql, TokenReader in) {
    this.sql = sql;
    this.in = in;
  }

  DdlStatement create(boolean unique) {
    // Others write meanwhile in any case.
    in.acceptWords("concurrently");
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    String name = in.peek().isWord("on") && !ifNotExists ? null : in.expectName();
    in.expectWord("on");
    in.acceptWords("only");
    QualifiedName table = in.name();
    if (in.acceptWords("using") && !in.acceptWords("btree")) {
      throw in.notSupported("index method \"" + in.peek().text() + "\"");
    }
    in.expectOperator("(");
    List<IndexElement> elements = new ArrayList<>();
    do {
      elements.add(element());
    } while (in.acceptOperator(","));
    in.expectOperator(")");
    if (in.peek().isWord("include")) {
      throw in.notSupported("INCLUDE of an index");
    }
    boolean nullsNotDistinct = nullsNotDistinct(in);
    StorageOptions.ofIndex(in);
    return new DdlStatement.CreateIndex(
        name,
        table,
        unique,
        ifNotExists,
        elements,
        nullsNotDistinct,
        in.acceptWords("where") ? in.rest() : null);
  }

  /// Takes NULLS [NOT] DISTINCT, if it follows.
  static boolean nullsNotDistinct(TokenReader in) {
    boolean notDistinct = in.acceptWords("nulls", "not", "distinct");
    if (!notDistinct) {
      in.acceptWords("nulls", "distinct");
    }
    return notDistinct;
  }

  private IndexElement element() {
    String column = null;
    String expression = null;
    String function = null;
    if (in.peek().isOperator("(")) {
      expression = in.parenthesised();
    } else if (in.peek(1).isOperator("(") || in.peek(1).isOperator(".")) {
      int start = in.peek().start();
      do {
        function = in.expectIdentifier();
      } while (in.acceptOperator("."));
      arguments();
      expression = sql.substring(start, in.peek(-1).end());
    } else {
      column = in.expectName();
    }
    String collation = in.acceptWords("collate") ? in.name().name() : null;
    operatorClass();
    boolean descending = in.acceptWords("desc");
    if (!descending) {
      in.acceptWords("asc");
    }
    boolean nullsFirst = descending;
    if (in.acceptWords("nulls", "first")) {
      nullsFirst = true;
    } else if (in.acceptWords("nulls", "last")) {
      nullsFirst = false;
    }
    return new IndexElement(column, expression, function, collation, descending, nullsFirst);
  }

  private void arguments() {
    in.expectOperator("(");
    for (int depth = 1; depth > 0; ) {
      Token token = in.next();
      if (token.kind() == Token.Kind.END) {
        throw in.syntaxError();
      }
      depth += token.isOperator("(") ? 1 : token.isOperator(")") ? -1 : 0;
    }
  }

  private void operatorClass() {
    Token token = in.peek();
    boolean ends = token.isWord("asc") || token.isWord("desc");
    boolean orders =
        token.isWord("nulls") && (in.peek(1).isWord("first") || in.peek(1).isWord("last"));
    if (ends || orders || !token.isIdentifier()) {
      return;
    }
    String name = in.name().name();
    if (!OPERATOR_CLASSES.contains(name)) {
      throw new EngineException(
              ErrorCode.UNDEFINED_OBJECT,
              "operator class \"" + name + "\" does not exist for access method \"btree\"")
          .withPosition(token.start() + 1);
    }
  }
}
