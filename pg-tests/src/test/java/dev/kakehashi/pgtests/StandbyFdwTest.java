package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Foreign tables whose server is a standby, before and after its promotion.
class StandbyFdwTest {
  private static final String IDS = "SELECT id FROM item ORDER BY id";

  /// Makes a standby of the cluster's endpoint, and starts it when it has all.
  static EndpointProcess standby(Cluster cluster, Workspace workspace) throws Exception {
    cluster.onEngine("CREATE ROLE replica LOGIN PASSWORD 'secret'");
    cluster.onEngine("GRANT kakehashi_replication TO replica");
    Path home = workspace.newDiskDirectory("second");
    Path password = home.resolve("password");
    Files.writeString(password, "secret\n");
    String[] settings = {
      "primary=" + cluster.endpoint().httpUri(),
      "primary_user=replica",
      "primary_password_file=" + password,
      "standby_name=second"
    };
    List<String> init = new ArrayList<>(EndpointProcess.program());
    init.addAll(List.of("standby", "init", "-D", home.resolve("endpoint").toString()));
    for (String setting : settings) {
      init.addAll(List.of("-s", setting));
    }
    OsProcess.Outcome outcome = OsProcess.run(init, Map.of(), "", Duration.ofMinutes(2));
    assertEquals(0, outcome.exitCode(), outcome.output());
    EndpointProcess standby =
        EndpointProcess.start(workspace.memory().resolve("second"), home, settings);
    Await.until("the standby", () -> standby.command("", "status").contains("behind: 0 bytes"));
    return standby;
  }

  private static void prepare(Connection connection, int id, String name) throws SQLException {
    Sql.execute(
        connection,
        "BEGIN",
        "INSERT INTO item VALUES (" + id + ", 0)",
        "INSERT INTO local_item VALUES (" + id + ")",
        "PREPARE TRANSACTION '" + name + "'");
  }

