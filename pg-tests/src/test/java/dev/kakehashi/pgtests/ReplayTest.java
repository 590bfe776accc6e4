package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.JavaSession;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Requests that an endpoint with an archive got through PostgreSQL are sent to an empty one by `kakehashi replay`. The answers are the
/// same, and so are the rows afterwards.
class ReplayTest {
  private static final String ROWS = "SELECT * FROM item ORDER BY id";
  private static final String ORDERS =
      "SELECT * FROM kakehashi_query('kakehashi', 'SELECT id, state FROM orders ORDER BY id') AS (id bigint, state text)";
  private static final List<String> CALLED = List.of("1|canceled", "2|canceled", "3|placed");

  @Test
  void shouldRebuildTheRowsOnAnotherEndpoint() throws Exception {
    try (var cluster = Cluster.start("replay", "archive=on")) {
      cluster.createTable("item", "id int4, name text, price numeric(10,2)", "id");
      work(cluster);
      call(cluster);
      List<String> rows;
      try (Connection connection = cluster.connect()) {
        rows = Sql.rows(connection, ROWS);
        assertEquals(CALLED, Sql.rows(connection, ORDERS));
      }
      assertEquals(5001, rows.size());
      cluster.endpoint().stop();

      Path archive = cluster.endpoint().dataDirectory().resolve("archive");
      try (var other =
          EndpointProcess.start(
              cluster.workspace().memory().resolve("other"),
              cluster.workspace().newDiskDirectory("other"))) {
        String summary =
            Tools.run(
                "replay",
                "--runtime-directory",
                other.runtimeDirectory().toString(),
                archive.toString());
        assertTrue(summary.contains(" 0 skipped, 0 answers differ"), "replay reports: " + summary);
        try (Connection connection = cluster.connect()) {
          Sql.execute(
              connection,
              "ALTER SERVER kakehashi OPTIONS (SET runtime_dir '"
                  + other.runtimeDirectory()
                  + "')");
          assertEquals(rows, Sql.rows(connection, ROWS));
          assertEquals(CALLED, Sql.rows(connection, ORDERS));
        }
        // Once more over the rows that are there now: many keys are taken, and it says so.
        Tools.Outcome again =
            Tools.outcome(
                "replay",
                "--runtime-directory",
                other.runtimeDirectory().toString(),
                archive.toString());
        assertEquals(3, again.exitCode(), again.output());
        assertTrue(again.output().contains("succeeded then, SQLSTATE 42P07"), again.output());
      }
    }
  }

  /// Calls of procedures without statements; in a transaction that is kept, in one that is not, and one that fails.
  private static void call(Cluster cluster) throws Exception {
    String schema =
        Files.readString(Installation.checkout().resolve("examples/order-service/schema.sql"));
    for (String statement : schema.replaceAll("--[^\n]*", "").strip().split(";", -1)) {
      if (!statement.isBlank()) {
        cluster.onEngine(statement);
      }
    }
    try (Connection connection = cluster.connect();
        var deploy =
            connection.prepareStatement("SELECT kakehashi_deploy('kakehashi', 'shop', ?)")) {
      deploy.setBytes(1, Files.readAllBytes(Installation.exampleJar("order-service")));
      deploy.execute();
    }
    cluster.onEngine("INSERT INTO product VALUES (1, 'tea', 4.50, 100)");
    cluster.onEngine("INSERT INTO customer VALUES ('anna', 'anna@example.org')");
    cluster.onEngine(
        "INSERT INTO orders SELECT i, 'anna', 1, 1, 4.50, 'placed' FROM generate_series(1, 3) i");
    try (JavaSession session = JavaSession.open(cluster)) {
      session.run("begin");
      assertEquals("1", session.run("call cancel_order 1"));
      assertEquals("1", session.run("call cancel_order 2"));
      session.run("commit");
      session.run("begin");
      assertEquals("1", session.run("call cancel_order 3"));
      session.run("rollback");
      session.run("begin");
      assertEquals("error P0002", session.run("call cancel_order 404"));
      session.run("rollback");
    }
  }

  /// Some of everything: bulk rows (through the arena), transactions that overlap, savepoints, failures, a time-out.
  private static void work(Cluster cluster) throws SQLException {
    try (Connection one = cluster.connect();
        Connection two = cluster.connect()) {
      Sql.execute(
          one,
          "INSERT INTO item SELECT i, 'item ' || i, i * 0.25 FROM generate_series(1, 5000) i",
          "BEGIN",
          "UPDATE item SET price = price + 1 WHERE id <= 10",
          "SAVEPOINT s",
          "DELETE FROM item WHERE id = 1",
          "ROLLBACK TO s");
      Sql.execute(two, "BEGIN", "UPDATE item SET name = 'two' WHERE id = 20", "COMMIT");
      Sql.execute(one, "COMMIT");
      Sql.execute(two, "BEGIN", "DELETE FROM item", "ROLLBACK");
      assertEquals(
          "23505", Sql.failure(one, "INSERT INTO item VALUES (1, 'again', 0)").getSQLState());
      Sql.execute(two, "SET statement_timeout = '300ms'");
      assertEquals(
          "57014",
          Sql.failure(
                  two,
                  "SELECT count(*) FROM item a, item b, item c WHERE a.price * b.price * c.price = 5")
              .getSQLState());
      Sql.execute(one, "INSERT INTO item VALUES (0, NULL, NULL)");
      // Has no row at the other endpoint, where another process asks.
      String process = Sql.value(one, "SELECT pg_backend_pid()");
      assertEquals(
          process,
          Sql.value(
              one,
              "SELECT * FROM kakehashi_query('kakehashi',"
                  + " 'SELECT process_id FROM kakehashi_catalog.sessions WHERE process_id = "
                  + process
                  + "') AS s(process_id int4)"));
    }
  }
}
