package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Several processes read one foreign scan: what ends one of them ends the statement, and nothing more.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ParallelScanTest {
  private static final int ENDS = 6;
  private static final int ROWS = 30_000;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final String SUM =
      "SELECT sum(local(id)) || ' ' || count(*) FROM number WHERE local(id) >= 0";

  /// Rows without end: nobody waits for them.
  private static final String ENDLESS =
      "SELECT sum(local(a.id)) FROM number a JOIN number b ON a.val + b.val > -1";

  private static final String ENDLESS_ON_ENGINE =
      "SELECT sum(local(a.id)) FROM number a JOIN number b ON a.val + b.val < -1";

  private final Cluster cluster = Cluster.start("parallel");

  @BeforeAll
  void load() throws SQLException {
    cluster.createTable("number", "id int4, val int4, filler text", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(
          connection,
          "INSERT INTO number SELECT i, i % 1000, repeat('x', i % 50) FROM generate_series(1, "
              + ROWS
              + ") i",
          "CREATE FUNCTION local(int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1 % 10; END'");
    }
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  private Connection connect() throws SQLException {
    Connection connection = cluster.connect();
    Sql.execute(
        connection,
        "SET max_parallel_workers_per_gather = 3",
        "SET parallel_setup_cost = 0",
        "SET parallel_tuple_cost = 0",
        "SET min_parallel_table_scan_size = 0",
        "SET jit = off");
    return connection;
  }

  private static String expectedSum() {
    return "135000 " + ROWS;
  }

  private static CompletableFuture<String> run(Connection connection, String sql) {
    return CompletableFuture.supplyAsync(() -> {
      try {
        Sql.execute(connection, sql);
        return "";
      } catch (SQLException e) {
        return String.valueOf(e.getSQLState());
      }
    });
  }

  private static String backend(Connection connection) throws SQLException {
    return Sql.value(connection, "SELECT pg_backend_pid()");
  }

  /// Process ids of the workers of a backend's statement, once there are any.
  private static List<String> awaitWorkers(Connection observer, String leader) {
    String sql = "SELECT pid FROM pg_stat_activity WHERE leader_pid = " + leader;
    Await.until("workers", LIMIT, () -> !rows(observer, sql).isEmpty());
    return rows(observer, sql);
  }

  private static List<String> rows(Connection connection, String sql) {
    try {
      return Sql.rows(connection, sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void awaitNoCalls(Connection connection) {
    Await.until(
        "return of all response slots",
        LIMIT,
        () ->
            List.of("0")
                .equals(rows(connection, "SELECT sum(outstanding_calls) FROM kakehashi_sessions")));
  }

  @Test
  void shouldReadWithSeveralProcesses() throws SQLException {
    try (Connection connection = connect()) {
      assertTrue(
          Sql.value(connection, "EXPLAIN " + SUM).contains("Parallel Foreign Scan on number"));
      assertEquals(expectedSum(), Sql.value(connection, SUM));
    }
  }

  @Test
  void shouldLeakNothingWhenProcessesEndAtRandomMoments() throws Exception {
    Random random = Sql.seededRandom("ParallelScanTest");
    try (Connection observer = cluster.connect();
        Connection connection = connect()) {
      String leader = backend(connection);
      assertEquals(expectedSum(), Sql.value(connection, SUM));
      cluster.endpoint().awaitQuiet(1);
      for (int i = 0; i < ENDS; i++) {
        boolean ownsRead = random.nextBoolean();
        Sql.execute(connection, "SET parallel_leader_participation = " + (ownsRead ? "on" : "off"));
        CompletableFuture<String> running =
            run(connection, i % 2 == 0 ? ENDLESS : ENDLESS_ON_ENGINE);
        List<String> workers = awaitWorkers(observer, leader);
        TimeUnit.MICROSECONDS.sleep(random.nextInt(20_000)); // the random moment is the point
        boolean cancel = random.nextBoolean();
        Sql.execute(
            observer,
            cancel
                ? "SELECT pg_cancel_backend(" + leader + ")"
                : "SELECT pg_terminate_backend(" + workers.getFirst() + ")");
        assertEquals(
            cancel ? "57014" : "57P01", running.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS));
        assertEquals(expectedSum(), Sql.value(connection, SUM));
      }
      awaitNoCalls(connection);
      cluster.endpoint().awaitQuiet(1);
    }
  }

  @Test
  void shouldReportTheEndOfTheEndpointAndGoOnWithItsNextLife() throws Exception {
    try (Connection observer = cluster.connect();
        Connection connection = connect()) {
      for (String participation : List.of("off", "on")) {
        Sql.execute(connection, "SET parallel_leader_participation = " + participation);
        CompletableFuture<String> running = run(connection, ENDLESS_ON_ENGINE);
        awaitWorkers(observer, backendOf(observer));
        cluster.endpoint().kill();
        assertEquals("08006", running.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS));
        cluster.endpoint().start();
        assertEquals(expectedSum(), Sql.value(connection, SUM));
      }
    }
  }

  /// The backend that runs a statement over the table.
  private static String backendOf(Connection observer) {
    String sql =
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '%number a JOIN%' AND state = 'active' AND leader_pid IS NULL AND pid <> pg_backend_pid()";
    Await.until("the statement", LIMIT, () -> !rows(observer, sql).isEmpty());
    return rows(observer, sql).getFirst();
  }

  @Test
  void shouldServeOthersWhenAWorkerIsKilled() throws Exception {
    try (Connection bystander = cluster.connect()) {
      try (Connection observer = cluster.connect();
          Connection connection = connect()) {
        String leader = backend(connection);
        CompletableFuture<String> running = run(connection, ENDLESS);
        OsProcess.signal("KILL", Long.parseLong(awaitWorkers(observer, leader).getFirst()));
        assertTrue(!running.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS).isEmpty());
      } catch (SQLException e) {
        // PostgreSQL ends all its backends then; that their connections cannot be closed in order
        // is part of it.
      }
      cluster.postgres().awaitRecovery(bystander);
    }
    try (Connection connection = connect()) {
      assertEquals(expectedSum(), Sql.value(connection, SUM));
      cluster.endpoint().awaitQuiet(1);
    }
  }
}
