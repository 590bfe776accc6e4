package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// PREPARE TRANSACTION in PostgreSQL: the engine's part follows PostgreSQL's decision, whoever makes it and whatever was killed in between.
class PreparedTransactionsTest {
  private static final String IDS = "SELECT id FROM item ORDER BY id";

  @Test
  void shouldFollowTheDecisionOfPostgresql() throws Exception {
    try (var cluster = Cluster.start("prepared")) {
      preload(cluster);
      cluster.createTable("item", "id int4, v int4", "id");
      try (Connection connection = cluster.connect()) {
        Sql.execute(connection, "CREATE TABLE local_item (id int4)");
        prepare(connection, 1, "one");
        prepare(connection, 2, "two");
        assertEquals(List.of(), Sql.rows(connection, IDS));
        assertEquals("2", parts(connection));
        Sql.execute(connection, "SET lock_timeout = '100ms'");
        assertEquals(
            "55P03", Sql.failure(connection, "DROP SERVER kakehashi CASCADE").getSQLState());
      }
      cluster.postgres().kill();
      cluster.postgres().start();
      try (Connection reader = cluster.connect();
          Connection decider = cluster.connect()) {
        assertEquals("2", parts(reader));
        // A session that has never used the engine.
        Sql.execute(decider, "COMMIT PREPARED 'one'");
        assertEquals(List.of("1"), Sql.rows(reader, IDS));
        Sql.execute(decider, "ROLLBACK PREPARED 'two'");
        assertEquals("0", parts(reader));
        assertEquals(List.of("1"), Sql.rows(reader, "SELECT id FROM local_item"));

        prepare(reader, 3, "three");
        prepare(reader, 4, "four");
        cluster.endpoint().kill();
        Sql.execute(decider, "COMMIT PREPARED 'three'", "ROLLBACK PREPARED 'four'");
        cluster.endpoint().start();
      }
      try (Connection connection = cluster.connect()) {
        assertEquals(List.of("1", "3"), Sql.rows(connection, IDS));
        assertEquals("0", parts(connection));
        assertEquals(List.of("1", "3"), Sql.rows(connection, "SELECT id FROM local_item"));
      }
    }
  }

  /// As a heap table does: the lock is there until the decision, also after kills of both.
  @Test
  void shouldKeepRowLocksUntilTheDecision() throws Exception {
    try (var cluster = Cluster.start("prepared-locks")) {
      preload(cluster);
      cluster.createTable("item", "id int4, v int4", "id");
      try (Connection connection = cluster.connect()) {
        Sql.execute(
            connection,
            "CREATE TABLE local_item (id int4 PRIMARY KEY, v int4)",
            "INSERT INTO item VALUES (1, 0), (2, 0), (3, 0), (4, 0)",
            "INSERT INTO local_item VALUES (1, 0), (2, 0), (3, 0), (4, 0)");
        for (int id = 1; id <= STRENGTHS.size(); id++) {
          for (String table : TABLES) {
            Sql.execute(
                connection,
                "BEGIN",
                "SELECT id FROM " + table + " WHERE id = " + id + " FOR " + STRENGTHS.get(id - 1),
                "PREPARE TRANSACTION '" + table + id + "'");
          }
        }
        assertEquals("4", parts(connection));
        assertEquals(LEFT, free(connection, "local_item"));
        assertEquals(LEFT, free(connection, "item"));
      }
      cluster.postgres().kill();
      cluster.postgres().start();
      cluster.endpoint().kill();
      cluster.endpoint().start();
      try (Connection connection = cluster.connect()) {
        assertEquals(LEFT, free(connection, "local_item"));
        assertEquals(LEFT, free(connection, "item"));
        for (int id = 1; id <= STRENGTHS.size(); id++) {
          String decision = id % 2 == 0 ? "COMMIT" : "ROLLBACK";
          for (String table : TABLES) {
            Sql.execute(connection, decision + " PREPARED '" + table + id + "'");
          }
        }
        assertEquals("0", parts(connection));
        assertEquals(
            List.of("1", "2", "3", "4"),
            Sql.rows(connection, "SELECT id FROM item ORDER BY id FOR UPDATE SKIP LOCKED"));
      }
    }
  }

  private static final List<String> TABLES = List.of("local_item", "item");
  private static final List<String> STRENGTHS =
      List.of("KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE");

  /// Rows that a lock of each strength still gets, where row N is locked in the strength N.
  private static final List<List<String>> LEFT =
      List.of(List.of("1", "2", "3"), List.of("1", "2"), List.of("1"), List.of());

  private static List<List<String>> free(Connection connection, String table) throws SQLException {
    List<List<String>> found = new ArrayList<>();
    for (String strength : STRENGTHS) {
      found.add(
          Sql.rows(
              connection,
              "SELECT id FROM " + table + " ORDER BY id FOR " + strength + " SKIP LOCKED"));
    }
    return found;
  }

  /// Every backend has the library from its start on.
  private static void preload(Cluster cluster) throws SQLException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "ALTER SYSTEM SET shared_preload_libraries = 'kakehashi_fdw'");
    }
    cluster.postgres().stop();
    cluster.postgres().start();
  }

  private static void prepare(Connection connection, int id, String name) throws SQLException {
    Sql.execute(
        connection,
        "BEGIN",
        "INSERT INTO item VALUES (" + id + ", 0)",
        "INSERT INTO local_item VALUES (" + id + ")",
        "PREPARE TRANSACTION '" + name + "'");
  }

  private static String parts(Connection connection) throws SQLException {
    return Sql.value(
        connection,
        "SELECT n FROM kakehashi_query('kakehashi',"
            + " 'SELECT count(*) FROM kakehashi_catalog.prepared_transactions') AS t (n bigint)");
  }
}
