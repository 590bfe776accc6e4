package dev.kakehashi.rest.sql;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Statements that begin or end a transaction, which the engine does not run as statements. They mean the transaction of the request.
enum TransactionStatement {
  BEGIN,
  COMMIT,
  ROLLBACK;

  private static final int LONGEST = 200;

  private static final String[] BEGINNINGS = {
    "begin", "start", "commit", "end", "rollback", "abort", "--", "/*"
  };

  /// Which of them a text is; null: none. `COMMIT PREPARED`, `ROLLBACK TO` and the like are none.
  static @Nullable TransactionStatement of(String sql) {
    if (!mayBe(sql)) {
      return null;
    }
    String[] words = words(sql);
    if (words.length == 0) {
      return null;
    }
    String rest = String.join(" ", java.util.Arrays.copyOfRange(words, 1, words.length));
    return switch (words[0]) {
      case "begin" -> BEGIN;
      case "start" -> rest.startsWith("transaction") ? BEGIN : null;
      case "commit", "end" -> isPlain(rest) ? COMMIT : null;
      case "rollback", "abort" -> isPlain(rest) ? ROLLBACK : null;
      default -> null;
    };
  }

  /// Cheap look at the first word, for the way of every statement.
  private static boolean mayBe(String sql) {
    int i = 0;
    while (i < sql.length() && Character.isWhitespace(sql.charAt(i))) {
      i++;
    }
    if (sql.length() - i > LONGEST) {
      return false;
    }
    for (String beginning : BEGINNINGS) {
      if (sql.regionMatches(true, i, beginning, 0, beginning.length())) {
        return true;
      }
    }
    return false;
  }

  private static boolean isPlain(String rest) {
    return switch (rest) {
      case "",
          "work",
          "transaction",
          "and no chain",
          "work and no chain",
          "transaction and no chain" ->
          true;
      default -> false;
    };
  }

  /// Words in lower case, without comments and the last semicolon.
  private static String[] words(String sql) {
    StringBuilder text = new StringBuilder(sql.length());
    int i = 0;
    while (i < sql.length()) {
      if (sql.startsWith("--", i)) {
        int end = sql.indexOf('\n', i);
        i = end < 0 ? sql.length() : end;
        text.append(' ');
      } else if (sql.startsWith("/*", i)) {
        i = endOfComment(sql, i);
        text.append(' ');
      } else {
        text.append(sql.charAt(i++));
      }
    }
    String bare = text.toString().strip();
    if (bare.endsWith(";")) {
      bare = bare.substring(0, bare.length() - 1).strip();
    }
    return bare.isEmpty() ? new String[0] : bare.toLowerCase(Locale.ROOT).split("\\s+");
  }

  /// Comments nest, as in PostgreSQL.
  private static int endOfComment(String sql, int start) {
    int depth = 0;
    int i = start;
    while (i < sql.length()) {
      if (sql.startsWith("/*", i)) {
        depth++;
        i += 2;
      } else if (sql.startsWith("*/", i)) {
        i += 2;
        if (--depth == 0) {
          return i;
        }
      } else {
        i++;
      }
    }
    return i;
  }
}
