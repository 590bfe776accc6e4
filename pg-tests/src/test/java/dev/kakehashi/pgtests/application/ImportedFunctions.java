package dev.kakehashi.pgtests.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.Sql;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/// The library of `examples/functions` as PostgreSQL uses it. The assertions hold in each major version. Stateless.
public final class ImportedFunctions {
  private static final String COLUMNS =
      "id bigint, card text, price numeric(12, 2), day date, weight float8";

  /// Rows with nulls, and with numbers whose check digit is right in one of ten.
  private static final String ROWS =
      "SELECT i, CASE WHEN i % 17 <> 0 THEN (4000000000000000 + i * 7919)::text END,"
          + " CASE WHEN i % 13 <> 0 THEN i * 1.25 END, date '2026-11-01' + i % 30,"
          + " CASE WHEN i % 11 <> 0 THEN 1 + i / 100.0 END FROM generate_series(1, 400) i";

  /// A query that goes over whole, with a table's name where `%s` stands.
  ///
  /// @param remote what the engine is asked, in part
  private record Shipped(String query, String remote) {}

  private static final List<Shipped> SHIPPED =
      List.of(
          new Shipped(
              "SELECT id, card FROM %s WHERE luhn_valid(card) ORDER BY id", "luhn_valid(card)"),
          new Shipped(
              "SELECT id FROM %s WHERE with_tax(price, 8.1) > 300 AND NOT luhn_valid(card) ORDER BY id",
              "with_tax(price, "),
          new Shipped("SELECT count(*), sum(with_tax(price, 8.1)) FROM %s", "sum(with_tax(price"),
          new Shipped(
              "SELECT luhn_valid(card), count(*), max(mixed(id)) FROM %s GROUP BY luhn_valid(card)"
                  + " HAVING max(mixed(id)) <> 0 ORDER BY 1",
              "GROUP BY"),
          new Shipped(
              "SELECT id, price FROM %s WHERE id < 50 ORDER BY mixed(id) LIMIT 7", "mixed(id)"),
          new Shipped(
              "SELECT a.id, b.price FROM %1$s a JOIN %1$s b ON mixed(a.id) = mixed(b.id + 1) ORDER BY 1, 2",
              "JOIN"),
          new Shipped(
              "SELECT a.id FROM %1$s a LEFT JOIN %1$s b ON a.id = b.id AND luhn_valid(b.card)"
                  + " WHERE b.id IS NULL ORDER BY 1",
              "luhn_valid(r"),
          new Shipped("SELECT round(geometric_mean(weight)::numeric, 9) FROM %s", "geometric_mean"),
          new Shipped(
              "SELECT day, round(geometric_mean(weight)::numeric, 9) FROM %s GROUP BY day ORDER BY day",
              "geometric_mean"),
          new Shipped("SELECT geometric_mean(weight) FROM %s WHERE id < 0", "geometric_mean"));

  /// Queries of which PostgreSQL does a part.
  private static final List<String> MIXED =
      List.of(
          "SELECT id, with_tax(price, 8.1), luhn_valid(card), mixed(id) FROM %s ORDER BY id",
          "SELECT w.day, w.name, count(s.id) FROM workdays('2026-11-01', '2026-11-30') w LEFT JOIN %s s"
              + " USING (day) GROUP BY 1, 2 ORDER BY 1",
          "SELECT s.id, w.name FROM %s s, LATERAL workdays(s.day, s.day + 1) w WHERE s.id < 20 ORDER BY 1, 2",
          "SELECT id, round(logistic(weight)::numeric, 12) FROM %s WHERE id < 30 ORDER BY id",
          "SELECT id FROM %s WHERE luhn_valid(card) AND pg_typeof(price) = 'numeric'::regtype ORDER BY id");

  private ImportedFunctions() {}

  /// Deploys the library and imports its functions. The server is `kakehashi`.
  public static void deploy(Connection connection) throws SQLException {
    try (var statement =
        connection.prepareStatement("SELECT kakehashi_deploy('kakehashi', 'library', ?)")) {
      statement.setBytes(1, Files.readAllBytes(Installation.exampleJar("functions")));
      statement.execute();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    assertEquals(
        List.of(
            "geometric_mean|aggregate",
            "logistic|scalar",
            "luhn_valid|scalar",
            "mixed|scalar",
            "with_tax|scalar",
            "workdays|table"),
        Sql.rows(
            connection,
            "SELECT function_name, function_kind FROM kakehashi_import_functions('kakehashi', 'public') ORDER BY 1"));
  }

  /// Functions give the same whether the engine runs them in a query, or PostgreSQL asks for each value; each query that can go over does.
  public static void check(Connection connection) throws SQLException {
    deploy(connection);
    Sql.execute(
        connection,
        "SELECT kakehashi_execute('kakehashi', 'CREATE TABLE sale ("
            + COLUMNS
            + ", PRIMARY KEY (id))')",
        "IMPORT FOREIGN SCHEMA public LIMIT TO (sale) FROM SERVER kakehashi INTO public",
        "INSERT INTO sale " + ROWS,
        "CREATE TABLE sale_here (" + COLUMNS + ", PRIMARY KEY (id))",
        "INSERT INTO sale_here " + ROWS);
    for (Shipped each : SHIPPED) {
      String plan = plan(connection, each.query().formatted("sale"));
      assertTrue(plan.startsWith("Foreign Scan"), plan);
      assertTrue(plan.contains("Remote SQL") && plan.contains(each.remote()), plan);
      assertFalse(plan.contains("Filter:"), plan);
      assertSame(connection, each.query());
    }
    for (String query : MIXED) {
      assertSame(connection, query);
    }
    String change = "UPDATE %s SET price = with_tax(price, 10) WHERE luhn_valid(card)";
    String plan = plan(connection, change.formatted("sale"));
    assertTrue(plan.contains("Foreign Update on") && plan.contains("SET price = "), plan);
    Sql.execute(connection, change.formatted("sale"), change.formatted("sale_here"));
    assertSame(connection, "SELECT id, price FROM %s ORDER BY id");
    assertSame(connection, "SELECT count(*) FROM %s WHERE luhn_valid(card)");
  }

  private static void assertSame(Connection connection, String query) throws SQLException {
    List<String> expected = Sql.rows(connection, query.formatted("sale_here"));
    assertFalse(expected.isEmpty(), query);
    assertEquals(expected, Sql.rows(connection, query.formatted("sale")), query);
  }

  private static String plan(Connection connection, String query) throws SQLException {
    // Names are quoted, and have their schema.
    return Sql.value(connection, "EXPLAIN (VERBOSE, COSTS OFF) " + query)
        .replace("\"public\".", "")
        .replace("\"", "");
  }
}
