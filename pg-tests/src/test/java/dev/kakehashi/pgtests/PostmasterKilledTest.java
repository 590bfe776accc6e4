package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// Backends that wait for the engine end with their postmaster, whatever they wait for: PostgreSQL could not start again before.
class PostmasterKilledTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Test
  void shouldEndEachWaitWithThePostmaster() throws Exception {
    try (var cluster = Cluster.start("postmaster")) {
      cluster.createTable("item", "id int4, v int4", "id");
      try (Connection connection = cluster.connect()) {
        Sql.execute(
            connection,
            "ALTER SYSTEM SET shared_preload_libraries = 'kakehashi_fdw'",
            "INSERT INTO item SELECT i, 0 FROM generate_series(1, 3) i",
            "CREATE TABLE local_item (id int4)",
            "CREATE TABLE parted (LIKE item) PARTITION BY RANGE (id)",
            "CREATE FOREIGN TABLE first PARTITION OF parted FOR VALUES FROM (0) TO (10) SERVER kakehashi"
                + " OPTIONS (table_name 'item', async_capable 'true')",
            "CREATE FOREIGN TABLE second PARTITION OF parted FOR VALUES FROM (10) TO (20) SERVER kakehashi"
                + " OPTIONS (table_name 'item', async_capable 'true')");
      }
      cluster.postgres().stop();
      cluster.postgres().start();
      try (Connection owner = cluster.connect()) {
        // Decided by nobody before PostgreSQL runs again.
        Sql.execute(
            owner, "BEGIN", "UPDATE item SET v = 1 WHERE id = 1", "PREPARE TRANSACTION 'part'");
      }
      Connection row = cluster.connect();
      Connection function = cluster.connect();
      Connection append = cluster.connect();
      Connection commit = cluster.connect();
      Connection attach = cluster.connect();
      Connection witness = cluster.connect();
      Sql.execute(append, "SELECT * FROM parted");
      Sql.execute(
          commit,
          "BEGIN",
          "UPDATE item SET v = 1 WHERE id = 2",
          "INSERT INTO local_item VALUES (2)");
      List<CompletableFuture<String>> waits = new ArrayList<>();
      waits.add(run(row, "UPDATE item SET v = 2 WHERE id = 1"));
      waits.add(
          run(function, "SELECT kakehashi_execute('kakehashi', 'DELETE FROM item WHERE id = 1')"));
      awaitActive(witness, waits.size());
      cluster.endpoint().pause();
      try {
        waits.add(run(append, "SELECT * FROM parted"));
        waits.add(run(commit, "COMMIT"));
        waits.add(run(attach, "SELECT * FROM item"));
        awaitActive(witness, waits.size());
        cluster.postgres().killPostmaster();
        // The endpoint says nothing until then: an answer of its own would end a wait, too.
        for (CompletableFuture<String> wait : waits) {
          String state = wait.join();
          assertEquals("57P01", state.startsWith("08") ? "57P01" : state);
        }
      } finally {
        cluster.endpoint().resume();
      }
      cluster.postgres().start();
      try (Connection connection = cluster.connect()) {
        Sql.execute(
            connection, "COMMIT PREPARED 'part'", "UPDATE item SET v = v + 10 WHERE id <= 2");
        assertEquals(
            List.of("1|11", "2|10", "3|0"),
            Sql.rows(connection, "SELECT id, v FROM item ORDER BY id"));
      }
    }
  }

  /// @return the SQLSTATE of what has ended the statement
  private static CompletableFuture<String> run(Connection connection, String sql) {
    return CompletableFuture.supplyAsync(
        () -> {
          try (connection) {
            Sql.execute(connection, sql);
            return "00000";
          } catch (SQLException e) {
            return String.valueOf(e.getSQLState());
          }
        },
        Thread::startVirtualThread);
  }

  private static void awaitActive(Connection witness, int count) {
    Await.until(
        count + " sessions to wait",
        LIMIT,
        () -> {
          try {
            return Sql.value(
                    witness,
                    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                        + " AND state = 'active' AND pid <> pg_backend_pid()")
                .equals(Integer.toString(count));
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
  }
}
