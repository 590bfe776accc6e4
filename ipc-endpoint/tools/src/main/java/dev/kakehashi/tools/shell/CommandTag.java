package dev.kakehashi.tools.shell;

import java.util.Set;

/// Tag of a statement that has run, as PostgreSQL has it.
final class CommandTag {
  private static final Set<String> BESIDE =
      Set.of(
          "OR",
          "REPLACE",
          "UNIQUE",
          "TEMP",
          "TEMPORARY",
          "UNLOGGED",
          "RECURSIVE",
          "IF",
          "NOT",
          "EXISTS");

  private CommandTag() {}

  /// @param rows changed or given
  static String of(String sql, long rows) {
    String[] words = SqlScanner.words(sql, 6);
    return switch (words[0]) {
      case "INSERT" -> "INSERT 0 " + rows;
      case "UPDATE", "DELETE", "MERGE", "COPY" -> words[0] + " " + rows;
      case "SELECT", "VALUES", "TABLE", "WITH" -> "SELECT " + rows;
      case "CREATE", "DROP", "ALTER" -> words[0] + " " + object(words);
      case "TRUNCATE" -> "TRUNCATE TABLE";
      case "COMMENT", "SET", "RESET", "GRANT", "REVOKE", "ANALYZE", "CALL", "SHOW", "EXPLAIN" ->
          words[0];
      case "PREPARE", "COMMIT", "ROLLBACK" -> words[0] + " " + words[1];
      default -> words[0].isEmpty() ? "OK" : words[0];
    };
  }

  private static String object(String[] words) {
    for (int i = 1; i < words.length; i++) {
      if (words[i].isEmpty() || BESIDE.contains(words[i])) {
        continue;
      }
      return switch (words[i]) {
        case "SUBSCRIPTION" -> "SUBSCRIPTION GROUP";
        case "DEFAULT" -> "DEFAULT PRIVILEGES";
        case "MATERIALIZED" -> "MATERIALIZED VIEW";
        default -> words[i];
      };
    }
    return "";
  }
}
