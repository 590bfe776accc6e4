package dev.kakehashi.engine.type;

import dev.kakehashi.testsupport.PrivatePostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Evaluates expressions on PostgreSQL: text of the value, or SQLSTATE.
final class PostgresOracle implements AutoCloseable {
  private static final String EVALUATE =
      """
      CREATE FUNCTION evaluate(query text, OUT result text, OUT state text, OUT message text) AS $$
      BEGIN
        EXECUTE query INTO result;
      EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
      END $$ LANGUAGE plpgsql
      """;

  private final PrivatePostgres server;
  private final Connection connection;

  /// Outcome of an expression; all null: the value is null.
  record Outcome(@Nullable String value, @Nullable String state, @Nullable String message) {
    String shown() {
      return state == null ? String.valueOf(value) : state;
    }
  }

  PostgresOracle() throws SQLException {
    server = PrivatePostgres.start();
    connection = server.connect();
    execute(EVALUATE);
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /// One outcome per expression, in order. Values are in brackets, so that blanks are seen.
  List<Outcome> evaluate(List<String> expressions) throws SQLException {
    List<String> queries = new ArrayList<>();
    for (String expression : expressions) {
      queries.add(
          "SELECT CASE WHEN x IS NULL THEN NULL ELSE format('[%s]', x) END FROM (SELECT "
              + expression
              + " AS x OFFSET 0) s");
    }
    return run(queries);
  }

  List<Outcome> run(List<String> queries) throws SQLException {
    List<Outcome> outcomes = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT (e).* FROM (SELECT evaluate(q) AS e, n FROM unnest(?::text[]) WITH ORDINALITY AS u(q, n) OFFSET 0) s ORDER BY n")) {
      statement.setArray(1, connection.createArrayOf("text", queries.toArray()));
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          outcomes.add(new Outcome(rows.getString(1), rows.getString(2), rows.getString(3)));
        }
      }
    }
    return outcomes;
  }

  static String literal(int oid, String text) {
    return oid == Types.UNKNOWN
        ? "'" + text.replace("'", "''") + "'"
        : "'"
            + text.replace("'", "''")
            + "'::"
            + Types.name(oid).replace("character", "bpchar").replace("bpchar varying", "varchar");
  }

  @Override
  public void close() throws SQLException {
    connection.close();
    server.close();
  }
}
