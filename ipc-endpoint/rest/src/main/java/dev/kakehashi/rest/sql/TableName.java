package dev.kakehashi.rest.sql;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.rest.problem.Problem;

/// A table as a path names it: `table` of schema public, or `schema.table`, as the catalogue spells them. Immutable.
public record TableName(String schema, String table) {
  /// @throws Problem 400
  public static TableName parse(String text) {
    int dot = text.indexOf('.');
    String schema = dot < 0 ? "public" : text.substring(0, dot);
    String table = text.substring(dot + 1);
    if (schema.isEmpty() || table.isEmpty()) {
      throw Problem.badRequest("\"" + text + "\" is no table: write table or schema.table");
    }
    return new TableName(schema, table);
  }

  /// As a statement names it.
  public String quoted() {
    return quoted(schema) + "." + quoted(table);
  }

  /// A name as a statement has it.
  public static String quoted(String name) {
    return "\"" + name.replace("\"", "\"\"") + "\"";
  }

  /// 404.
  Problem missing() {
    return Problem.notFound("relation \"" + schema + "." + table + "\" does not exist")
        .withSqlstate(ErrorCode.UNDEFINED_TABLE);
  }
}
