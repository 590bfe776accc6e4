package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Match;
import dev.kakehashi.engine.sql.parser.ParsedStatement.MergeAction;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Target;
import dev.kakehashi.engine.sql.parser.ParsedStatement.When;
import dev.kakehashi.engine.sql.spelling.PieceReader;
import dev.kakehashi.engine.sql.spelling.Source;
import java.util.ArrayList;
import java.util.List;

/// Cuts MERGE into pieces, behind its first two words.
final class MergeParser {
  private final StatementParser statement;
  private final PieceReader pieces;
  private final TokenReader in;

  MergeParser(StatementParser statement) {
    this.statement = statement;
    this.pieces = statement.pieces;
    this.in = statement.in;
  }

  ParsedStatement.Merge merge() {
    in.acceptWords("only");
    QualifiedName table = pieces.qualifiedName();
    String alias = statement.alias("using");
    in.expectWord("using");
    Source using = pieces.until(on(), "select * from ");
    in.expectWord("on");
    Source condition = pieces.until(pieces.clause("when"));
    List<When> clauses = new ArrayList<>();
    do {
      clauses.add(when());
    } while (in.peek().isWord("when"));
    return new ParsedStatement.Merge(
        new Target(table, alias), using, condition, clauses, statement.returning());
  }

  /// Index of the ON of the statement: the last one before the first WHEN, as joins of the source may have theirs.
  private int on() {
    int from = in.at;
    int when = pieces.clause("when");
    int on = when;
    for (int at = pieces.clause("on"); at < when; at = pieces.clause("on")) {
      on = at;
      in.at = at + 1;
    }
    in.at = from;
    return on;
  }

  private When when() {
    int position = in.peek().start() + 1;
    in.expectWord("when");
    Match match = match();
    Source condition = in.acceptWords("and") ? pieces.until(pieces.clause("then")) : null;
    in.expectWord("then");
    return new When(match, condition, action(match), position);
  }

  private Match match() {
    if (in.acceptWords("matched")) {
      return Match.MATCHED;
    }
    in.expectWord("not");
    in.expectWord("matched");
    if (in.acceptWords("by", "source")) {
      return Match.NOT_MATCHED_BY_SOURCE;
    }
    in.acceptWords("by", "target");
    return Match.NOT_MATCHED_BY_TARGET;
  }

  private MergeAction action(Match match) {
    if (in.acceptWords("do", "nothing")) {
      return new ParsedStatement.MergeNothing();
    }
    if (match == Match.NOT_MATCHED_BY_TARGET) {
      in.expectWord("insert");
      return insert();
    }
    if (in.acceptWords("delete")) {
      return new ParsedStatement.MergeDelete();
    }
    in.expectWord("update");
    in.expectWord("set");
    return new ParsedStatement.MergeUpdate(statement.assignments("when", "returning"));
  }

  private MergeAction insert() {
    List<QualifiedName> columns = in.peek().isOperator("(") ? statement.columnList() : List.of();
    ParsedStatement.Overriding overriding = statement.overriding();
    if (in.acceptWords("default", "values")) {
      return new ParsedStatement.MergeInsert(columns, overriding, null);
    }
    if (!in.peek().isWord("values")) {
      throw in.syntaxError();
    }
    return new ParsedStatement.MergeInsert(
        columns, overriding, pieces.until(pieces.clause("when", "returning")));
  }
}
