package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// The PostgreSQL server is killed with all its backends, as by a loss of power, while they have transactions open on the engine.
class PostgresKilledTest {
  private static final int ROUNDS = 3;
  private static final int SESSIONS = 4;
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Test
  void shouldRollBackAndFreeEverythingAndServeTheRestartedServer() throws Exception {
    Random random = Sql.seededRandom("PostgresKilledTest");
    try (var cluster = Cluster.start("crash")) {
      cluster.createTable("item", "id int8, val int4", "id");
      cluster.onEngine("INSERT INTO item VALUES (0, 0)");
      cluster.endpoint().awaitQuiet(0);
      for (int round = 1; round <= ROUNDS; round++) {
        List<CompletableFuture<String>> writing = new ArrayList<>();
        for (int s = 0; s < SESSIONS; s++) {
          Connection connection = cluster.connect();
          connection.setAutoCommit(false);
          // Open, with a change that nobody else may ever see.
          Sql.execute(connection, "INSERT INTO item VALUES (" + (1 + s) + ", -1)");
          writing.add(CompletableFuture.supplyAsync(() -> writeUntilKilled(connection)));
        }
        TimeUnit.MILLISECONDS.sleep(random.nextInt(200)); // the random moment is the point
        cluster.postgres().kill();
        for (CompletableFuture<String> writer : writing) {
          String state = writer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
          assertTrue(state.startsWith("08") || state.startsWith("57P"), "SQLSTATE " + state);
        }
        cluster.endpoint().awaitQuiet(0);
        cluster.postgres().start();
        try (Connection connection = cluster.connect()) {
          assertEquals("0|" + (round - 1), Sql.value(connection, "SELECT * FROM item"));
          Sql.execute(connection, "UPDATE item SET val = val + 1");
          assertEquals("0|" + round, Sql.value(connection, "SELECT * FROM item"));
        }
      }
      cluster.endpoint().awaitQuiet(0);
    }
  }

  /// @return SQLSTATE of what ended it
  private static String writeUntilKilled(Connection connection) {
    try (connection) {
      for (long i = 0; ; i++) {
        Sql.execute(connection, "UPDATE item SET val = " + i + " WHERE val < 0");
      }
    } catch (SQLException e) {
      return String.valueOf(e.getSQLState());
    }
  }
}
