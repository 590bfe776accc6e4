package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.sql.DdlStatement.Alteration;
import dev.kakehashi.engine.sql.DdlStatement.CheckDefinition;
import dev.kakehashi.engine.sql.DdlStatement.ColumnDefinition;
import dev.kakehashi.engine.sql.DdlStatement.Constraints;
import dev.kakehashi.engine.sql.DdlStatement.KeyDefinition;
import dev.kakehashi.engine.sql.DdlStatement.LikeOption;
import dev.kakehashi.engine.sql.DdlStatement.Name;
import dev.kakehashi.engine.sql.DdlStatement.SequenceColumn;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parser of CREATE TABLE and of the actions of ALTER TABLE.
final class TableParser {
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

  private static final Map<String, SqlType> SERIAL_TYPES =
      Map.of(
          "smallserial", SqlType.of(TypeOid.INT2),
          "serial2", SqlType.of(TypeOid.INT2),
          "serial", SqlType.of(TypeOid.INT4),
          "serial4", SqlType.of(TypeOid.INT4),
          "bigserial", SqlType.of(TypeOid.INT8),
          "serial8", SqlType.of(TypeOid.INT8));

  private final String sql;
  private final TokenReader in;

  TableParser(String sql, TokenReader in) {
    this.sql = sql;
    this.in = in;
  }

  /// CREATE TABLE, after these words.
  DdlStatement create() {
    boolean ifNotExists = in.acceptWords("if", "not", "exists");
    Name name = in.name();
    if (in.peek().isWord("as") || namesOnly()) {
      List<String> names = in.peek().isWord("as") ? List.of() : in.identifiers();
      return createAs(name, ifNotExists, names);
    }
    List<ColumnDefinition> columns = new ArrayList<>();
    List<DdlStatement.Like> likes = new ArrayList<>();
    Constraints constraints = Constraints.empty();
    in.expectOperator("(");
    if (!in.acceptOperator(")")) {
      do {
        if (in.acceptWords("like")) {
          likes.add(like(columns.size()));
        } else if (!tableConstraint(constraints)) {
          columns.add(column(constraints));
        }
      } while (in.acceptOperator(","));
      in.expectOperator(")");
    }
    return new DdlStatement.CreateTable(name, ifNotExists, columns, constraints, likes);
  }

  /// Whether names of columns without types follow, as they do before AS.
  private boolean namesOnly() {
    return in.peek().isOperator("(")
        && in.peek(1).isIdentifier()
        && (in.peek(2).isOperator(",") || in.peek(2).isOperator(")"));
  }

  private DdlStatement createAs(Name name, boolean ifNotExists, List<String> columns) {
    in.expectWord("as");
    int start = in.peek().start();
    int end = start;
    Boolean data = null;
    while (!in.atEnd() && !in.peek().isOperator(";")) {
      boolean none = in.acceptWords("with", "no", "data");
      if (none || in.acceptWords("with", "data")) {
        data = !none;
        break;
      }
      end = in.next().end();
    }
    if (end == start) {
      throw in.syntaxError();
    }
    return new DdlStatement.CreateTableAs(
        name, ifNotExists, columns, sql.substring(start, end), start, data == null || data);
  }

  /// @param position of the columns among those of the table
  private DdlStatement.Like like(int position) {
    Name source = in.name();
    Set<LikeOption> options = EnumSet.noneOf(LikeOption.class);
    while (true) {
      boolean including = in.acceptWords("including");
      if (!including && !in.acceptWords("excluding")) {
        return new DdlStatement.Like(position, source, options);
      }
      Token word = in.next();
      Set<LikeOption> named = EnumSet.allOf(LikeOption.class);
      named.removeIf(
          option -> !word.isWord("all") && !word.isWord(option.name().toLowerCase(Locale.ROOT)));
      if (named.isEmpty()) {
        throw TokenReader.syntaxErrorAt(sql, word);
      }
      if (including) {
        options.addAll(named);
      } else {
        options.removeAll(named);
      }
    }
  }

