package dev.kakehashi.engine.sql.parser;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.lexer.Token;
import dev.kakehashi.engine.sql.lexer.TokenReader;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Assignment;
import dev.kakehashi.engine.sql.parser.ParsedStatement.CommonTable;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Conflict;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Target;
import dev.kakehashi.engine.sql.spelling.PieceReader;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.SpellingTranslator;
import dev.kakehashi.engine.sql.spelling.Traversal;
import dev.kakehashi.engine.sql.spelling.TraversalParser;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Cuts a statement into pieces by its keywords outside of parentheses: WITH, INSERT, UPDATE and DELETE with the clauses that Calcite's
/// parser does not know. A piece is an expression or a query, and goes through [SpellingTranslator].
public final class StatementParser {
  private final String sql;
  private final List<Token> tokens;
  final PieceReader pieces;
  final TokenReader in;

  private StatementParser(String sql, List<Token> tokens, int from) {
    this.sql = sql;
    this.tokens = tokens;
    this.pieces = new PieceReader(sql, tokens, from);
    this.in = pieces.in;
  }

  /// Parses the statement that begins at token `from`.
  public static ParsedStatement parse(String sql, List<Token> tokens, int from) {
    StatementParser parser = new StatementParser(sql, tokens, from);
    while (parser.pieces.end > from && tokens.get(parser.pieces.end - 1).isOperator(";")) {
      parser.pieces.end--;
    }
    return parser.statement();
  }

  /// Parses the statement in parentheses, from token `from` to the one that closes them.
  static ParsedStatement parse(String sql, List<Token> tokens, int from, int close) {
    StatementParser parser = new StatementParser(sql, tokens, from);
    parser.pieces.end = close;
    return parser.statement();
  }

  private ParsedStatement statement() {
    if (in.peek().isWord("with")) {
      return with();
    }
    if (in.acceptWords("insert", "into")) {
      return insert();
    }
    if (in.peek().isWord("update")) {
      in.at++;
      return update();
    }
    if (in.acceptWords("delete", "from")) {
      return delete();
    }
    if (in.acceptWords("merge", "into")) {
      return new MergeParser(this).merge();
    }
    if (SpellingTranslator.CHANGES.contains(in.peek().text())
        && in.peek().kind() == Token.Kind.WORD) {
      in.at++;
      throw in.syntaxError();
    }
    return new ParsedStatement.Query(pieces.rest());
  }

  private ParsedStatement with() {
    in.at++;
    boolean recursive = in.acceptWords("recursive");
    List<CommonTable> tables = new ArrayList<>();
    do {
      QualifiedName name = pieces.name();
      List<String> columns =
          in.peek().isOperator("(")
              ? columnList().stream().map(QualifiedName::name).toList()
              : List.of();
      in.expectWord("as");
      Boolean materialized = null;
      if (in.acceptWords("not", "materialized")) {
        materialized = false;
      } else if (in.acceptWords("materialized")) {
        materialized = true;
      }
      if (!in.peek().isOperator("(")) {
        throw in.syntaxError();
      }
      int close = pieces.closing(in.at);
      in.at++;
      ParsedStatement query = nested(close);
      in.at = close + 1;
      Traversal traversal = new TraversalParser(pieces).traversal();
      tables.add(new CommonTable(name, columns, materialized, query, traversal));
    } while (in.acceptOperator(","));
    if (in.at >= pieces.end) {
      throw TokenReader.syntaxErrorAt(sql, tokens.get(pieces.end));
    }
    return new ParsedStatement.With(tables, recursive, statement());
  }

  /// The statement between here and a closing parenthesis.
  private ParsedStatement nested(int close) {
    int outer = pieces.end;
    int from = in.at;
    pieces.end = close;
    try {
      ParsedStatement statement = statement();
      if (!(statement instanceof ParsedStatement.With with)) {
        return statement;
      }
      for (CommonTable table : with.tables()) {
        if (!(table.query() instanceof ParsedStatement.Query)) {
          throw SpellingTranslator.notAtTopLevel(table.name().position());
        }
      }
      if (with.body() instanceof ParsedStatement.Query) {
        // Calcite's parser takes it as a whole.
        in.at = from;
        return new ParsedStatement.Query(pieces.rest());
      }
      return with;
    } finally {
      pieces.end = outer;
    }
  }

  private ParsedStatement insert() {
    QualifiedName table = pieces.qualifiedName();
    String alias = in.acceptWords("as") ? in.expectIdentifier() : null;
    List<QualifiedName> columns =
        in.peek().isOperator("(") && !beginsQuery(in.at + 1) ? columnList() : List.of();
    ParsedStatement.Overriding overriding = overriding();
    Source rows = null;
    if (!in.acceptWords("default", "values")) {
      rows = pieces.until(conflictOrReturning());
    }
    Conflict conflict =
        in.acceptWords("on", "conflict") ? new ConflictParser(this).conflict() : null;
    ParsedStatement.ReturningClause returning = returning();
    if (conflict != null) {
      ConflictParser.check(conflict, returning);
    }
    return new ParsedStatement.Insert(
        new Target(table, alias), columns, overriding, rows, conflict, returning);
  }

