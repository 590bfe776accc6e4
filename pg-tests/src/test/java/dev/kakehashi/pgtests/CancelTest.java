package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// A cancel takes effect at any moment, and leaves nothing in use.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CancelTest {
  private static final int CANCELS = 60;
  private static final int ROWS = 200_000;

  /// What design promises is 100 ms; the rest is for a busy machine.
  private static final Duration LIMIT = Duration.ofSeconds(1);

  private final Cluster cluster = Cluster.start("cancel");

  @BeforeAll
  void load() throws SQLException {
    cluster.createTable("number", "id int4, val int4, filler text", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(
          connection,
          "INSERT INTO number SELECT i, i % 1000, repeat('x', 20) FROM generate_series(1, "
              + ROWS
              + ") i");
    }
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @Test
  void shouldTakeEffectAtRandomMomentsAndLeakNothing() throws Exception {
    Random random = Sql.seededRandom("CancelTest");
    String[] statements = {
      "SELECT sum(length(filler)) FROM (SELECT filler FROM number OFFSET 0) n",
      "SELECT a.val, count(*) FROM number a JOIN number b ON a.val = b.val GROUP BY a.val",
      "UPDATE number SET val = val WHERE id % 2 = 0",
      "SELECT * FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM number a, number b WHERE a.val < b.val') AS t(c int8)",
    };
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "SELECT count(*) FROM number");
      long files = cluster.endpoint().openFiles();
      int cancelled = 0;
      for (int i = 0; i < CANCELS; i++) {
        cancelled +=
            runAndCancel(
                    connection,
                    statements[random.nextInt(statements.length)],
                    random.nextInt(60_000))
                ? 1
                : 0;
        assertEquals(Integer.toString(ROWS), Sql.value(connection, "SELECT count(*) FROM number"));
      }
      assertTrue(
          cancelled > CANCELS / 4,
          "only " + cancelled + " of " + CANCELS + " statements were caught running");
      // Collected by the next call, which the count above was.
      assertEquals(
          "0", Sql.value(connection, "SELECT sum(outstanding_calls) FROM kakehashi_sessions"));
      assertTrue(cluster.endpoint().openFiles() <= files + 5, "open files grew from " + files);
    }
  }

  @Test
  void shouldObeyStatementTimeout() throws SQLException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "SET statement_timeout = '200ms'");
      long began = System.nanoTime();
      SQLException failure =
          Sql.failure(connection, "SELECT count(*) FROM number a JOIN number b ON a.val < b.val");
      Duration took = Duration.ofNanos(System.nanoTime() - began);
      assertEquals("57014", failure.getSQLState(), failure.getMessage());
      assertTrue(took.compareTo(LIMIT) < 0, "took " + took);
    }
  }

  /// @return whether the statement was still running
  private static boolean runAndCancel(Connection connection, String sql, int afterMicros)
      throws Exception {
    try (Statement statement = connection.createStatement()) {
      var running =
          CompletableFuture.supplyAsync(() -> {
            try {
              statement.execute(sql);
              return "";
            } catch (SQLException e) {
              return String.valueOf(e.getSQLState());
            }
          });
      TimeUnit.MICROSECONDS.sleep(afterMicros); // the random moment is the point of the test
      long began = System.nanoTime();
      statement.cancel();
      String state = running.get(30, TimeUnit.SECONDS);
      Duration took = Duration.ofNanos(System.nanoTime() - began);
      assertTrue(state.isEmpty() || state.equals("57014"), "SQLSTATE " + state + " of " + sql);
      assertTrue(
          state.isEmpty() || took.compareTo(LIMIT) < 0, "the cancel of " + sql + " took " + took);
      return !state.isEmpty();
    }
  }
}