  /// The actions of ALTER TABLE.
  List<Alteration> alterations() {
    if (in.acceptWords("rename", "to")) {
      return List.of(new Alteration.RenameTable(in.expectIdentifier()));
    }
    if (in.acceptWords("set", "schema")) {
      return List.of(new Alteration.SetSchema(in.expectIdentifier()));
    }
    if (in.acceptWords("rename", "constraint")) {
      String from = in.expectIdentifier();
      in.expectWord("to");
      return List.of(new Alteration.RenameConstraint(from, in.expectIdentifier()));
    }
    if (in.acceptWords("rename")) {
      in.acceptWords("column");
      String from = in.expectIdentifier();
      in.expectWord("to");
      return List.of(new Alteration.RenameColumn(from, in.expectIdentifier()));
    }
    List<Alteration> alterations = new ArrayList<>();
    do {
      alterations.add(alteration());
    } while (in.acceptOperator(","));
    return alterations;
  }

  private Alteration alteration() {
    Constraints constraints = Constraints.empty();
    if (in.acceptWords("add")) {
      if (tableConstraint(constraints)) {
        return new Alteration.AddConstraint(constraints);
      }
      in.acceptWords("column");
      boolean ifNotExists = in.acceptWords("if", "not", "exists");
      return new Alteration.AddColumn(column(constraints), ifNotExists, constraints);
    }
    if (in.acceptWords("drop", "constraint")) {
      boolean ifExists = in.acceptWords("if", "exists");
      String name = in.expectIdentifier();
      return new Alteration.DropConstraint(name, ifExists, in.cascade());
    }
    if (in.acceptWords("drop")) {
      in.acceptWords("column");
      boolean ifExists = in.acceptWords("if", "exists");
      String name = in.expectIdentifier();
      return new Alteration.DropColumn(name, ifExists, in.cascade());
    }
    if (in.acceptWords("validate", "constraint")) {
      return new Alteration.ValidateConstraint(in.expectIdentifier());
    }
    if (in.acceptWords("alter", "constraint")) {
      return new Alteration.AlterConstraint(in.expectIdentifier(), ConstraintTiming.parse(in));
    }
    if (in.acceptWords("alter")) {
      in.acceptWords("column");
      return alterColumn(in.expectIdentifier());
    }
    throw in.notSupported("ALTER TABLE ... " + in.peek().text());
  }

  private Alteration alterColumn(String column) {
    Alteration identity = new IdentityParser(in).alteration(column);
    if (identity != null) {
      return identity;
    }
    if (in.acceptWords("set", "default")) {
      return new Alteration.SetDefault(column, expressionText());
    }
    if (in.acceptWords("drop", "default")) {
      return new Alteration.SetDefault(column, null);
    }
    if (in.acceptWords("set", "not", "null")) {
      return new Alteration.SetNotNull(column, true);
    }
    if (in.acceptWords("drop", "not", "null")) {
      return new Alteration.SetNotNull(column, false);
    }
    if (in.acceptWords("drop", "expression")) {
      return new Alteration.DropExpression(column, in.acceptWords("if", "exists"));
    }
    boolean typed = in.acceptWords("set", "data", "type") || in.acceptWords("type");
    if (!typed) {
      throw in.notSupported("ALTER COLUMN ... " + in.peek().text());
    }
    SqlType type = in.type();
    if (in.acceptWords("collate")) {
      collation();
    }
    return new Alteration.SetType(column, type, in.acceptWords("using") ? expressionText() : null);
  }

  private boolean tableConstraint(Constraints constraints) {
    int save = in.at;
    String name = in.acceptWords("constraint") ? in.expectIdentifier() : null;
    boolean primary = in.acceptWords("primary", "key");
    if (primary
        || (in.peek().isWord("unique")
            && (in.peek(1).isOperator("(") || in.peek(1).isWord("using")))) {
      if (!primary) {
        in.expectWord("unique");
      }
      Token at = in.peek();
      String index = in.acceptWords("using", "index") ? in.expectIdentifier() : null;
      List<String> columns = index == null ? in.identifiers() : List.of();
      ForeignKey.Timing timing = ConstraintTiming.parse(in);
      if (index != null && timing != ForeignKey.Timing.NOT_DEFERRABLE) {
        throw TokenReader.notSupported(at, "deferrable constraint USING INDEX");
      }
      constraints.keys().add(new KeyDefinition(name, columns, primary, index, timing));
      return true;
    }
    if (in.peek().isWord("check") && in.peek(1).isOperator("(")) {
      in.at++;
      constraints.checks().add(new CheckDefinition(name, parenthesised()));
      return true;
    }
    if (in.acceptWords("foreign", "key")) {
      constraints.foreignKeys().add(new ForeignKeyParser(in).parse(name, in.identifiers()));
      return true;
    }
    in.at = save;
    return false;
  }