  /// OVERRIDING, if it follows.
  ParsedStatement.Overriding overriding() {
    if (in.acceptWords("overriding", "system", "value")) {
      return ParsedStatement.Overriding.SYSTEM;
    }
    return in.acceptWords("overriding", "user", "value")
        ? ParsedStatement.Overriding.USER
        : ParsedStatement.Overriding.NOTHING;
  }

  /// Names in parentheses.
  List<QualifiedName> columnList() {
    List<QualifiedName> columns = new ArrayList<>();
    in.expectOperator("(");
    do {
      columns.add(pieces.name());
    } while (in.acceptOperator(","));
    in.expectOperator(")");
    return columns;
  }

  private boolean beginsQuery(int at) {
    Token token = tokens.get(at);
    return token.isWord("select")
        || token.isWord("with")
        || token.isWord("values")
        || token.isOperator("(");
  }

  private int conflictOrReturning() {
    int from = in.at;
    int at = pieces.clause("on", "returning");
    // A join of the query may have an ON of its own.
    while (tokens.get(at).isWord("on") && !tokens.get(at + 1).isWord("conflict")) {
      in.at = at + 1;
      at = pieces.clause("on", "returning");
    }
    in.at = from;
    return at;
  }

  private ParsedStatement update() {
    in.acceptWords("only");
    QualifiedName table = pieces.qualifiedName();
    String alias = alias("set");
    in.expectWord("set");
    List<Assignment> assignments = assignments("from", "where", "returning");
    Source from = null;
    if (in.acceptWords("from")) {
      from = pieces.until(pieces.clause("where", "returning"), "select * from ");
    }
    Source where = where();
    return new ParsedStatement.Update(
        new Target(table, alias), assignments, from, where, returning());
  }

  private ParsedStatement delete() {
    in.acceptWords("only");
    QualifiedName table = pieces.qualifiedName();
    String alias = alias("using");
    Source using = null;
    if (in.acceptWords("using")) {
      using = pieces.until(pieces.clause("where", "returning"), "select * from ");
    }
    Source where = where();
    return new ParsedStatement.Delete(new Target(table, alias), using, where, returning());
  }

  @Nullable String alias(String next) {
    if (in.acceptWords("as")) {
      return in.expectIdentifier();
    }
    boolean none =
        in.at >= pieces.end
            || in.peek().isWord(next)
            || in.peek().isWord("where")
            || in.peek().isWord("returning");
    return none || !in.peek().isIdentifier() ? null : in.next().text();
  }

  @Nullable Source where() {
    return in.at < pieces.end && in.acceptWords("where")
        ? pieces.until(pieces.clause("returning"))
        : null;
  }

  ParsedStatement.@Nullable ReturningClause returning() {
    if (in.at >= pieces.end) {
      return null;
    }
    in.expectWord("returning");
    ParsedStatement.VersionName before = null;
    ParsedStatement.VersionName after = null;
    if (in.acceptWords("with")) {
      in.expectOperator("(");
      do {
        if (in.peek().isWord("old")) {
          before = versionName(before);
        } else if (in.peek().isWord("new")) {
          after = versionName(after);
        } else {
          throw in.syntaxError();
        }
      } while (in.acceptOperator(","));
      in.expectOperator(")");
    }
    boolean given = before != null || after != null;
    before = before == null ? new ParsedStatement.VersionName("old", 0) : before;
    after = after == null ? new ParsedStatement.VersionName("new", 0) : after;
    boolean named = given || isNamed(before.name()) || isNamed(after.name());
    return new ParsedStatement.ReturningClause(
        pieces.until(pieces.end, "select "), before, after, named);
  }

  /// OLD or NEW with the name that they get.
  private ParsedStatement.VersionName versionName(ParsedStatement.@Nullable VersionName earlier) {
    Token version = in.next();
    if (earlier != null) {
      throw new EngineException(
              ErrorCode.SYNTAX_ERROR,
              version.text().toUpperCase(Locale.ROOT) + " cannot be specified multiple times")
          .withPosition(version.start() + 1);
    }
    in.expectWord("as");
    return new ParsedStatement.VersionName(in.expectName(), version.start() + 1);
  }

  private boolean isNamed(String name) {
    for (int i = in.at; i < pieces.end; i++) {
      if (tokens.get(i).isIdentifier() && tokens.get(i).text().equals(name)) {
        return true;
      }
    }
    return false;
  }

  List<Assignment> assignments(String... followers) {
    List<Assignment> assignments = new ArrayList<>();
    int stop = pieces.clause(followers);
    do {
      boolean multiple = in.acceptOperator("(");
      List<QualifiedName> columns = new ArrayList<>();
      List<@Nullable Source> elements = new ArrayList<>();
      do {
        int begin = in.at;
        columns.add(pieces.qualifiedName());
        elements.add(in.peek().isOperator("[") ? element(begin) : null);
      } while (multiple && in.acceptOperator(","));
      if (multiple) {
        in.expectOperator(")");
      }
      in.expectOperator("=");
      if (multiple && in.peek().isWord("row") && in.peek(1).isOperator("(")) {
        in.at++;
      }
      assignments.add(
          new Assignment(columns, elements, multiple, pieces.until(pieces.comma(stop))));
    } while (in.at < stop && in.acceptOperator(","));
    return assignments;
  }

  /// `a[1]`, of which the name has been read, which is at `begin`.
  private Source element(int begin) {
    int stop = pieces.afterBrackets(in.at);
    in.at = begin;
    return pieces.until(stop);
  }
}
