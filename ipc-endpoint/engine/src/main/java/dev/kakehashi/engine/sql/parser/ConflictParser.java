package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Conflict;
import dev.kakehashi.engine.sql.parser.ParsedStatement.ConflictAction;
import dev.kakehashi.engine.sql.parser.ParsedStatement.ConflictNothing;
import dev.kakehashi.engine.sql.parser.ParsedStatement.ConflictSelect;
import dev.kakehashi.engine.sql.parser.ParsedStatement.ConflictUpdate;
import dev.kakehashi.engine.sql.spelling.LockClause;
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
    int position = in.peek(-2).start() + 1;
    int targetPosition = in.peek().start() + 1;
    if (in.acceptWords("on", "constraint")) {
      constraint = pieces.name();
    } else if (in.peek().isOperator("(")) {
      inference();
    }
    in.expectWord("do");
    return new Conflict(
        constraint, columns, expressions, predicate, action(), position, targetPosition);
  }

  private ConflictAction action() {
    if (in.acceptWords("nothing")) {
      return new ConflictNothing();
    }
    if (in.acceptWords("select")) {
      return new ConflictSelect(
          in.acceptWords("for") ? LockClause.strength(in) : null, statement.where());
    }
    in.expectWord("update");
    in.expectWord("set");
    return new ConflictUpdate(statement.assignments("where", "returning"), statement.where());
  }

  /// Refuses what the grammar takes and no INSERT may have.
  ///
  /// @param returning of the INSERT
  static void check(Conflict conflict, ParsedStatement.@Nullable ReturningClause returning) {
    boolean selects = conflict.action() instanceof ConflictSelect;
    if (selects && returning == null) {
      throw new EngineException(
              ErrorCode.SYNTAX_ERROR, "ON CONFLICT DO SELECT requires a RETURNING clause")
          .withPosition(conflict.position());
    }
    if (!(conflict.action() instanceof ConflictNothing) && !conflict.hasTarget()) {
      throw new EngineException(
              ErrorCode.SYNTAX_ERROR,
              "ON CONFLICT DO "
                  + (selects ? "SELECT" : "UPDATE")
                  + " requires inference specification or constraint name")
          .withPosition(conflict.position())
          .withHint("For example, ON CONFLICT (column_name).");
    }
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
