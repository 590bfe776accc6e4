package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.AllocationFaults;
import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// An allocation of the backend fails in the midst of a script, with the extension on the stack: the client is told, and nothing is half
/// done. The session goes on as if nothing had been.
///
/// `-Dkakehashi.failedAllocations=100` for more places of each script, 0 for all of them, one after the other.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 600, unit = TimeUnit.MINUTES)
class FailedAllocationTest {
  private static final int PLACES = Integer.getInteger("kakehashi.failedAllocations", 2);
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /// No memory, and no room in the file systems of files in memory.
  private static final Set<String> EXPECTED = Set.of("53200", "53100");

  private static final int BASE_ROWS = 3_000;

  /// The statements of a transaction. One that writes leaves three rows of `item` and one row of the local `journal`, all with its number.
  enum Script {
    POINT("SELECT val FROM item WHERE id = 7"),
    SUM("SELECT count(*), sum(val) FROM item WHERE round = 0 AND local(val) >= 0"),
    ROWS("SELECT id, note FROM item WHERE round = 0 ORDER BY id"),
    GROUPS("SELECT val % 7, count(*), max(note) FROM item WHERE round = 0 GROUP BY 1 ORDER BY 1"),
    JOIN("SELECT count(*), sum(i.val) FROM small s JOIN item i ON i.id = s.id"),
    LOOKUPS(
        "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off",
        "SELECT s.id, (SELECT note FROM item i WHERE i.id = s.id AND local(i.val) >= 0) FROM small s ORDER BY 1",
        "RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material"),
    QUERY(
        "SELECT n FROM kakehashi_query('kakehashi', 'select count(*) from item where round = 0') AS t (n int8)"),
    EXPLAIN(
        "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT val FROM item WHERE id = 9"),
    ANALYSIS("ANALYZE item"),
    CURSORS(
        "BEGIN",
        "DECLARE a CURSOR FOR SELECT id FROM item WHERE round = 0 ORDER BY id",
        "DECLARE b CURSOR FOR SELECT note FROM item WHERE round = 0 ORDER BY id DESC",
        "FETCH 10 FROM a",
        "FETCH 10 FROM b",
        "FETCH 2000 FROM a",
        "CLOSE a",
        "COMMIT"),
    INSERT(
        "BEGIN",
        "INSERT INTO item SELECT 1000000 + g, :round, g, 'new' FROM generate_series(1, 3) g",
        "INSERT INTO journal VALUES (:round)",
        "COMMIT"),
    INSERT_ALONE(
        "WITH local AS (INSERT INTO journal VALUES (:round) RETURNING round) INSERT INTO item SELECT 1000000 + g, round, g, 'new'"
            + " FROM local, generate_series(1, 3) g RETURNING id, note"),
    UPDATE(
        "BEGIN",
        "INSERT INTO item SELECT 1000000 + g, :round, g, 'new' FROM generate_series(1, 4) g",
        "UPDATE item SET val = val + 1 WHERE round = :round",
        "UPDATE item SET val = local(val) + 1, note = note || 'x' WHERE round = :round RETURNING val",
        "DELETE FROM item WHERE round = :round AND id = 1000004",
        "INSERT INTO item VALUES (1000003, :round, 9, 'again') ON CONFLICT (id) DO UPDATE SET val = excluded.val RETURNING val",
        "SELECT id FROM item WHERE id = 1000002 FOR UPDATE",
        "INSERT INTO journal VALUES (:round)",
        "COMMIT"),
    SAVEPOINTS(
        "BEGIN",
        "SAVEPOINT first",
        "INSERT INTO item SELECT 1000000 + g, :round, g, 'new' FROM generate_series(1, 2) g",
        "SAVEPOINT second",
        "INSERT INTO item VALUES (1000009, :round, 0, 'not there')",
        "ROLLBACK TO second",
        "INSERT INTO item VALUES (1000003, :round, 0, 'there')",
        "RELEASE second",
        "INSERT INTO journal VALUES (:round)",
        "RELEASE first",
        "COMMIT"),
    BLOCKS(
        """
        DO $$
        BEGIN
          INSERT INTO item SELECT 1000000 + g, :round, g, 'new' FROM generate_series(1, 3) g;
          FOR i IN 1..2 LOOP
            BEGIN
              INSERT INTO item VALUES (1000007, :round, i, 'not there');
              INSERT INTO item VALUES (1, :round, i, 'is there already');
            EXCEPTION WHEN unique_violation THEN
              PERFORM count(*) FROM item WHERE id < 10;
            END;
          END LOOP;
          INSERT INTO journal VALUES (:round);
        END $$
        """),
    /// A block may catch its own failure, which is that of memory, too.
    CATCHING(
        """
        DO $$
        BEGIN
          FOR i IN 1..2 LOOP
            BEGIN
              INSERT INTO item VALUES (1000007, :round, i, 'not there');
              RAISE division_by_zero;
            EXCEPTION WHEN division_by_zero OR out_of_memory OR disk_full THEN
              NULL;
            END;
          END LOOP;
          INSERT INTO item SELECT 1000000 + g, :round, g, 'new' FROM generate_series(1, 3) g;
          INSERT INTO journal VALUES (:round);
        END $$
        """),
    LONG_ROWS(
        "BEGIN",
        "INSERT INTO item SELECT 1000000 + g, :round, g, repeat('long', 30000) FROM generate_series(1, 3) g",
        "INSERT INTO item VALUES (1000004, :round, 0, repeat('longer', 1000000))",
        "DELETE FROM item WHERE id = 1000004",
        "INSERT INTO journal VALUES (:round)",
        "COMMIT"),
    COPY("BEGIN", "COPY item FROM ':file'", "INSERT INTO journal VALUES (:round)", "COMMIT"),
    IMPORT(
        "DROP SCHEMA IF EXISTS imported CASCADE",
        "CREATE SCHEMA imported",
        "IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO imported",
        "SELECT count(*) FROM imported.item WHERE round = 0");

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable list
    private final List<String> statements;

