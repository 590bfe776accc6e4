package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.postgresql.util.PSQLException;

/// An engine that refuses queries when it plans them, as one does that spreads its rows over nodes. Statements are planned anew without
/// such queries.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before the tests
class RefusedQueriesTest {
  private static final String JOIN =
      "SELECT u.x, count(*) FROM t JOIN u ON u.t_id = t.id GROUP BY u.x ORDER BY u.x";

  private static final List<String> JOINED = List.of("0,2", "1,2", "2,2", "3,2", "4,2");

  private Cluster cluster;
  private Path withheld;

  @BeforeAll
  void start() throws SQLException, IOException {
    Workspace workspace = Workspace.create("refused");
    withheld = workspace.disk().resolve("withheld");
    Files.writeString(withheld, "");
    cluster =
        Cluster.startWith(
            Map.of(EndpointProcess.WITHHELD, withheld.toString()),
            workspace,
            EndpointProcess.TEST_ENGINE);
    try (Connection connection = cluster.connect()) {
      for (String table :
          List.of(
              "t (id int8 PRIMARY KEY, a int4)",
              "u (t_id int8, x int4)",
              "v (x int4, name text)")) {
        Sql.execute(
            connection, "SELECT kakehashi_execute('kakehashi', 'CREATE TABLE " + table + "')");
      }
      Sql.execute(
          connection,
          "IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO public",
          "INSERT INTO t SELECT i, i % 3 FROM generate_series(1, 20) i",
          "INSERT INTO u SELECT i, i % 5 FROM generate_series(1, 10) i",
          "INSERT INTO v SELECT i, 'v' || i FROM generate_series(0, 4) i");
    }
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @BeforeEach
  void refuseNothing() throws IOException {
    Files.writeString(withheld, "");
  }

  /// A session whose first statement has been.
  private Connection refusing(String... lines) throws IOException, SQLException {
    Files.writeString(withheld, "capability BACKUP\n" + String.join("\n", lines) + "\n");
    Connection connection = cluster.connect();
    Sql.execute(connection, "SELECT count(*) FROM t");
    return connection;
  }

  private static List<String> rows(Connection connection, String sql) throws SQLException {
    return Sql.rows(connection, sql).stream().map(row -> row.replace('|', ',')).toList();
  }

  private static String plan(Connection connection, String sql) throws SQLException {
    return Sql.rows(connection, "EXPLAIN (VERBOSE, COSTS OFF) " + sql).stream()
        .collect(Collectors.joining("\n"));
  }

  private static String remote(Connection connection, String sql) throws SQLException {
    return plan(connection, sql)
        .lines()
        .filter(line -> line.contains("Remote SQL: "))
        .collect(Collectors.joining("\n"));
  }

  @Test
  void shouldSendQueriesThatAreNotRefused() throws SQLException, IOException {
    try (Connection connection = refusing("refuses FOR UPDATE")) {
      assertTrue(remote(connection, JOIN).contains(" JOIN "));
      assertEquals(JOINED, rows(connection, JOIN));
    }
  }

  @Test
  void shouldReadTablesByThemselvesWhereJoinsAreRefused() throws SQLException, IOException {
    try (Connection connection = refusing("refuses  JOIN ", "refuses EXISTS")) {
      assertFalse(remote(connection, JOIN).contains(" JOIN "), remote(connection, JOIN));
      assertEquals(JOINED, rows(connection, JOIN));
      assertTrue(remote(connection, "SELECT a, count(*) FROM t GROUP BY a").contains("GROUP BY"));
      String exists =
          "SELECT count(*) FROM t WHERE EXISTS (SELECT FROM u WHERE u.t_id = t.id AND u.x < 2)";
      assertEquals(List.of("4"), rows(connection, exists));
      // Another session of the server takes what this one has found out for nothing.
      refuseNothing();
      try (Connection other = cluster.connect()) {
        assertTrue(remote(other, JOIN).contains(" JOIN "));
      }
    }
  }

  /// Refuses to join two tables, in whichever order.
  private static String apart(String one, String other) {
    return "refuses \"%1$s\".*\"%2$s\"|\"%2$s\".*\"%1$s\"".formatted(one, other);
  }

  @Test
  void shouldLeaveThoseJoinsToTheEngineThatItDoesNotRefuse() throws SQLException, IOException {
    try (Connection connection = refusing(apart("u", "v"))) {
      String three =
          "SELECT v.name, count(*) FROM t JOIN u ON u.t_id = t.id JOIN v ON v.x = u.x"
              + " WHERE t.a = 1 GROUP BY v.name ORDER BY v.name";
      List<String> remote = remote(connection, three).lines().toList();
      assertEquals(2, remote.size(), remote::toString);
      assertTrue(
          remote.stream().anyMatch(sql -> sql.contains("\"t\"") && sql.contains("\"u\"")),
          remote::toString);
      assertEquals(
          List.of("v0,1", "v1,1", "v2,1", "v4,1"), rows(connection, three), remote::toString);
    }
  }

  @Test
  void shouldLeaveJoinsToTheEngineWhoseGroupsItRefuses() throws SQLException, IOException {
    try (Connection connection = refusing("refuses  JOIN .*GROUP BY")) {
      String remote = remote(connection, JOIN);
      assertTrue(remote.contains(" JOIN "), remote);
      assertFalse(remote.contains("GROUP BY"), remote);
      assertEquals(JOINED, rows(connection, JOIN));
      assertTrue(
          remote(connection, "SELECT a, count(*) FROM t GROUP BY a").contains("GROUP BY"), remote);
    }
  }

  @Test
  void shouldPlanEachQueryOfAStatementAnewByItself() throws SQLException, IOException {
    try (Connection connection = refusing(apart("u", "v"))) {
      String both =
          "SELECT count(*) FROM (SELECT v.name FROM u JOIN v ON v.x = u.x OFFSET 0) p,"
              + " (SELECT t.a FROM t JOIN u ON u.t_id = t.id OFFSET 0) q";
      assertTrue(
          remote(connection, both)
              .lines()
              .anyMatch(sql -> sql.contains("\"t\"") && sql.contains("\"u\"")),
          both);
      assertEquals(List.of("100"), rows(connection, both));
    }
  }

  @Test
  void shouldReadRowsAloneWhereGroupsAreRefused() throws SQLException, IOException {
    try (Connection connection = refusing("refuses  JOIN ", "refuses GROUP BY")) {
      String grouped = "SELECT a, count(*) FROM t GROUP BY a ORDER BY a";
      assertFalse(remote(connection, grouped).contains("GROUP BY"), remote(connection, grouped));
      assertEquals(List.of("0,6", "1,7", "2,7"), rows(connection, grouped));
      assertEquals(JOINED, rows(connection, JOIN));
    }
  }

  @Test
  void shouldPlanPreparedStatementsAnew() throws SQLException, IOException {
    try (Connection connection = refusing("refuses  JOIN ")) {
      Sql.execute(
          connection,
          "SET plan_cache_mode = force_generic_plan",
          "PREPARE p (int8) AS SELECT t.a FROM t JOIN u ON u.t_id = t.id WHERE t.id = $1");
      assertEquals(List.of("1"), rows(connection, "EXECUTE p (4)"));
    }
  }

  @Test
  void shouldPlanTheFirstStatementOfASessionAnew() throws SQLException, IOException {
    Files.writeString(withheld, "capability BACKUP\nrefuses  JOIN \n");
    try (Connection connection = cluster.connect()) {
      assertEquals(JOINED, rows(connection, JOIN));
    }
  }

  private static String hint(SQLException failure) {
    return String.valueOf(((PSQLException) failure).getServerErrorMessage().getHint());
  }

  @Test
  void shouldNameTheSettingWhereTheEngineHasNotSaidThatItRefuses()
      throws SQLException, IOException {
    try (Connection connection = refusing("surprises  JOIN ")) {
      SQLException failure = Sql.failure(connection, JOIN);
      assertEquals("0A000", failure.getSQLState());
      assertTrue(hint(failure).contains("SET kakehashi.push_down = 'rows'"), hint(failure));
      Sql.execute(connection, "SET kakehashi.push_down = 'tables'");
      assertEquals(JOINED, rows(connection, JOIN));
    }
  }
}
