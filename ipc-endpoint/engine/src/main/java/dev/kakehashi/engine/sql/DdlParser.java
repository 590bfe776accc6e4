package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.sql.DdlStatement.ColumnDefinition;
import dev.kakehashi.engine.sql.DdlStatement.KeyDefinition;
import dev.kakehashi.engine.sql.DdlStatement.Name;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parser of the DDL that the engine has: CREATE and DROP of TABLE, INDEX, SCHEMA; TRUNCATE.
final class DdlParser {
  private static final Set<String> COLUMN_CONSTRAINTS =
      Set.of(
          "not",
          "null",
          "primary",
          "unique",
          "default",
          "constraint",
          "check",
          "references",
          "collate",
          "generated");

  private final String sql;
  private final TokenReader in;

  private DdlParser(String sql, List<Token> tokens) {
    this.sql = sql;
    this.in = new TokenReader(sql, tokens, 0);
  }

  /// Whether the statement is DDL.
  static boolean accepts(List<Token> tokens) {
    Token first = tokens.getFirst();
    return first.isWord("create")
        || first.isWord("drop")
        || first.isWord("truncate")
        || first.isWord("alter");
  }

  static DdlStatement parse(String sql, List<Token> tokens) {
    DdlParser parser = new DdlParser(sql, tokens);
    DdlStatement statement = parser.statement();
    parser.in.expectEnd();
    return statement;
  }

  private DdlStatement statement() {
    if (in.acceptWords("create", "table")) {
      return createTable();
    }
    if (in.acceptWords("create", "unique", "index")) {
      return createIndex(true);
    }
    if (in.acceptWords("create", "index")) {
      return createIndex(false);
    }
    if (in.acceptWords("create", "schema")) {
      boolean ifNotExists = in.acceptWords("if", "not", "exists");
      return new DdlStatement.CreateSchema(in.expectIdentifier(), ifNotExists);
    }
    if (in.acceptWords("drop", "table")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<Name> names = names();
      cascade();
      return new DdlStatement.DropTable(names, ifExists);
    }
    if (in.acceptWords("drop", "index")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<Name> names = names();
      cascade();
      return new DdlStatement.DropIndex(names, ifExists);
    }
    if (in.acceptWords("drop", "schema")) {
      boolean ifExists = in.acceptWords("if", "exists");
      List<String> names = new ArrayList<>();
      do {
        names.add(in.expectIdentifier());
      } while (in.acceptOperator(","));
      return new DdlStatement.DropSchema(names, ifExists, cascade());
    }
    if (in.acceptWords("truncate")) {
      in.acceptWords("table");
      in.acceptWords("only");
      List<Name> names = names();
      cascade();
      return new DdlStatement.Truncate(names);
    }
    throw notSupported(in.peek(), in.peek().text() + " " + in.peek(1).text());
  }

  private boolean cascade() {
    if (in.acceptWords("cascade")) {
      return true;
    }
    in.acceptWords("restrict");
    return false;
  }

  private List<Name> names() {
    List<Name> names = new ArrayList<>();
    do {
      names.add(name());
    } while (in.acceptOperator(","));
    return names;
  }

  private Name name() {
    return in.name();
  }

  private DdlStatement createIndex(boolean unique) {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    String name = in.peek().isWord("on") ? null : in.expectIdentifier();
    in.expectWord("on");
    Name table = name();
    if (in.acceptWords("using") && !in.acceptWords("btree")) {
      throw notSupported(in.peek(), "index method \"" + in.peek().text() + "\"");
    }
    in.expectOperator("(");
    List<String> columns = new ArrayList<>();
    List<Boolean> descending = new ArrayList<>();
    do {
      columns.add(in.expectIdentifier());
      boolean desc = in.acceptWords("desc");
      if (!desc) {
        in.acceptWords("asc");
      }
      descending.add(desc);
    } while (in.acceptOperator(","));
    in.expectOperator(")");
    return new DdlStatement.CreateIndex(name, table, unique, ifNotExists, columns, descending);
  }

  private DdlStatement createTable() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    Name name = name();
    List<ColumnDefinition> columns = new ArrayList<>();
    List<KeyDefinition> keys = new ArrayList<>();
    in.expectOperator("(");
    if (!in.acceptOperator(")")) {
      do {
        if (!tableConstraint(keys)) {
          columns.add(column(keys));
        }
      } while (in.acceptOperator(","));
      in.expectOperator(")");
    }
    return new DdlStatement.CreateTable(name, ifNotExists, columns, keys);
  }

  private boolean tableConstraint(List<KeyDefinition> keys) {
    int save = in.at;
    String name = in.acceptWords("constraint") ? in.expectIdentifier() : null;
    boolean primary = in.acceptWords("primary", "key");
    if (primary || (in.peek().isWord("unique") && in.peek(1).isOperator("("))) {
      if (!primary) {
        in.expectWord("unique");
      }
      in.expectOperator("(");
      List<String> columns = new ArrayList<>();
      do {
        columns.add(in.expectIdentifier());
      } while (in.acceptOperator(","));
      in.expectOperator(")");
      keys.add(new KeyDefinition(name, columns, primary));
      return true;
    }
    if ((in.peek().isWord("check") && in.peek(1).isOperator("("))
        || (in.peek().isWord("foreign") && in.peek(1).isWord("key"))) {
      throw notSupported(in.peek(), in.peek().text() + " constraint");
    }
    in.at = save;
    return false;
  }

  private ColumnDefinition column(List<KeyDefinition> keys) {
    String name = in.expectIdentifier();
    SqlType type = in.type();
    boolean notNull = false;
    String defaultText = null;
    while (in.peek().kind() == Token.Kind.WORD && COLUMN_CONSTRAINTS.contains(in.peek().text())) {
      String constraint = in.acceptWords("constraint") ? in.expectIdentifier() : null;
      Token word = in.next();
      switch (word.text()) {
        case "not" -> {
          in.expectWord("null");
          notNull = true;
        }
        case "null" -> notNull = false;
        case "primary" -> {
          in.expectWord("key");
          keys.add(new KeyDefinition(constraint, List.of(name), true));
        }
        case "unique" -> keys.add(new KeyDefinition(constraint, List.of(name), false));
        case "default" -> defaultText = expressionText();
        case "collate" -> collation();
        default -> throw notSupported(word, word.text() + " constraint");
      }
    }
    return new ColumnDefinition(name, type, notNull, defaultText);
  }

  private void collation() {
    Token token = in.next();
    if (!token.text().equals("C") && !token.text().equals("POSIX")) {
      throw notSupported(token, "collation \"" + token.text() + "\"");
    }
  }

  /// Text up to the end of the column or its next constraint.
  private @Nullable String expressionText() {
    int start = in.peek().start();
    int end = start;
    int depth = 0;
    while (!in.atEnd()) {
      Token token = in.peek();
      if (depth == 0
          && (token.isOperator(",")
              || token.isOperator(")")
              || (end > start
                  && token.kind() == Token.Kind.WORD
                  && COLUMN_CONSTRAINTS.contains(token.text())
                  && !token.isWord("null")))) {
        break;
      }
      depth += token.isOperator("(") ? 1 : token.isOperator(")") ? -1 : 0;
      end = token.end();
      in.at++;
    }
    if (end == start) {
      throw in.syntaxError();
    }
    return sql.substring(start, end);
  }

  private static EngineException notSupported(Token token, String what) {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, what + " is not supported")
        .withPosition(token.start() + 1);
  }
}
