package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Conditions that only a backend that waits for the engine can see: deadlocks of the engine's rows with PostgreSQL's locks, and parts of
/// ended transactions that nobody has decided.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LongWaitTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Cluster cluster = Cluster.start("longwait");
  private final List<Connection> connections = new ArrayList<>();

  @BeforeAll
  void createTables() throws SQLException {
    cluster.createTable("item", "id int4, v int4", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(
          connection,
          "INSERT INTO item SELECT i, 0 FROM generate_series(1, 3) i",
          "CREATE TABLE local_item AS SELECT i AS id, 0 AS v FROM generate_series(1, 3) i",
          "ALTER SYSTEM SET deadlock_timeout = '100ms'",
          "SELECT pg_reload_conf()");
    }
  }

  @AfterEach
  void close() throws SQLException {
    for (Connection connection : connections) {
      connection.close();
    }
    connections.clear();
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @Test
  void shouldEndADeadlockOfARowOfTheEngineWithARowOfPostgresql() throws Exception {
    Connection first = begin("UPDATE item SET v = v + 1 WHERE id = 1");
    Connection second = begin("UPDATE local_item SET v = v + 1 WHERE id = 1");
    var onEngine = run(second, "UPDATE item SET v = v + 1 WHERE id = 1");
    var onLock = run(first, "UPDATE local_item SET v = v + 1 WHERE id = 1");
    assertEquals("40P01", onEngine.join());
    Sql.execute(second, "ROLLBACK");
    assertEquals("00000", onLock.join());
    Sql.execute(first, "COMMIT");
  }

  /// The wait for PostgreSQL's lock comes first, and others are between the two.
  @Test
  void shouldEndADeadlockOfSeveralSessions() throws Exception {
    Connection first = begin("UPDATE item SET v = v + 1 WHERE id = 1");
    Connection second = begin("UPDATE local_item SET v = v + 1 WHERE id = 2");
    Connection third = begin("SELECT pg_advisory_xact_lock(3)");
    var onRow = run(third, "UPDATE local_item SET v = v + 1 WHERE id = 2");
    var onLock = run(first, "SELECT pg_advisory_xact_lock(3)");
    var onEngine = run(second, "UPDATE item SET v = v + 1 WHERE id = 1");
    assertEquals("40P01", onEngine.join());
    Sql.execute(second, "ROLLBACK");
    assertEquals("00000", onRow.join());
    Sql.execute(third, "ROLLBACK");
    assertEquals("00000", onLock.join());
    Sql.execute(first, "ROLLBACK");
  }

  @Test
  void shouldLetThoseWaitThatWaitForOneWhoDoesNot() throws Exception {
    Connection owner =
        begin(
            "UPDATE item SET v = v + 1 WHERE id = 2",
            "UPDATE local_item SET v = v + 1 WHERE id = 3");
    Connection onLock = begin("UPDATE item SET v = v + 1 WHERE id = 3");
    Connection onEngine = begin("UPDATE local_item SET v = v + 1 WHERE id = 1");
    var lock = run(onLock, "UPDATE local_item SET v = v + 1 WHERE id = 3");
    var row = run(onEngine, "UPDATE item SET v = v + 1 WHERE id = 2");
    try (Connection witness = cluster.connect()) {
      // Five looks of the one that waits for the engine.
      Sql.execute(witness, "SELECT pg_sleep(0.5)");
    }
    assertFalse(lock.isDone() || row.isDone());
    Sql.execute(owner, "COMMIT");
    assertEquals("00000", lock.join());
    assertEquals("00000", row.join());
  }

  /// Its backend is gone, and whoever waits has been attached all the time.
  @Test
  void shouldDecideThePartThatItWaitsFor() throws Exception {
    try (Connection connection = cluster.connect();
        Connection pooled = cluster.connect()) {
      assertEquals("3", Sql.value(pooled, "SELECT count(*) FROM item"));
      for (String end : List.of("COMMIT", "ROLLBACK")) {
        Sql.execute(pooled, "UPDATE item SET v = 0 WHERE id = 2");
        Sql.execute(connection, "BEGIN");
        String part =
            Sql.value(
                connection,
                "SELECT 'kakehashi/' || s.system_identifier || '/' || d.oid || '/' || pg_current_xact_id() || '/1'"
                    + " FROM pg_control_system() s, pg_database d WHERE datname = current_database()");
        Sql.execute(connection, end, "BEGIN", "UPDATE item SET v = 1 WHERE id = 2");
        Sql.execute(
            connection,
            "SELECT kakehashi_execute('kakehashi', 'PREPARE TRANSACTION ''" + part + "''')",
            "ROLLBACK");
        Sql.execute(pooled, "UPDATE item SET v = v + 10 WHERE id = 2");
        assertEquals(
            end.equals("COMMIT") ? "11" : "10",
            Sql.value(pooled, "SELECT v FROM item WHERE id = 2"));
      }
    }
  }

  private Connection begin(String... statements) throws SQLException {
    Connection connection = cluster.connect();
    connections.add(connection);
    Sql.execute(connection, "BEGIN");
    Sql.execute(connection, statements);
    return connection;
  }

  /// Runs a statement that has to wait; returns when it does.
  ///
  /// @return the SQLSTATE that it ends with
  private CompletableFuture<String> run(Connection connection, String sql) throws SQLException {
    String pid = Sql.value(connection, "SELECT pg_backend_pid()");
    CompletableFuture<String> result =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                Sql.execute(connection, sql);
                return "00000";
              } catch (SQLException e) {
                return String.valueOf(e.getSQLState());
              }
            },
            Thread::startVirtualThread);
    try (Connection witness = cluster.connect()) {
      Await.until(
          "wait of " + sql,
          LIMIT,
          () -> {
            try {
              return result.isDone()
                  || Sql.value(
                          witness,
                          "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type IN ('Lock', 'Extension')"
                              + " AND state = 'active' AND pid = "
                              + pid)
                      .equals("1");
            } catch (SQLException e) {
              throw new IllegalStateException(e);
            }
          });
    }
    return result;
  }
}
