package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.sql.ParsedStatement.Assignment;
import dev.kakehashi.engine.sql.ParsedStatement.CommonTable;
import dev.kakehashi.engine.sql.ParsedStatement.Conflict;
import dev.kakehashi.engine.sql.ParsedStatement.Target;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Cuts a statement into pieces by its keywords outside of parentheses: WITH, INSERT, UPDATE and DELETE with the clauses that Calcite's parser does not
/// know. A piece is an expression or a query, and goes through [Rewriter].
final class StatementParser {
  static final Set<String> CHANGES = Set.of("insert", "update", "delete", "merge");

  private final String sql;
  private final List<Token> tokens;
  final TokenReader in;

  /// Index of the token after the statement that is being parsed.
  private int end;

  private StatementParser(String sql, List<Token> tokens) {
    this.sql = sql;
    this.tokens = tokens;
    this.in = new TokenReader(sql, tokens, 0);
    this.end = tokens.size() - 1;
  }

  /// Parses the statement that begins at token `from`.
  static ParsedStatement parse(String sql, List<Token> tokens, int from) {
    StatementParser parser = new StatementParser(sql, tokens);
    parser.in.at = from;
    int end = parser.end;
    while (end > from && tokens.get(end - 1).isOperator(";")) {
      end--;
    }
    parser.end = end;
    return parser.statement();
  }

  /// Reads SEARCH and CYCLE where a reader stands, which stands behind them afterwards.
  static ParsedStatement.Traversal traversal(String sql, TokenReader reader) {
    StatementParser parser = new StatementParser(sql, reader.tokens());
    parser.in.at = reader.at;
    ParsedStatement.Traversal traversal = new TraversalParser(parser).traversal();
    reader.at = parser.in.at;
    return java.util.Objects.requireNonNull(traversal);
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
    if (CHANGES.contains(in.peek().text()) && in.peek().kind() == Token.Kind.WORD) {
      in.at++;
      throw in.syntaxError();
    }
    return new ParsedStatement.Query(rest());
  }

  private ParsedStatement with() {
    in.at++;
    boolean recursive = in.acceptWords("recursive");
    List<CommonTable> tables = new ArrayList<>();
    do {
      QualifiedName name = name();
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
      int close = closing(in.at);
      in.at++;
      ParsedStatement query = nested(close);
      in.at = close + 1;
      ParsedStatement.Traversal traversal = new TraversalParser(this).traversal();
      tables.add(new CommonTable(name, columns, materialized, query, traversal));
    } while (in.acceptOperator(","));
    if (in.at >= end) {
      throw TokenReader.syntaxErrorAt(sql, tokens.get(end));
    }
    return new ParsedStatement.With(tables, recursive, statement());
  }

  /// The statement between here and a closing parenthesis.
  private ParsedStatement nested(int close) {
    int outer = end;
    int from = in.at;
    end = close;
    try {
      ParsedStatement statement = statement();
      if (!(statement instanceof ParsedStatement.With with)) {
        return statement;
      }
      for (CommonTable table : with.tables()) {
        if (!(table.query() instanceof ParsedStatement.Query)) {
          throw notAtTopLevel(table.name().position());
        }
      }
      if (with.body() instanceof ParsedStatement.Query) {
        // Calcite's parser takes it as a whole.
        in.at = from;
        return new ParsedStatement.Query(rest());
      }
      return with;
    } finally {
      end = outer;
    }
  }

