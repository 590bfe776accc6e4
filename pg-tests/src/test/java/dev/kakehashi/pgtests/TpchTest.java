package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.TpchTables;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The 22 queries of TPC-H over foreign tables, and as a whole in the engine, give what they give over heap tables with the same rows.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TpchTest {
  private static final String TIMEOUT = "SET statement_timeout = '10min'";

  private final Cluster cluster = Cluster.start("tpch", TpchTables.memory());

  @BeforeAll
  void load() throws Exception {
    TpchTables.load(cluster);
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  static List<String> names() {
    return TpchTables.NAMES;
  }

  @ParameterizedTest(name = "query {0}")
  @ValueSource(
      ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22})
  void shouldGiveTheRowsOfHeapTables(int number) throws SQLException {
    List<String> ofHeap = answer(number, "heap");
    assertEquals(ofHeap, answer(number, "tpch"));
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "SET search_path = heap, public", TIMEOUT);
      assertEquals(ofHeap, TpchTables.rowsOfEngine(connection, number));
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void shouldReadBackEveryRowThatWasCopiedIn(String table) throws SQLException {
    try (Connection connection = cluster.connect()) {
      assertEquals(
          "0",
          Sql.value(
              connection,
              "SELECT count(*) FROM (SELECT * FROM heap.%1$s EXCEPT ALL SELECT * FROM tpch.%1$s) d"
                  .formatted(table)));
      assertEquals(
          Sql.value(connection, "SELECT count(*) FROM heap." + table),
          Sql.value(connection, "SELECT count(*) FROM tpch." + table));
    }
  }

  @Test
  void shouldSendTheWholeOfQuerySixToTheEngine() throws SQLException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "SET search_path = tpch");
      String plan = Sql.value(connection, "EXPLAIN (COSTS OFF) " + TpchTables.query(6));
      assertEquals("Foreign Scan", plan.lines().findFirst().orElse(""), plan);
      assertFalse(plan.contains("Aggregate\n"), plan);
    }
  }

  private List<String> answer(int number, String schema) throws SQLException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "SET search_path = " + schema, TIMEOUT);
      String[] statements = TpchTables.query(number).split(";", -1);
      for (int i = 0; i < statements.length - 1; i++) {
        // Query 15 makes a view first.
        Sql.execute(
            connection, statements[i].replace("CREATE OR REPLACE VIEW", "CREATE TEMP VIEW"));
      }
      List<String> rows = Sql.rows(connection, statements[statements.length - 1]);
      assertFalse(
          rows.isEmpty() && number != 20,
          "query " + number + " gives no row, and so proves nothing");
      return rows;
    }
  }
}