  private static String warnings(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
      StringBuilder all = new StringBuilder();
      for (SQLWarning each = statement.getWarnings(); each != null; each = each.getNextWarning()) {
        all.append(each.getMessage()).append('\n');
      }
      return all.toString();
    }
  }

  private static List<String> parts(Connection connection) throws SQLException {
    return Sql.rows(
        connection,
        "SELECT n FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM kakehashi_catalog.prepared_transactions')"
            + " AS t (n bigint)");
  }

  @Test
  void shouldReadAndDecideNothingBeforeThePromotion() throws Exception {
    Workspace workspace = Workspace.create("standby");
    try (var cluster = Cluster.start(workspace, "http_port=0")) {
      try (Connection connection = cluster.connect()) {
        Sql.execute(connection, "ALTER SYSTEM SET shared_preload_libraries = 'kakehashi_fdw'");
      }
      cluster.postgres().stop();
      cluster.postgres().start();
      cluster.createTable("item", "id int4, v int4", "id");
      try (EndpointProcess standby = standby(cluster, workspace)) {
        try (Connection connection = cluster.connect()) {
          Sql.execute(
              connection, "CREATE TABLE local_item (id int4)", "INSERT INTO item VALUES (9, 0)");
          prepare(connection, 1, "one");
          prepare(connection, 2, "two");
        }
        Await.until("the standby", () -> standby.command("", "status").contains("behind: 0 bytes"));
        cluster.endpoint().kill();
        try (Connection connection = cluster.connect()) {
          Sql.execute(
              connection,
              "ALTER SERVER kakehashi OPTIONS (SET runtime_dir '"
                  + standby.runtimeDirectory()
                  + "')");
        }
        try (Connection connection = cluster.connect()) {
          assertEquals(List.of("9"), Sql.rows(connection, IDS));
          for (String change :
              List.of(
                  "INSERT INTO item VALUES (3, 0)",
                  "UPDATE item SET v = 1",
                  "DELETE FROM item",
                  "SELECT * FROM item FOR UPDATE",
                  "SELECT kakehashi_execute('kakehashi', 'CREATE TABLE t (id int)')")) {
            assertEquals("25006", Sql.failure(connection, change).getSQLState(), change);
          }
          // PostgreSQL's decision stands, and nothing is concluded of it yet.
          String said = warnings(connection, "COMMIT PREPARED 'one'");
          assertTrue(said.contains("is not decided yet: the endpoint is a standby"), said);
          Sql.execute(connection, "ROLLBACK PREPARED 'two'");
          assertEquals(List.of("1"), Sql.rows(connection, "SELECT id FROM local_item"));
          assertEquals(List.of("2"), parts(connection));
          List<String> resolved =
              Sql.rows(connection, "SELECT outcome FROM kakehashi_resolve('kakehashi')");
          assertEquals(2, resolved.size());
          resolved.forEach(
              outcome -> assertTrue(outcome.startsWith("failed: cannot execute"), outcome));
          assertEquals(List.of("9"), Sql.rows(connection, IDS));
        }
        assertTrue(standby.command("", "promote").contains("promoted"));
        try (Connection connection = cluster.connect()) {
          assertEquals(List.of("1", "9"), Sql.rows(connection, IDS));
          assertEquals(List.of("0"), parts(connection));
          Sql.execute(connection, "INSERT INTO item VALUES (4, 0)");
          assertEquals(List.of("1", "4", "9"), Sql.rows(connection, IDS));
        }
      }
    }
  }

  /// A copy of PostgreSQL that lacks the last transactions takes over, and gives their ids to others.
  @Test
  void shouldNotDecideByAnotherTransactionOfThatId() throws Exception {
    Workspace workspace = Workspace.create("copy");
    try (var cluster = Cluster.start(workspace)) {
      cluster.createTable("item", "id int4, v int4", "id");
      Path data;
      try (Connection connection = cluster.connect()) {
        Sql.execute(
            connection,
            "CREATE TABLE local_item (id int4)",
            "ALTER SYSTEM SET shared_preload_libraries = 'kakehashi_fdw'");
        data = Path.of(Sql.value(connection, "SHOW data_directory"));
      }
      Path copy = data.resolveSibling("copy");
      cluster.postgres().stop();
      OsProcess.runOkAsSelf(
          List.of("cp", "-a", data.toString(), copy.toString()), Duration.ofMinutes(1));
      cluster.postgres().start();
      long id;
      try (Connection connection = cluster.connect()) {
        Sql.execute(connection, "BEGIN", "INSERT INTO item VALUES (1, 0)");
        id = Long.parseLong(Sql.value(connection, "SELECT pg_current_xact_id()"));
        Sql.execute(connection, "PREPARE TRANSACTION 'one'");
        assertEquals(List.of("1"), parts(connection));
      }
      cluster.postgres().kill();
      OsProcess.runOkAsSelf(List.of("rm", "-rf", data.toString()), Duration.ofMinutes(1));
      OsProcess.runOkAsSelf(List.of("mv", copy.toString(), data.toString()), Duration.ofMinutes(1));
      Files.createFile(data.resolve("standby.signal"));
      cluster.postgres().start();
      try (Connection connection = cluster.connect()) {
        assertEquals("t", Sql.value(connection, "SELECT pg_promote()"));
      }
      try (Connection connection = cluster.connect()) {
        long given;
        do {
          given = Long.parseLong(Sql.value(connection, "SELECT pg_current_xact_id()"));
        } while (given <= id);
        assertEquals(
            List.of("unknown"),
            Sql.rows(connection, "SELECT outcome FROM kakehashi_resolve('kakehashi')"));
        assertEquals(List.of("1"), parts(connection));
        assertEquals(List.of(), Sql.rows(connection, IDS));
        // Parts that are prepared from here on are decided as ever.
        Sql.execute(
            connection,
            "BEGIN",
            "INSERT INTO item VALUES (2, 0)",
            "INSERT INTO local_item VALUES (2)",
            "COMMIT");
        assertEquals(List.of("2"), Sql.rows(connection, IDS));
      }
    }
  }
}
