package dev.kakehashi.pgwire;

import dev.kakehashi.pgwire.wire.WireParameters;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A look-up that is to run for many rows of parameters, as one query of arrays. Immutable.
///
/// A server that spreads its rows asks each of its shards about each row of parameters: some 25 ms, where one query about a thousand
/// takes a second. Look-ups of foreign tables return their first parameter, so that their rows are known by it; others stay as they are.
/// The query around it runs the statement for each row, and has its rows in that order.
final class LookupOfMany {
  /// With fewer rows the arrays cost more than they save.
  static final int FEWEST_ROWS = 4;

  private static final String BEGIN = "SELECT $1";

  /// Words of statements that do more.
  private static final Set<String> OTHERS =
      Set.of(
          "WITH",
          "FOR",
          "INTO",
          "UNION",
          "INTERSECT",
          "EXCEPT",
          "GROUP",
          "HAVING",
          "WINDOW",
          "ORDER",
          "LIMIT",
          "OFFSET",
          "FETCH",
          "DISTINCT",
          "VALUES");

  private final String sql;
  private final int[] types;

  private LookupOfMany(String sql, int[] types) {
    this.sql = sql;
    this.types = types;
  }

  /// @param types of its parameters
  /// @return null: it is no such statement, or has values that go in no array
  static @Nullable LookupOfMany of(String sql, int[] types) {
    if (!sql.startsWith(BEGIN + ", ") && !sql.startsWith(BEGIN + " FROM ")) {
      return null;
    }
    if (!WireParameters.canCopy(types)
        || Arrays.stream(types).anyMatch(type -> TypeOid.arrayOf(type) == TypeOid.UNSPECIFIED)) {
      return null;
    }
    String inner = withColumns(sql, types.length);
    if (inner == null) {
      return null;
    }
    String arrays =
        numbers(types.length)
            .map(i -> "pg_catalog.unnest($" + i + ")")
            .collect(Collectors.joining(", "));
    String columns = numbers(types.length).map(i -> "p" + i).collect(Collectors.joining(", "));
    return new LookupOfMany(
        "SELECT kakehashi_found.* FROM ROWS FROM (%s) WITH ORDINALITY AS kakehashi_keys (%s, place), LATERAL (%s) AS kakehashi_found ORDER BY kakehashi_keys.place"
            .formatted(arrays, columns, inner),
        Arrays.stream(types).map(TypeOid::arrayOf).toArray());
  }

  private static Stream<Integer> numbers(int count) {
    return IntStream.rangeClosed(1, count).boxed();
  }

  /// The statement with columns in place of its parameters; null: it does more than to look up.
  private static @Nullable String withColumns(String sql, int count) {
    StringBuilder result = new StringBuilder();
    int selects = 0;
    for (int at = 0; at < sql.length(); ) {
      int end = SqlText.endOfToken(sql, at);
      String token = sql.substring(at, end);
      if (SqlText.isWord(sql, at)) {
        String word = token.toUpperCase(Locale.ROOT);
        selects += word.equals("SELECT") ? 1 : 0;
        if (selects > 1 || OTHERS.contains(word)) {
          return null;
        }
      } else if (SqlText.isComment(sql, at) || token.equals(";")) {
        return null;
      } else if (token.equals("$")) {
        while (end < sql.length() && Character.isDigit(sql.charAt(end))) {
          end++;
        }
        int number = Integer.parseInt(sql.substring(at + 1, end));
        if (number > count) {
          return null;
        }
        token = "kakehashi_keys.p" + number;
        if (at == BEGIN.length() - 2) {
          token += " AS \"?column?\""; // as the server names it
        }
      }
      result.append(token);
      at = end;
    }
    return result.toString();
  }

  /// With an array in place of each parameter.
  String sql() {
    return sql;
  }

  /// Types of the arrays: the same array each time, not to be changed.
  int[] types() {
    return types;
  }
}
