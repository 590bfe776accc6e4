package dev.kakehashi.rest.bulk;

import dev.kakehashi.rest.sql.TableName;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Texts of COPY, with names and strings in quotes. Stateless.
final class CopySql {
  private CopySql() {}

  /// @param where a condition as SQL writes it; null: none
  static String load(
      TableName table,
      List<String> columns,
      String location,
      CopyOptionList options,
      @Nullable String where) {
    return "COPY "
        + target(table, columns)
        + " FROM "
        + literal(location)
        + with(options)
        + (where == null ? "" : " WHERE " + where);
  }

  /// @param source as [#target] or [#query] have it
  /// @param location null: to the client
  static String dump(String source, @Nullable String location, CopyOptionList options) {
    return "COPY "
        + source
        + " TO "
        + (location == null ? "STDOUT" : literal(location))
        + with(options);
  }

  /// @param columns empty: all
  static String target(TableName table, List<String> columns) {
    return table.quoted()
        + (columns.isEmpty()
            ? ""
            : columns.stream().map(TableName::quoted).collect(Collectors.joining(", ", " (", ")")));
  }

  /// The line's end ends a comment of the query.
  static String query(String sql) {
    return "(" + sql + "\n)";
  }

  private static String with(CopyOptionList options) {
    String sql = options.sql();
    return sql.isEmpty() ? "" : " WITH (" + sql + ")";
  }

  /// A string. Backslashes are themselves.
  static String literal(String text) {
    return "'" + text.replace("'", "''") + "'";
  }
}