  private ColumnDefinition column(Constraints constraints) {
    String name = in.expectIdentifier();
    SqlType serial =
        in.peek().kind() == Token.Kind.WORD ? SERIAL_TYPES.get(in.peek().text()) : null;
    SequenceColumn sequence = null;
    if (serial != null) {
      in.at++;
      sequence = new SequenceColumn(Column.Generated.SERIAL, DdlStatement.SequenceOptions.NONE);
    }
    SqlType type = serial != null ? serial : in.type();
    boolean notNull = serial != null;
    String defaultText = null;
    String generation = null;
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
          constraints
              .keys()
              .add(
                  new KeyDefinition(
                      constraint, List.of(name), true, null, ConstraintTiming.parse(in)));
        }
        case "unique" -> {
          constraints
              .keys()
              .add(
                  new KeyDefinition(
                      constraint, List.of(name), false, null, ConstraintTiming.parse(in)));
        }
        case "check" -> constraints.checks().add(new CheckDefinition(constraint, parenthesised()));
        case "default" -> defaultText = expressionText();
        case "references" ->
            constraints
                .foreignKeys()
                .add(new ForeignKeyParser(in).references(constraint, List.of(name)));
        case "collate" -> collation();
        case "generated" -> {
          String expression = generation();
          if (expression == null) {
            sequence = new IdentityParser(in).generated();
            notNull = true;
          } else if (generation != null) {
            throw conflicting("multiple generation clauses specified", word);
          } else {
            generation = expression;
          }
        }
        default -> throw TokenReader.notSupported(word, word.text() + " constraint");
      }
    }
    if (generation != null && (defaultText != null || sequence != null)) {
      throw conflicting(
          "both %s and generation expression specified for column \"%s\""
              .formatted(defaultText != null || serial != null ? "default" : "identity", name),
          in.peek());
    }
    return new ColumnDefinition(name, type, notNull, defaultText, sequence, generation);
  }

  /// ALWAYS AS (expression) STORED; null if something else follows.
  private @Nullable String generation() {
    if (!in.peek().isWord("always") || !in.peek(1).isWord("as") || !in.peek(2).isOperator("(")) {
      return null;
    }
    in.at += 2;
    String expression = parenthesised();
    if (in.peek().isWord("virtual")) {
      throw in.notSupported("virtual generated column");
    }
    in.expectWord("stored");
    return expression;
  }

  private static EngineException conflicting(String message, Token at) {
    return new EngineException(ErrorCode.SYNTAX_ERROR, message).withPosition(at.start() + 1);
  }

  /// The expression in parentheses that follows.
  private String parenthesised() {
    in.expectOperator("(");
    int start = in.peek().start();
    int end = start;
    for (int depth = 0; depth > 0 || !in.peek().isOperator(")"); ) {
      Token token = in.next();
      if (token.kind() == Token.Kind.END) {
        throw in.syntaxError();
      }
      depth += token.isOperator("(") ? 1 : token.isOperator(")") ? -1 : 0;
      end = token.end();
    }
    in.expectOperator(")");
    if (end == start) {
      throw in.syntaxError();
    }
    return sql.substring(start, end);
  }

  private void collation() {
    Token token = in.next();
    if (!token.text().equals("C") && !token.text().equals("POSIX")) {
      throw TokenReader.notSupported(token, "collation \"" + token.text() + "\"");
    }
  }

  /// Text up to the end of the column or its next constraint.
  private String expressionText() {
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
}
