package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Assignment;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Conflict;
import dev.kakehashi.engine.sql.spelling.PieceReader;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Parser of ON CONFLICT, after these words.
final class ConflictParser {
  private final StatementParser statement;
  private final PieceReader pieces;
  private final TokenReader in;
  private @Nullable QualifiedName constraint;
  private @Nullable List<QualifiedName> columns;
  private final List<Source> expressions = new ArrayList<>();
  private @Nullable Source predicate;

  ConflictParser(StatementParser statement) {
    this.statement = statement;
    this.pieces = statement.pieces;
    this.in = statement.in;
  }

  Conflict conflict() {
    int position = in.peek().start() + 1;
    if (in.acceptWords("on", "constraint")) {
      constraint = pieces.name();
    } else if (in.peek().isOperator("(")) {
      inference();
    }
    in.expectWord("do");
    if (in.acceptWords("nothing")) {
      return new Conflict(constraint, columns, expressions, predicate, null, null, position);
    }
    in.expectWord("update");
    in.expectWord("set");
    if (constraint == null && columns == null) {
      throw new EngineException(
              ErrorCode.SYNTAX_ERROR,
              "ON CONFLICT DO UPDATE requires inference specification or constraint name")
          .withPosition(position)
          .withHint("For example, ON CONFLICT (column_name).");
    }
    List<Assignment> assignments = statement.assignments("where", "returning");
    return new Conflict(
        constraint, columns, expressions, predicate, assignments, statement.where(), position);
  }

  /// `(column or expression [COLLATE ...] [operator class], ...) [WHERE predicate]`
  private void inference() {
    int close = pieces.closing(in.at);
    List<QualifiedName> names = new ArrayList<>();
    in.at++;
    do {
      boolean call = in.peek(1).isOperator("(") || in.peek(1).isOperator(".");
      if (in.peek().isIdentifier() && !call) {
        names.add(pieces.name());
      } else if (in.peek().isOperator("(")) {
        expressions.add(pieces.until(pieces.closing(in.at) + 1));
      } else {
        int open = in.at;
        while (open < close && !in.tokens().get(open).isOperator("(")) {
          open++;
        }
        expressions.add(pieces.until(open < close ? pieces.closing(open) + 1 : close));
      }
      if (in.acceptWords("collate")) {
        pieces.qualifiedName();
      }
      if (in.peek().isIdentifier()) {
        // An operator class: all indexes have the default one.
        pieces.qualifiedName();
      }
    } while (in.acceptOperator(","));
    in.expectOperator(")");
    columns = names;
    if (in.acceptWords("where")) {
      predicate = pieces.until(pieces.clause("do"));
    }
  }
}