    Script(String... statements) {
      this.statements = List.of(statements);
    }

    boolean writes() {
      return statements.stream().anyMatch(sql -> sql.contains("INTO journal"));
    }

    List<String> statements(int round, Path file) {
      return statements.stream()
          .map(sql ->
              sql.replace(":round", Integer.toString(round)).replace(":file", file.toString()))
          .toList();
    }
  }

  private final Workspace workspace = Workspace.create("allocations");
  private final Cluster cluster = Cluster.start(workspace, "slots_per_session=16");
  private final Path file = workspace.disk().resolve("rows.tsv");
  private final Random random = Sql.seededRandom("FailedAllocationTest");
  private AllocationFaults faults;
  private int round;

  @BeforeAll
  void load() throws SQLException, IOException {
    faults = new AllocationFaults(workspace.disk());
    cluster.createTable("item", "id int8, round int4, val int4, note text", "id");
    try (Connection connection = cluster.connect()) {
      faults.createFunction(connection);
      Sql.execute(
          connection,
          "INSERT INTO item SELECT i, 0, i % 100, repeat('x', i % 200) FROM generate_series(1, "
              + BASE_ROWS
              + ") i",
          "CREATE TABLE journal (round int4)",
          "CREATE TABLE small AS SELECT i::int8 AS id FROM generate_series(1, 300, 7) i",
          "ANALYZE small",
          "CREATE FUNCTION local(int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN $1; END'");
    }
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  /// A session that has done it all before, so that what fails is that of this time.
  @ParameterizedTest
  @EnumSource
  void shouldTellTheClientAndGoOn(Script script) throws SQLException, IOException {
    try (Connection observer = cluster.connect();
        Connection connection = cluster.connect()) {
      faults.take(connection);
      String backend = backend(connection);
      List<String> expected = run(connection, script);
      settle(observer, connection, script, true);
      run(connection, script);
      settle(observer, connection, script, true);
      long transactions = transactions(observer);
      long total = count(connection, script);
      settle(observer, connection, script, true);
      int told = 0;
      int failed = 0;
      for (long place = first(total); place > 0; place = next(place, total)) {
        String where = script + ", allocation " + place + " of " + total;
        faults.failAt(place);
        boolean done = attempt(connection, script, expected, where);
        boolean hasFailed = faults.hasFailed();
        faults.failAt(0);
        assertTrue(done || hasFailed, () -> where + " failed although it had its memory");
        assertEquals(backend, backend(connection), where);
        settle(observer, connection, script, done);
        Await.until(
            "as many transactions as before " + where,
            LIMIT,
            () -> transactions(observer) == transactions);
        told += done ? 0 : 1;
        failed += hasFailed ? 1 : 0;
        if (PLACES == 0 && !hasFailed) {
          break;
        }
      }
      System.out.printf(
          "FailedAllocationTest: %s has %d allocations, %d failed, %d times the client was told%n",
          script, total, failed, told);
      assertTrue(failed > 0, "nothing has failed");
      // Its blocks may have caught all of them.
      assertTrue(told > 0 || script == Script.CATCHING, "nobody has been told of a failure");
      assertEquals(expected, run(connection, script), "the script as before");
      settle(observer, connection, script, true);
      assertEquals(
          Sql.value(connection, "SELECT sum(prepared_statements) FROM kakehashi_sessions"),
          Sql.value(
              connection,
              "SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'kakehashi statement'"),
          "memory of statements that nobody knows");
    }
  }

  /// The first statement of a session attaches, asks for parts that are not decided, and learns what the engine can do.
  @Test
  void shouldAttachAfterAFailure() throws SQLException {
    String sql = "SELECT count(*), sum(val) FROM item WHERE round = 0";
    String expected;
    long total;
    try (Connection connection = cluster.connect()) {
      faults.take(connection);
      faults.failAt(Long.MAX_VALUE);
      expected = Sql.value(connection, sql);
      total = faults.counted();
    }
    for (long place = first(total); place > 0; place = next(place, total)) {
      String where = "allocation " + place + " of " + total + " of a first statement";
      try (Connection connection = cluster.connect()) {
        faults.take(connection);
        String backend = backend(connection);
        faults.failAt(place);
        try {
          assertEquals(expected, Sql.value(connection, sql), where);
        } catch (SQLException e) {
          expect(e, where);
        }
        boolean hasFailed = faults.hasFailed();
        faults.failAt(0);
        assertEquals(backend, backend(connection), where);
        assertEquals(expected, Sql.value(connection, sql), where);
        assertEquals(
            "t|0",
            Sql.value(
                connection,
                "SELECT bool_and(alive), sum(outstanding_calls) FROM kakehashi_sessions"),
            where);
        if (PLACES == 0 && !hasFailed) {
          break;
        }
      }
    }
  }

  private long first(long total) {
    return PLACES == 0 ? 1 : 1 + (long) (random.nextDouble() * stride(total));
  }

  /// The next place to fail; 0: enough.
  private long next(long place, long total) {
    if (PLACES == 0) {
      return place + 1;
    }
    double stride = stride(total);
    long part = (long) ((place - 1) / stride) + 1;
    long next = 1 + (long) ((part + random.nextDouble()) * stride);
    return part >= PLACES || next > total ? 0 : Math.max(next, place + 1);
  }

  private static double stride(long total) {
    return Math.max(1, (double) total / PLACES);
  }

  private long count(Connection connection, Script script) throws SQLException, IOException {
    faults.failAt(Long.MAX_VALUE);
    run(connection, script);
    long counted = faults.counted();
    faults.failAt(0);
    return counted;
  }

  /// Runs the script; the rows of its statements.
  private List<String> run(Connection connection, Script script) throws SQLException, IOException {
    round++;
    var lines = new StringBuilder();
    for (int i = 1; i <= 3; i++) {
      lines.append("%d\t%d\t%d\tcopied%n".formatted(1_000_000 + i, round, i));
    }
    Files.writeString(file, lines, StandardCharsets.UTF_8);
    List<String> rows = new ArrayList<>();
    try (var statement = connection.createStatement()) {
      for (String sql : script.statements(round, file)) {
        boolean isQuery = statement.execute(sql);
        while (isQuery && statement.getResultSet().next()) {
          var result = statement.getResultSet();
          for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
            rows.add(String.valueOf(result.getString(i)));
          }
        }
      }
    }
    return rows;
  }

