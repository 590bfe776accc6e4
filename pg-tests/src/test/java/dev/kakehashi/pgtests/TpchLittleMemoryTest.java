package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.TpchTables;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The 22 queries of TPC-H, as a whole in the engine, give what PostgreSQL gives over its heap when statements have so little memory that
/// sorts, joins and groups go to files.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TpchLittleMemoryTest {
  private final Cluster cluster =
      Cluster.start("tpch-memory", TpchTables.memory(), "statement_memory=1MB");

  @BeforeAll
  void load() throws Exception {
    TpchTables.load(cluster);
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
      assertEquals(
          Sql.rows(connection, TpchTables.statement(number)),
          TpchTables.rowsOfEngine(connection, number));
    }
  }

  @Test
  void shouldWriteToFiles() throws SQLException {
    try (Connection connection = cluster.connect()) {
      String plans = "";
      for (int number : new int[] {9, 18}) {
        plans +=
            Sql.value(
                connection,
                TpchTables.onEngine("EXPLAIN ANALYZE " + TpchTables.statement(number))
                    + " AS t (line text)");
      }
      assertTrue(plans.contains("  Disk: "), plans);
    }
  }
}