  static EngineException notAtTopLevel(int position) {
    return new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "WITH clause containing a data-modifying statement must be at the top level")
        .withPosition(position);
  }

  private ParsedStatement insert() {
    QualifiedName table = qualifiedName();
    String alias = in.acceptWords("as") ? in.expectIdentifier() : null;
    List<QualifiedName> columns =
        in.peek().isOperator("(") && !beginsQuery(in.at + 1) ? columnList() : List.of();
    ParsedStatement.Overriding overriding = overriding();
    Source rows = null;
    if (!in.acceptWords("default", "values")) {
      rows = until(conflictOrReturning());
    }
    Conflict conflict =
        in.acceptWords("on", "conflict") ? new ConflictParser(this).conflict() : null;
    Source returning = returning();
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
      columns.add(name());
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
    int at = clause("on", "returning");
    // A join of the query may have an ON of its own.
    while (tokens.get(at).isWord("on") && !tokens.get(at + 1).isWord("conflict")) {
      in.at = at + 1;
      at = clause("on", "returning");
    }
    in.at = from;
    return at;
  }

  private ParsedStatement update() {
    in.acceptWords("only");
    QualifiedName table = qualifiedName();
    String alias = alias("set");
    in.expectWord("set");
    List<Assignment> assignments = assignments("from", "where", "returning");
    Source from = null;
    if (in.acceptWords("from")) {
      from = until(clause("where", "returning"), "select * from ");
    }
    Source where = where();
    return new ParsedStatement.Update(
        new Target(table, alias), assignments, from, where, returning());
  }

  private ParsedStatement delete() {
    in.acceptWords("only");
    QualifiedName table = qualifiedName();
    String alias = alias("using");
    Source using = null;
    if (in.acceptWords("using")) {
      using = until(clause("where", "returning"), "select * from ");
    }
    Source where = where();
    return new ParsedStatement.Delete(new Target(table, alias), using, where, returning());
  }

  @Nullable String alias(String next) {
    if (in.acceptWords("as")) {
      return in.expectIdentifier();
    }
    boolean none =
        in.at >= end
            || in.peek().isWord(next)
            || in.peek().isWord("where")
            || in.peek().isWord("returning");
    return none || !in.peek().isIdentifier() ? null : in.next().text();
  }

  @Nullable Source where() {
    return in.at < end && in.acceptWords("where") ? until(clause("returning")) : null;
  }

  @Nullable Source returning() {
    if (in.at >= end) {
      return null;
    }
    in.expectWord("returning");
    return until(end, "select ");
  }

  List<Assignment> assignments(String... followers) {
    List<Assignment> assignments = new ArrayList<>();
    int stop = clause(followers);
    do {
      boolean multiple = in.acceptOperator("(");
      List<QualifiedName> columns = new ArrayList<>();
      do {
        columns.add(qualifiedName());
      } while (multiple && in.acceptOperator(","));
      if (multiple) {
        in.expectOperator(")");
      }
      in.expectOperator("=");
      if (multiple && in.peek().isWord("row") && in.peek(1).isOperator("(")) {
        in.at++;
      }
      assignments.add(new Assignment(columns, multiple, until(comma(stop))));
    } while (in.at < stop && in.acceptOperator(","));
    return assignments;
  }

  QualifiedName name() {
    int position = in.peek().start() + 1;
    return new QualifiedName(null, in.expectIdentifier(), position);
  }

  QualifiedName qualifiedName() {
    int position = in.peek().start() + 1;
    String first = in.expectIdentifier();
    return in.acceptOperator(".")
        ? new QualifiedName(first, in.expectIdentifier(), position)
        : new QualifiedName(null, first, position);
  }

  /// Index of the next of these words outside of parentheses, or the statement's end.
  int clause(String... words) {
    int at = in.at;
    while (at < end) {
      Token token = tokens.get(at);
      if (token.isOperator("(")) {
        at = closing(at);
      } else if (token.isWord("case") && !tokens.get(at - 1).isOperator(".")) {
        at = caseEnd(at);
      } else if (token.kind() == Token.Kind.WORD && begins(token, at, words)) {
        return at;
      }
      at++;
    }
    return end;
  }

  /// Index of the END of the CASE at `open`, or of the statement's last token.
  private int caseEnd(int open) {
    int depth = 0;
    for (int at = open; at < end; at++) {
      Token token = tokens.get(at);
      if (tokens.get(at - 1).isOperator(".")) {
        continue;
      }
      if (token.isWord("case")) {
        depth++;
      } else if (token.isWord("end") && --depth == 0) {
        return at;
      }
    }
    return end - 1;
  }

  private boolean begins(Token token, int at, String... words) {
    for (String word : words) {
      if (!token.isWord(word)) {
        continue;
      }
      Token before = tokens.get(at - 1);
      return switch (word) {
        case "from" -> !before.isWord("distinct");
        default -> !before.isOperator(".");
      };
    }
    return false;
  }

  /// Index of the next comma outside of parentheses, or `stop`.
  int comma(int stop) {
    int at = in.at;
    while (at < stop && !tokens.get(at).isOperator(",")) {
      at = tokens.get(at).isOperator("(") ? closing(at) + 1 : at + 1;
    }
    return at;
  }

  /// Index of the parenthesis that closes the one at `open`.
  int closing(int open) {
    int depth = 0;
    for (int at = open; at < end; at++) {
      if (tokens.get(at).isOperator("(")) {
        depth++;
      } else if (tokens.get(at).isOperator(")") && --depth == 0) {
        return at;
      }
    }
    throw TokenReader.syntaxErrorAt(sql, tokens.get(end));
  }

  private Source rest() {
    return until(end);
  }

  Source until(int stop) {
    return until(stop, "");
  }

  /// The tokens up to `stop` as a piece of its own.
  Source until(int stop, String prefix) {
    if (in.at >= stop) {
      throw TokenReader.syntaxErrorAt(sql, tokens.get(stop));
    }
    Token after = tokens.get(stop);
    List<Token> piece = new ArrayList<>(tokens.subList(in.at, stop));
    piece.add(new Token(Token.Kind.END, "", after.start(), after.start()));
    in.at = stop;
    return Rewriter.rewrite(sql, piece, prefix);
  }
}
