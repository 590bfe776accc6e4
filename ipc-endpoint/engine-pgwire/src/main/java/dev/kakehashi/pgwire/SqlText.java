package dev.kakehashi.pgwire;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.capability.Capability;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Words of a statement, without strings, quoted names and comments, and the facts that they tell about it. The server does the parsing.
/// Immutable.
///
/// @param words in upper case, in their order, as far as they are letters
record SqlText(List<String> words) {
  private static final Set<String> CHANGES = Set.of("INSERT", "UPDATE", "DELETE", "MERGE");
  private static final Set<String> QUERIES =
      Set.of("SELECT", "VALUES", "TABLE", "WITH", "EXPLAIN", "SHOW");

  /// Statements that would change a connection, which other sessions use next, or that end a transaction behind its back.
  private static final Set<String> OF_CONNECTIONS =
      Set.of(
          "BEGIN",
          "START",
          "COMMIT",
          "END",
          "ROLLBACK",
          "ABORT",
          "SAVEPOINT",
          "RELEASE",
          "PREPARE",
          "EXECUTE",
          "DEALLOCATE",
          "DISCARD",
          "LISTEN",
          "UNLISTEN",
          "DECLARE",
          "FETCH",
          "MOVE",
          "CLOSE",
          "LOAD",
          "SET",
          "RESET",
          "DO");

  static SqlText of(String sql) {
    List<String> words = new ArrayList<>();
    for (int at = 0; at < sql.length(); ) {
      int end = endOfToken(sql, at);
      if (isWord(sql, at)) {
        words.add(sql.substring(at, end).toUpperCase(Locale.ROOT));
      }
      at = end;
    }
    return new SqlText(words);
  }

  /// Whether a word begins there that is not quoted.
  static boolean isWord(String sql, int at) {
    return Character.isLetter(sql.charAt(at)) || sql.charAt(at) == '_';
  }

  /// Whether a comment begins there.
  static boolean isComment(String sql, int at) {
    return sql.startsWith("--", at) || sql.startsWith("/*", at);
  }

  /// End of the comment, string, name or word that begins at a place; behind any other character.
  static int endOfToken(String sql, int at) {
    int length = sql.length();
    char c = sql.charAt(at);
    if (sql.startsWith("--", at)) {
      int end = sql.indexOf('\n', at);
      return end < 0 ? length : end + 1;
    }
    if (sql.startsWith("/*", at)) {
      return endOfComment(sql, at);
    }
    if (c == '\'' || c == '"') {
      boolean escapes =
          c == '\'' && at > 0 && (sql.charAt(at - 1) == 'E' || sql.charAt(at - 1) == 'e');
      return endOfQuoted(sql, at, c, escapes);
    }
    if (c == '$' && at + 1 < length && !Character.isDigit(sql.charAt(at + 1))) {
      return endOfDollars(sql, at);
    }
    int end = at + 1;
    if (isWord(sql, at)) {
      while (end < length
          && (Character.isLetterOrDigit(sql.charAt(end))
              || sql.charAt(end) == '_'
              || sql.charAt(end) == '$')) {
        end++;
      }
    }
    return end;
  }

  private static int endOfComment(String sql, int start) {
    int depth = 0;
    int at = start;
    while (at < sql.length()) {
      if (sql.startsWith("/*", at)) {
        depth++;
        at += 2;
      } else if (sql.startsWith("*/", at)) {
        depth--;
        at += 2;
        if (depth == 0) {
          return at;
        }
      } else {
        at++;
      }
    }
    return at;
  }

  private static int endOfQuoted(String sql, int start, char quote, boolean escapes) {
    int at = start + 1;
    while (at < sql.length()) {
      char c = sql.charAt(at);
      if (c == '\\' && escapes) {
        at += 2;
      } else if (c == quote) {
        return at + 1; // a doubled one begins the next piece
      } else {
        at++;
      }
    }
    return at;
  }

  private static int endOfDollars(String sql, int start) {
    int tagEnd = sql.indexOf('$', start + 1);
    if (tagEnd < 0) {
      return start + 1;
    }
    String tag = sql.substring(start, tagEnd + 1);
    for (int i = 1; i < tag.length() - 1; i++) {
      if (!Character.isLetterOrDigit(tag.charAt(i)) && tag.charAt(i) != '_') {
        return start + 1;
      }
    }
    int end = sql.indexOf(tag, tagEnd + 1);
    return end < 0 ? sql.length() : end + tag.length();
  }

  private String first() {
    return words.isEmpty() ? "" : words.getFirst();
  }

  private boolean begins(String... expected) {
    return words.size() >= expected.length
        && words.subList(0, expected.length).equals(List.of(expected));
  }

  Statement.Kind kind() {
    if (CHANGES.contains(first()) || first().equals("CALL")) {
      return Statement.Kind.DML;
    }
    if (QUERIES.contains(first())) {
      return changesWithin() ? Statement.Kind.DML : Statement.Kind.QUERY;
    }
    return Statement.Kind.DDL;
  }

  /// Rows of a WITH, or EXPLAIN ANALYZE of a change; a row lock is no change.
  private boolean changesWithin() {
    if (!first().equals("WITH") && !first().equals("EXPLAIN")) {
      return words.contains("INTO") && first().equals("SELECT");
    }
    Set<String> found = new HashSet<>(words);
    found.retainAll(CHANGES);
    if (found.equals(Set.of("UPDATE"))) {
      return !rowLocksAlone();
    }
    return !found.isEmpty();
  }

  private boolean rowLocksAlone() {
    for (int i = 0; i < words.size(); i++) {
      if (words.get(i).equals("UPDATE")
          && !(i > 0 && words.get(i - 1).equals("FOR"))
          && !(i > 1 && words.get(i - 1).equals("KEY") && words.get(i - 2).equals("NO"))) {
        return false;
      }
    }
    return true;
  }

  /// Whether it locks rows.
  boolean locks() {
    for (int i = 1; i < words.size(); i++) {
      if (words.get(i - 1).equals("FOR")
          && Set.of("UPDATE", "SHARE", "NO", "KEY").contains(words.get(i))) {
        return true;
      }
    }
    return false;
  }

  /// Capability that a statement asks for and the engine lacks; null: none. The server might understand the statement and mean its own
  /// roles and files.
  @Nullable Capability lacking() {
    if (first().equals("COPY")) {
      return Capability.COPY_FILES;
    }
    if (!Set.of("CREATE", "ALTER", "DROP").contains(first()) || words.size() < 2) {
      return null;
    }
    return switch (words.get(1)) {
      case "QUEUE" -> Capability.QUEUES;
      case "ROLE", "USER", "GROUP" ->
          words.size() > 2 && words.get(2).equals("MAPPING") ? null : Capability.ROLES;
      case "APPLICATION" -> Capability.APPLICATIONS;
      default -> null;
    };
  }

  /// First word of a statement about the connection or the transaction; null: the statement is about neither.
  @Nullable String ofConnection() {
    if (!OF_CONNECTIONS.contains(first()) || begins("SET", "CONSTRAINTS")) {
      return null;
    }
    return first();
  }

  /// Whether it is CREATE TABLE.
  boolean makesTable() {
    return begins("CREATE", "TABLE") || begins("CREATE", "UNLOGGED", "TABLE");
  }

  /// Whether it is SET TIME ZONE or one of its forms.
  boolean setsTimeZone() {
    return begins("SET", "TIME", "ZONE")
        || begins("SET", "SESSION", "TIME", "ZONE")
        || begins("SET", "TIMEZONE");
  }
}
