package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.sql.algebra.Collations;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.DdlStatement.CheckDefinition;
import dev.kakehashi.engine.sql.parser.DdlStatement.ColumnDefinition;
import dev.kakehashi.engine.sql.parser.DdlStatement.Constraints;
import dev.kakehashi.engine.sql.parser.DdlStatement.KeyDefinition;
import dev.kakehashi.engine.sql.parser.DdlStatement.SequenceColumn;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Parser of a column: its name, type and clauses, of which some exclude each other.
final class ColumnParser {
  private static final Set<String> CLAUSES =
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

  /// After these NULL is a value.
  private static final Set<String> BEFORE_OPERAND =
      Set.of("from", "and", "or", "not", "is", "in", "like", "between", "any", "all", "some");

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
  private final Constraints constraints;
  private String name = "";
  private boolean serial;

  /// Nullability by NULL, NOT NULL and clauses that imply NOT NULL; null: not given.
  private @Nullable Boolean nullable;

  private @Nullable String defaultText;
  private @Nullable SequenceColumn identity;
  private @Nullable String generation;
  private boolean collated;

  /// The first clause that contradicts another. PostgreSQL says it after IF NOT EXISTS was looked at.
  private @Nullable EngineException conflict;

  /// @param constraints gets those of the column
  ColumnParser(String sql, TokenReader in, Constraints constraints) {
    this.sql = sql;
    this.in = in;
    this.constraints = constraints;
  }

  ColumnDefinition column() {
    name = in.expectName();
    SqlType type = type();
    while (in.peek().kind() == Token.Kind.WORD && CLAUSES.contains(in.peek().text())) {
      clause(type);
    }
    SequenceColumn sequence = identity;
    if (serial) {
      // PostgreSQL adds these behind the clauses.
      refuse(defaultText != null, "multiple default values specified for column");
      refuse(identity != null, "both default and identity specified for column");
      refuse(generation != null, "both default and generation expression specified for column");
      saysNullable(false);
      sequence = new SequenceColumn(Column.Generated.SERIAL, SequenceOptions.NONE);
    }
    boolean notNull = Boolean.FALSE.equals(nullable);
    return new ColumnDefinition(name, type, notNull, defaultText, sequence, generation, conflict);
  }

  private SqlType type() {
    SqlType made = in.peek().kind() == Token.Kind.WORD ? SERIAL_TYPES.get(in.peek().text()) : null;
    if (made == null) {
      return in.type();
    }
    serial = true;
    in.at++;
    if (in.peek().isOperator("[") || in.peek().isWord("array")) {
      throw in.notSupported("array of serial");
    }
    return made;
  }

  private void clause(SqlType type) {
    String constraint = in.acceptWords("constraint") ? in.expectName() : null;
    Token word = in.next();
    switch (word.text()) {
      case "not" -> {
        in.expectWord("null");
        saysNullable(false);
      }
      case "null" -> saysNullable(true);
      case "primary" -> {
        in.expectWord("key");
        addKey(constraint, true);
      }
      case "unique" -> addKey(constraint, false);
      case "check" -> {
        constraints.checks().add(new CheckDefinition(constraint, in.parenthesised(), false));
        // There is no inheritance here.
        in.acceptWords("no", "inherit");
      }
      case "default" -> {
        String text = defaultText();
        refuse(defaultText != null, "multiple default values specified for column");
        defaultText = text;
      }
      case "references" ->
          constraints
              .foreignKeys()
              .add(new ForeignKeyParser(in).references(constraint, List.of(name)));
      case "collate" -> {
        in.at--;
        if (collated) {
          throw refusal("multiple COLLATE clauses not allowed for column");
        }
        collated = acceptCollation(in, type);
      }
      case "generated" -> generated();
      default -> {
        in.at--;
        throw in.syntaxError();
      }
    }
    refuse(
        defaultText != null && identity != null, "both default and identity specified for column");
    refuse(
        defaultText != null && generation != null,
        "both default and generation expression specified for column");
    refuse(
        identity != null && generation != null,
        "both identity and generation expression specified for column");
  }

  private void generated() {
    String expression = generation();
    if (expression != null) {
      refuse(generation != null, "multiple generation clauses specified for column");
      generation = expression;
      return;
    }
    SequenceColumn sequence = new IdentityParser(in).generated(this::keep);
    refuse(identity != null, "multiple identity specifications for column");
    identity = sequence;
    saysNullable(false);
  }

  private void addKey(@Nullable String constraint, boolean primary) {
    boolean nullsNotDistinct = !primary && IndexParser.nullsNotDistinct(in);
    StorageOptions.ofIndex(in);
    constraints
        .keys()
        .add(
            new KeyDefinition(
                constraint,
                List.of(name),
                primary,
                nullsNotDistinct,
                null,
                ConstraintTiming.parse(in)));
  }

  private void saysNullable(boolean now) {
    refuse(
        nullable != null && nullable != now, "conflicting NULL/NOT NULL declarations for column");
    nullable = now;
  }

  private void refuse(boolean isWrong, String message) {
    if (isWrong) {
      keep(refusal(message));
    }
  }

  private void keep(EngineException contradiction) {
    if (conflict == null) {
      conflict = contradiction;
    }
  }

  private EngineException refusal(String message) {
    return new EngineException(ErrorCode.SYNTAX_ERROR, message + " \"" + name + "\"")
        .withPosition(in.peek().start() + 1);
  }

  /// ALWAYS AS (expression) STORED; null if something else follows.
  private @Nullable String generation() {
    if (!in.peek().isWord("always") || !in.peek(1).isWord("as") || !in.peek(2).isOperator("(")) {
      return null;
    }
    in.at += 2;
    String expression = in.parenthesised();
    if (in.peek().isWord("virtual")) {
      throw in.notSupported("virtual generated column");
    }
    in.expectWord("stored");
    return expression;
  }

  /// Takes COLLATE and a name, if they follow.
  static boolean acceptCollation(TokenReader in, SqlType type) {
    if (!in.acceptWords("collate")) {
      return false;
    }
    Token token = in.peek();
    String collation = in.name().name();
    if (!Collations.isOfBytes(collation)) {
      throw TokenReader.notSupported(token, "collation \"" + collation + "\"");
    }
    Collations.require(type);
    return true;
  }

  /// Text up to the end of the column or its next clause. PostgreSQL takes an expression without AND, OR, NOT, IS NULL and their like here,
  /// unless it is in parentheses.
  private String defaultText() {
    int start = in.peek().start();
    int end = start;
    int depth = 0;
    while (!in.atEnd()) {
      Token token = in.peek();
      if (depth == 0
          && (token.isOperator(",")
              || token.isOperator(")")
              || (token.kind() == Token.Kind.WORD
                  && CLAUSES.contains(token.text())
                  && !(token.isWord("null") && (end == start || isBeforeOperand(in.peek(-1))))))) {
        break;
      }
      depth += token.isOperator("(") || token.isWord("case") ? 1 : 0;
      depth -= token.isOperator(")") || token.isWord("end") ? 1 : 0;
      end = token.end();
      in.at++;
    }
    if (end == start) {
      throw in.syntaxError();
    }
    return sql.substring(start, end);
  }

  private static boolean isBeforeOperand(Token token) {
    return token.kind() == Token.Kind.OPERATOR
        ? !token.isOperator(")") && !token.isOperator("]")
        : token.kind() == Token.Kind.WORD && BEFORE_OPERAND.contains(token.text());
  }
}
