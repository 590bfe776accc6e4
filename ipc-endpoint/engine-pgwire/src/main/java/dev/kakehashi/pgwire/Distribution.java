package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How the rows of a new table are spread over nodes, as CREATE TABLE says it: `WITH (distributed_by = 'column', colocate_with = 'table')`
/// or `WITH (reference = true)`. Immutable.
///
/// @param create the statement without these options
/// @param table its name, as the statement has it
/// @param ifAbsent whether the table may be there already
/// @param reference whether each node has all rows
/// @param column by which rows are spread; null: by none
/// @param colocateWith a table whose rows are where those with the same value are; null: any
record Distribution(
    String create,
    String table,
    boolean ifAbsent,
    boolean reference,
    @Nullable String column,
    @Nullable String colocateWith) {
  private static final String BY = "distributed_by";
  private static final String WITH = "colocate_with";
  private static final String REFERENCE = "reference";
  private static final Set<String> OPTIONS = Set.of(BY, WITH, REFERENCE);

  /// A word, string or other character of a statement, comments and blanks left out.
  private record Token(int start, int end, String text) {}

  /// @return null: it says nothing of it
  /// @throws EngineException INVALID_PARAMETER_VALUE: the options do not fit together
  static @Nullable Distribution of(String sql) {
    List<Token> tokens = tokens(sql);
    int at = tableAt(tokens);
    int open = at < 0 ? -1 : optionsAt(tokens, at);
    if (open < 0) {
      return null;
    }
    Map<String, String> found = new LinkedHashMap<>();
    List<String> others = new ArrayList<>();
    int next = open + 1;
    while (next < tokens.size() && !tokens.get(next - 1).text().equals(")")) {
      int end = endOfOption(tokens, next);
      String name = tokens.get(next).text().toLowerCase(Locale.ROOT);
      if (OPTIONS.contains(name)) {
        found.put(name, end - next > 2 ? plain(tokens.get(end - 1).text()) : "true");
      } else if (end > next) {
        others.add(sql.substring(tokens.get(next).start(), tokens.get(end - 1).end()));
      }
      next = end + 1;
    }
    if (found.isEmpty()) {
      return null;
    }
    String create =
        sql.substring(0, tokens.get(open - 1).start())
            + (others.isEmpty() ? "" : "WITH (" + String.join(", ", others) + ")")
            + sql.substring(tokens.get(next - 1).end());
    return of(
        create, name(tokens, at), tokens.get(at - 1).text().equalsIgnoreCase("EXISTS"), found);
  }

  private static @Nullable Distribution of(
      String create, String table, boolean ifAbsent, Map<String, String> options) {
    boolean reference = Set.of("true", "on", "1").contains(options.getOrDefault(REFERENCE, "off"));
    String column = options.get(BY);
    if (reference && (column != null || options.containsKey(WITH))) {
      throw refused(
          "a reference table is on all nodes, and has no \"%s\"", column != null ? BY : WITH);
    }
    if (column == null && options.containsKey(WITH)) {
      throw refused("\"%s\" needs \"distributed_by\"", WITH);
    }
    return new Distribution(create, table, ifAbsent, reference, column, options.get(WITH));
  }

  private static EngineException refused(String message, String option) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message.formatted(option));
  }

  /// Both in one command, as it is sent.
  String command() {
    if (!reference && column == null) {
      return create;
    }
    String name = PgWireSession.literal(table);
    StringBuilder body =
        new StringBuilder("BEGIN EXECUTE ").append(PgWireSession.literal(create)).append(';');
    if (ifAbsent) {
      body.append(" IF NOT EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = ")
          .append(name)
          .append("::pg_catalog.regclass) THEN");
    }
    String by = column;
    if (by == null) {
      body.append(" PERFORM pg_catalog.create_reference_table(").append(name).append(");");
    } else {
      String with = colocateWith;
      body.append(" PERFORM pg_catalog.create_distributed_table(")
          .append(name)
          .append(", ")
          .append(PgWireSession.literal(by))
          .append(", colocate_with => ")
          .append(PgWireSession.literal(with == null ? "default" : with))
          .append(");");
    }
    body.append(ifAbsent ? " END IF; END" : " END");
    return "DO " + PgWireSession.literal(body.toString());
  }

  private static List<Token> tokens(String sql) {
    List<Token> tokens = new ArrayList<>();
    for (int at = 0; at < sql.length(); ) {
      int end = SqlText.endOfToken(sql, at);
      if (!SqlText.isComment(sql, at) && !Character.isWhitespace(sql.charAt(at))) {
        // A quote that is written twice in a string or name.
        boolean goesOn =
            (sql.charAt(at) == '\'' || sql.charAt(at) == '"')
                && !tokens.isEmpty()
                && tokens.getLast().end() == at
                && sql.charAt(at - 1) == sql.charAt(at);
        int start = goesOn ? tokens.removeLast().start() : at;
        tokens.add(new Token(start, end, sql.substring(start, end)));
      }
      at = end;
    }
    return tokens;
  }

  private static boolean is(List<Token> tokens, int at, String word) {
    return at < tokens.size() && tokens.get(at).text().equalsIgnoreCase(word);
  }

  /// Where the name of the table begins; -1: it is no CREATE TABLE.
  private static int tableAt(List<Token> tokens) {
    int at = is(tokens, 1, "UNLOGGED") ? 2 : 1;
    if (!is(tokens, 0, "CREATE") || !is(tokens, at, "TABLE")) {
      return -1;
    }
    at++;
    return is(tokens, at, "IF") ? at + 3 : at;
  }

  private static String name(List<Token> tokens, int at) {
    return is(tokens, at + 1, ".")
        ? tokens.get(at).text() + "." + tokens.get(at + 2).text()
        : tokens.get(at).text();
  }

  /// Where the parenthesis of the options stands; -1: there are none.
  private static int optionsAt(List<Token> tokens, int from) {
    int depth = 0;
    for (int at = from; at < tokens.size(); at++) {
      switch (tokens.get(at).text()) {
        case "(" -> depth++;
        case ")" -> depth--;
        default -> {
          if (depth == 0 && is(tokens, at, "AS")) {
            return -1;
          }
          if (depth == 0 && is(tokens, at, "WITH") && is(tokens, at + 1, "(")) {
            return at + 1;
          }
        }
      }
    }
    return -1;
  }

  /// Where the comma or parenthesis behind an option stands.
  private static int endOfOption(List<Token> tokens, int from) {
    int depth = 0;
    for (int at = from; at < tokens.size(); at++) {
      String text = tokens.get(at).text();
      if (depth == 0 && (text.equals(",") || text.equals(")"))) {
        return at;
      }
      depth += text.equals("(") ? 1 : text.equals(")") ? -1 : 0;
    }
    return tokens.size();
  }

  /// A value without quotes.
  private static String plain(String value) {
    return value.startsWith("'")
        ? value.substring(1, value.length() - 1).replace("''", "'")
        : value;
  }
}