  /// Whether the script came to its end.
  private boolean attempt(Connection connection, Script script, List<String> expected, String where)
      throws SQLException, IOException {
    try {
      List<String> rows = run(connection, script);
      assertEquals(expected, rows, where);
      return true;
    } catch (SQLException e) {
      expect(e, where);
      Sql.execute(connection, "ROLLBACK", "RESET ALL");
      return false;
    }
  }

  private static void expect(SQLException failure, String where) {
    if (!EXPECTED.contains(failure.getSQLState())) {
      throw new AssertionError(
          where + ": " + failure.getSQLState() + " " + failure.getMessage(), failure);
    }
  }

  /// The transaction is there on both sides, or on none; nothing of it is left in the session; its rows are taken away.
  private void settle(Connection observer, Connection connection, Script script, boolean done)
      throws SQLException {
    String where = script + " of round " + round;
    assertEquals(
        Integer.toString(BASE_ROWS),
        Sql.value(connection, "SELECT count(*) FROM item WHERE round = 0"),
        where);
    int rounds = done && script.writes() ? 1 : 0;
    assertEquals(
        Integer.toString(rounds),
        Sql.value(connection, "SELECT count(*) FROM journal WHERE round = " + round),
        where);
    assertEquals(
        Integer.toString(3 * rounds),
        Sql.value(connection, "SELECT count(*) FROM item WHERE round <> 0"),
        where);
    Await.until(
        "end of all requests of " + where,
        LIMIT,
        () ->
            value(connection, "SELECT sum(outstanding_calls) FROM kakehashi_sessions").equals("0"));
    Await.until(
        "decision of all parts of " + where,
        LIMIT,
        () ->
            value(observer, "SELECT count(*) FROM kakehashi_prepared_transactions('kakehashi')")
                .equals("0"));
    if (rounds > 0) {
      Sql.execute(connection, "DELETE FROM item WHERE round <> 0");
    }
  }

  private static String backend(Connection connection) throws SQLException {
    return Sql.value(connection, "SELECT pg_backend_pid()");
  }

  private static long transactions(Connection observer) {
    return Long.parseLong(
        value(observer, "SELECT count(*) FROM kakehashi_transactions('kakehashi')"));
  }

  private static String value(Connection connection, String sql) {
    try {
      return Sql.value(connection, sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
