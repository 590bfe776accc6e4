package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.TpchTables;
import java.sql.Connection;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The 22 queries of TPC-H, as a whole in the engine, give what PostgreSQL gives over its heap when statements have so little memory that sorts, joins and
/// groups go to files.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TpchLittleMemoryTest {
  private final Cluster cluster = Cluster.start("tpch-memory", "statement_memory=1MB");

  @BeforeAll
  void load() throws Exception {
    TpchTables.load(cluster);
    cluster.onEngine("ANALYZE");
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @ParameterizedTest(name = "query {0}")
  @ValueSource(
      ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22})
  void shouldGiveTheRowsOfHeapTables(int number) throws SQLException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "SET search_path = heap, public", "SET statement_timeout = '10min'");
      String query = query(number);
      String columns = columns(connection, query);
      assertEquals(
          Sql.rows(connection, query), Sql.rows(connection, onEngine(query) + " AS t" + columns));
    }
  }

  @Test
  void shouldWriteToFiles() throws SQLException {
    try (Connection connection = cluster.connect()) {
      String plans = "";
      for (int number : new int[] {9, 18}) {
        plans +=
            Sql.value(
                connection, onEngine("EXPLAIN ANALYZE " + query(number)) + " AS t (line text)");
      }
      assertTrue(plans.contains("  Disk: "), plans);
    }
  }

  /// The statement, with the view of query 15 as a query of WITH. A type that is called as a function is PostgreSQL's own.
  private static String query(int number) {
    String text = TpchTables.query(number).replaceAll("date\\(('[^']*')\\)", "DATE $1");
    if (number != 15) {
      return text;
    }
    String[] statements = text.split(";", -1);
    String view =
        statements[0].strip().replaceFirst("(?i)^CREATE OR REPLACE VIEW (\\w+) AS", "WITH $1 AS (");
    return view + ")" + statements[1];
  }

  private static String onEngine(String query) {
    return "SELECT * FROM kakehashi_query('kakehashi', $query$" + query + "$query$)";
  }

  /// Names and types of the query's columns.
  private static String columns(Connection connection, String query) throws SQLException {
    try (var statement = connection.prepareStatement(query)) {
      ResultSetMetaData columns = statement.getMetaData();
      List<String> all = new ArrayList<>();
      for (int i = 1; i <= columns.getColumnCount(); i++) {
        all.add("c" + i + " " + columns.getColumnTypeName(i));
      }
      return "(" + String.join(", ", all) + ")";
    }
  }
}
