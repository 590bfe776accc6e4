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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/// An engine that lacks one capability, for each that there is: PostgreSQL does it itself with the same result, or refuses it with 0A000
/// and the engine's name.
///
/// The engine is the embedded one, and fails with another error when it is asked for what it lacks.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before the tests
class WithheldCapabilityTest {
  private static final String FORCE_PARALLEL =
      "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0";

  /// A query, and what of its statement for the engine stands for a computation.
  private record Query(String sql, String remote) {}

  private static final Map<String, Query> QUERIES =
      Map.ofEntries(
          query("EQUALITY", "SELECT id FROM t WHERE a = 3", "\"a\" = "),
          query("ORDER", "SELECT id FROM t WHERE a < 3", "\"a\" < "),
          query("TEXT_ORDER", "SELECT id FROM t WHERE s < 'm'", "\"s\" < "),
          query("INTEGER_ARITHMETIC", "SELECT id FROM t WHERE a + 1 = 4", "\"a\" \\+ "),
          query("NUMERIC_ARITHMETIC", "SELECT id FROM t WHERE n * 2 = 5", "\"n\" \\* "),
          query("FRACTION_ARITHMETIC", "SELECT id FROM t WHERE f / 2 = 1", "\"f\" / "),
          query("NUMBER_FUNCTIONS", "SELECT id FROM t WHERE abs(a) = 3", "abs\\("),
          query("TEXT_FUNCTIONS", "SELECT id FROM t WHERE \"left\"(s, 1) = 'r'", "left\\("),
          query("PATTERNS", "SELECT id FROM t WHERE s LIKE 'r%1'", " LIKE "),
          query("BINARY_FUNCTIONS", "SELECT id FROM t WHERE length(b) = 2", "length\\("),
          query("DATE_ARITHMETIC", "SELECT id FROM t WHERE d + 1 = '2026-01-03'", "\"d\" \\+ "),
          query(
              "DATE_FUNCTIONS", "SELECT id FROM t WHERE extract(day FROM d) = 2", "(?i)extract\\("),
          query("CONDITIONALS", "SELECT id FROM t WHERE coalesce(a, 0) = 3", "(?i)coalesce\\("),
          query("CASTS", "SELECT id FROM t WHERE a::numeric = 3.0", "(?i)cast\\("),
          query("LISTS", "SELECT id FROM t WHERE a IN (1, 2)", " IN | ANY"),
          query("ARRAYS", "SELECT id FROM t WHERE r @> '{2}'", "@>"),
          query("DOCUMENTS", "SELECT id FROM t WHERE j->>'k' = '2'", "->>"),
          query("JOINS", "SELECT t.id FROM t JOIN u ON u.t_id = t.id WHERE u.x < 5", " JOIN "),
          query(
              "SEMI_JOINS",
              "SELECT id FROM t WHERE EXISTS (SELECT FROM u WHERE u.t_id = t.id AND u.x < 5)",
              "EXISTS"),
          query("GROUPING", "SELECT a, count(*) FROM t GROUP BY a", "GROUP BY"),
          query("SUMS", "SELECT a, sum(id) FROM t GROUP BY a", "sum\\("),
          query(
              "ORDERED_AGGREGATES",
              "SELECT a, string_agg(s, ',' ORDER BY id) FROM t GROUP BY a",
              "string_agg\\("),
          query(
              "GROUPING_SETS",
              "SELECT a, d, count(*) FROM t GROUP BY ROLLUP (a, d)",
              "GROUPING SETS"),
          query("DISTINCT", "SELECT DISTINCT a FROM t", "GROUP BY|DISTINCT"),
          query("WINDOWS", "SELECT id, row_number() OVER (ORDER BY id) FROM t", " OVER "),
          query("SET_OPERATIONS", "SELECT id FROM t INTERSECT SELECT t_id FROM u", "INTERSECT"),
          query("SORT", "SELECT id FROM t ORDER BY a, id", "ORDER BY"),
          query("LIMIT", "SELECT id FROM t ORDER BY id LIMIT 2", "LIMIT"),
          query(
              "SUBQUERIES",
              "SELECT q.a, u.x FROM (SELECT a, max(id) AS m FROM t GROUP BY a) q JOIN u ON u.t_id = q.m",
              "FROM \\(\\(?SELECT|JOIN \\(\\(?SELECT"));

  private static final Map<String, String> TYPES =
      Map.ofEntries(
          Map.entry("BOOLEAN", "boolean"),
          Map.entry("SMALLINT", "smallint"),
          Map.entry("INTEGER", "integer"),
          Map.entry("BIGINT", "bigint"),
          Map.entry("REAL", "real"),
          Map.entry("DOUBLE_PRECISION", "double precision"),
          Map.entry("NUMERIC", "numeric"),
          Map.entry("TEXT", "text"),
          Map.entry("VARCHAR", "varchar(9)"),
          Map.entry("CHAR", "char(9)"),
          Map.entry("BYTEA", "bytea"),
          Map.entry("DATE", "date"),
          Map.entry("TIME", "time"),
          Map.entry("TIMETZ", "timetz"),
          Map.entry("TIMESTAMP", "timestamp"),
          Map.entry("TIMESTAMPTZ", "timestamptz"),
          Map.entry("INTERVAL", "interval"),
          Map.entry("UUID", "uuid"),
          Map.entry("JSON", "json"),
          Map.entry("JSONB", "jsonb"),
          Map.entry("NAME", "name"),
          Map.entry("ARRAY", "int4[]"));

  private Cluster cluster;
  private Path withheld;
  private final Map<String, List<String>> results = new HashMap<>();

  private static Map.Entry<String, Query> query(String computation, String sql, String remote) {
    return Map.entry(computation, new Query(sql, remote));
  }

  @BeforeAll
  void start() throws SQLException, IOException {
    Workspace workspace = Workspace.create("withheld");
    withheld = workspace.disk().resolve("withheld");
    Files.writeString(withheld, "");
    cluster =
        Cluster.startWith(
            Map.of(EndpointProcess.WITHHELD, withheld.toString()),
            workspace,
            EndpointProcess.TEST_ENGINE);
    List<String> tables = new ArrayList<>();
    tables.add(
        "t (id int8 PRIMARY KEY, a int4, n numeric, f float8, s text, d date, b bytea, r int4[], j jsonb)");
    tables.add("u (id int8 PRIMARY KEY, t_id int8, x int4)");
    tables.add("bare (v int4)");
    TYPES.forEach((name, type) -> tables.add("of_" + name + " (v " + type + ")"));
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, "BEGIN");
      for (String table : tables) {
        Sql.execute(connection, onEngine("CREATE TABLE " + table));
      }
      Sql.execute(
          connection,
          "COMMIT",
          "IMPORT FOREIGN SCHEMA public LIMIT TO (t, u) FROM SERVER kakehashi INTO public",
          "INSERT INTO t SELECT i, i % 5, i + 0.5, i, 'row ' || i, date '2026-01-01' + i % 3, '\\x0102',"
              + " ARRAY[i, 2], jsonb_build_object('k', i) FROM generate_series(1, 20) i",
          "INSERT INTO u SELECT i, i % 10, i % 7 FROM generate_series(1, 30) i",
          "CREATE TABLE local (id int8, x int4)",
          "INSERT INTO local VALUES (1, 1), (2, 2)",
          "CREATE FOREIGN TABLE bare (v int4) SERVER kakehashi",
          "INSERT INTO bare VALUES (1), (2)",
          "CREATE SCHEMA of_types",
          "IMPORT FOREIGN SCHEMA public FROM SERVER kakehashi INTO of_types");
      for (Map.Entry<String, Query> query : QUERIES.entrySet()) {
        String remote = remoteSql(connection, query.getValue().sql());
        assertTrue(
            Pattern.compile(query.getValue().remote()).matcher(remote).find(),
            query.getKey() + " is not pushed down: " + remote);
        results.put(query.getKey(), sorted(connection, query.getValue().sql()));
      }
    }
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  private static String remoteSql(Connection connection, String sql) throws SQLException {
    return Sql.rows(connection, "EXPLAIN (VERBOSE, COSTS OFF) " + sql).stream()
        .filter(line -> line.contains("Remote SQL: "))
        .collect(Collectors.joining("\n"));
  }

  private static List<String> sorted(Connection connection, String sql) throws SQLException {
    return Sql.rows(connection, sql).stream().sorted().toList();
  }

  /// A new session, whose engine lacks one thing.
  private Connection without(String kind, String name) throws IOException, SQLException {
    Files.writeString(withheld, kind + " " + name + "\n");
    return cluster.connect();
  }

  @FunctionalInterface
  private interface Check {
    void run(Connection connection) throws SQLException;
  }

  private Stream<DynamicTest> each(String kind, Map<String, Check> checks) throws SQLException {
    List<String> names = new ArrayList<>();
    try (Connection connection = cluster.connect()) {
      names.addAll(
          Sql.rows(
              connection,
              "SELECT name FROM kakehashi_capabilities('kakehashi') WHERE kind = '" + kind + "'"));
    }
    assertEquals(names.stream().sorted().toList(), checks.keySet().stream().sorted().toList());
    return names.stream()
        .map(name ->
            DynamicTest.dynamicTest(
                name,
                () -> {
                  try (Connection connection = without(kind, name)) {
                    assertEquals(
                        "withholding " + name,
                        Sql.value(
                            connection,
                            "SELECT DISTINCT engine || ' ' || name FROM kakehashi_capabilities('kakehashi')"
                                + " WHERE NOT present"));
                    Objects.requireNonNull(checks.get(name), name).run(connection);
                  } finally {
                    Files.writeString(withheld, "");
                  }
                }));
  }

  @TestFactory
  Stream<DynamicTest> shouldComputeItself() throws SQLException {
    Map<String, Check> checks = new HashMap<>();
    QUERIES.forEach((name, query) ->
        checks.put(
            name,
            connection -> {
              String remote = remoteSql(connection, query.sql());
              assertFalse(
                  Pattern.compile(query.remote()).matcher(remote).find(),
                  name + " is pushed down: " + remote);
              assertEquals(results.get(name), sorted(connection, query.sql()));
            }));
    return each("computation", checks);
  }

  @TestFactory
  Stream<DynamicTest> shouldKeepNoValueThatTheEngineWouldNarrow() throws SQLException {
    Map<String, Check> checks = new HashMap<>();
    for (String name : TYPES.keySet()) {
      String table = "of_" + name.toLowerCase(java.util.Locale.ROOT);
      checks.put(
          name,
          connection -> {
            String message = "engine \"withholding\" does not keep values of type ";
            assertRefused(connection, "INSERT INTO of_types." + table + " VALUES (NULL)", message);
            Sql.execute(connection, "CREATE SCHEMA again_" + name);
            assertRefused(
                connection,
                "IMPORT FOREIGN SCHEMA public LIMIT TO ("
                    + table
                    + ") FROM SERVER kakehashi INTO again_"
                    + name,
                message);
          });
    }
    return each("type", checks);
  }

  private static void assertRefused(Connection connection, String sql, String message) {
    SQLException failure = Sql.failure(connection, sql);
    assertEquals("0A000", failure.getSQLState(), failure.getMessage());
    String said = String.valueOf(failure.getMessage());
    assertTrue(said.contains(message), sql + ": " + said);
  }

  /// The statements are refused, each by itself.
  private static Check refuses(String lacking, String... statements) {
    return connection -> {
      for (String sql : statements) {
        assertRefused(connection, sql, "engine \"withholding\" has no " + lacking);
      }
    };
  }

  /// The statements before the last one succeed, in a transaction; that one is refused.
  private static Check refusesWithin(String begin, String lacking, String... statements) {
    return connection -> {
      Sql.execute(connection, begin);
      for (int i = 0; i < statements.length - 1; i++) {
        Sql.execute(connection, statements[i]);
      }
      assertRefused(
          connection,
          statements[statements.length - 1],
          "engine \"withholding\" has no " + lacking);
      Sql.execute(connection, "ROLLBACK");
    };
  }

  private static Check all(Check... checks) {
    return connection -> {
      for (Check check : checks) {
        check.run(connection);
      }
    };
  }

  private static Check succeeds(String... statements) {
    return connection -> Sql.execute(connection, statements);
  }

  private static String onEngine(String sql) {
    return "SELECT kakehashi_execute('kakehashi', '" + sql.replace("'", "''") + "')";
  }

  @TestFactory
  Stream<DynamicTest> shouldRefuseOrDoWithout() throws SQLException {
    String changeOneByOne = "UPDATE t SET a = a + (random() * 0)::int4 WHERE id = 3";
    String directly = "UPDATE t SET a = a WHERE id = 3";
    String count = "SELECT count(*) FROM t";
    Map<String, Check> checks = new HashMap<>();
    checks.put("READ_COMMITTED", refuses("transactions of isolation level READ COMMITTED", count));
    checks.put(
        "REPEATABLE_READ",
        all(
            succeeds(count),
            refusesWithin(
                "BEGIN ISOLATION LEVEL REPEATABLE READ",
                "transactions of isolation level REPEATABLE READ",
                count)));
    checks.put(
        "SERIALIZABLE",
        all(
            succeeds(count),
            refusesWithin(
                "BEGIN ISOLATION LEVEL SERIALIZABLE",
                "transactions of isolation level SERIALIZABLE",
                count)));
    checks.put(
        "READ_ONLY_TRANSACTIONS",
        all(
            succeeds("BEGIN READ ONLY", count, "COMMIT"),
            refusesWithin(
                "BEGIN",
                "read-only transactions",
                "SET LOCAL kakehashi.transaction_kind = rtx",
                count)));
    checks.put(
        "LONG_TRANSACTIONS",
        refusesWithin(
            "BEGIN", "long transactions", "SET LOCAL kakehashi.write_preserve = 't'", count));
    checks.put(
        "SAFE_SNAPSHOTS",
        refusesWithin(
            "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE",
            "DEFERRABLE transactions",
            count));
    checks.put(
        "SAVEPOINTS", refusesWithin("BEGIN", "savepoints", directly, "SAVEPOINT s", directly));
    checks.put(
        "COMMANDS",
        all(
            succeeds(
                changeOneByOne,
                "INSERT INTO t SELECT id + 1000, a FROM t",
                "DELETE FROM t WHERE id > 1000",
                "BEGIN",
                "DECLARE c CURSOR FOR SELECT * FROM t",
                "FETCH c",
                directly,
                count,
                "COMMIT"),
            refuses(
                "commands within a transaction",
                "UPDATE t SET a = l.x FROM local l WHERE l.id = t.id",
                "INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1",
                "WITH w AS (INSERT INTO t (id) VALUES (77) RETURNING id)"
                    + " SELECT (SELECT count(*) FROM t WHERE t.id > w.id - 1) FROM w")));
    checks.put(
        "SHARED_TRANSACTIONS",
        refusesWithin(
            "BEGIN",
            "transactions of several sessions",
            "SELECT kakehashi_transaction_token('kakehashi')"));
    checks.put(
        "TWO_PHASE",
        all(
            refusesWithin(
                "BEGIN", "two-phase commit", "INSERT INTO local VALUES (9, 9)", directly, "COMMIT"),
            refusesWithin("BEGIN", "two-phase commit", directly, "PREPARE TRANSACTION 'p'"),
            connection ->
                assertEquals("0", Sql.value(connection, "SELECT count(*) FROM local WHERE id = 9")),
            succeeds("BEGIN", directly, "COMMIT")));
    checks.put(
        "UNDURABLE_READS", succeeds("SET kakehashi.commit_response = available", directly, count));
    checks.put(
        "ROW_LOCKS",
        all(
            succeeds(directly),
            refuses(
                "row locks",
                "SELECT * FROM t FOR UPDATE",
                "SELECT * FROM t FOR SHARE",
                changeOneByOne)));
    checks.put(
        "NOWAIT",
        all(
            succeeds("SELECT * FROM t FOR UPDATE SKIP LOCKED"),
            refuses("NOWAIT", "SELECT * FROM t FOR UPDATE NOWAIT")));
    checks.put(
        "SKIP_LOCKED",
        all(
            succeeds("SELECT * FROM t FOR UPDATE NOWAIT"),
            refuses("SKIP LOCKED", "SELECT * FROM t FOR UPDATE SKIP LOCKED")));
    checks.put(
        "CHANGES",
        refuses(
            "changes of rows",
            "INSERT INTO t (id) VALUES (50)",
            directly,
            changeOneByOne,
            "DELETE FROM t",
            "COPY bare FROM PROGRAM 'echo 5'",
            onEngine("DELETE FROM t")));
    checks.put(
        "DIRECT_CHANGES",
        connection -> {
          String plan = String.join("\n", Sql.rows(connection, "EXPLAIN " + directly));
          assertFalse(plan.contains("Foreign Update"), plan);
          Sql.execute(connection, directly);
        });
    checks.put(
        "RETURNING",
        all(
            succeeds(directly),
            refuses(
                "RETURNING",
                directly + " RETURNING a",
                changeOneByOne + " RETURNING a",
                "INSERT INTO t (id) VALUES (51) RETURNING id")));
    checks.put(
        "ON_CONFLICT",
        refuses("ON CONFLICT", "INSERT INTO t (id) VALUES (1) ON CONFLICT DO NOTHING"));
    checks.put("TRUNCATE", refuses("TRUNCATE", "TRUNCATE bare", onEngine("TRUNCATE bare")));
    checks.put(
        "ROW_IDENTITY",
        all(
            succeeds(changeOneByOne, "UPDATE bare SET v = v WHERE v = 1"),
            refuses(
                "changes of rows that have no key", "UPDATE bare SET v = v + (random() * 0)::int4"),
            refusesWithin(
                "BEGIN",
                "changes of rows that have no key",
                "DECLARE c CURSOR FOR SELECT * FROM bare",
                "FETCH c",
                "UPDATE bare SET v = 3 WHERE CURRENT OF c")));
    checks.put("DDL", refuses("definitions", onEngine("CREATE TABLE no (id int4)")));
    checks.put(
        "DDL_IN_TRANSACTION",
        refuses("definitions in a transaction block", onEngine("CREATE TABLE no (id int4)")));
    checks.put(
        "DEFERRABLE_CONSTRAINTS",
        refuses("deferrable constraints", onEngine("SET CONSTRAINTS ALL DEFERRED")));
    checks.put(
        "CATALOGUE",
        all(
            succeeds(count),
            refuses(
                "catalogue",
                "IMPORT FOREIGN SCHEMA public LIMIT TO (u) FROM SERVER kakehashi INTO of_types",
                "SELECT * FROM kakehashi_tables('kakehashi')")));
    checks.put(
        "STATISTICS",
        all(
            succeeds(count, "ANALYZE t"),
            refuses("statistics", "SELECT * FROM kakehashi_statistics('kakehashi')")));
    checks.put(
        "PARALLEL_SCAN",
        connection -> {
          Sql.execute(connection, FORCE_PARALLEL);
          String sql = "SELECT sum(hashtext(s)) FROM t";
          String plan = String.join("\n", Sql.rows(connection, "EXPLAIN " + sql));
          assertFalse(plan.contains("Parallel"), plan);
          Sql.execute(connection, sql);
        });
    checks.put("COPY_FILES", refuses("COPY of files", onEngine("COPY t TO 'file:t.csv'")));
    checks.put(
        "QUEUES",
        refuses(
            "queues",
            onEngine("CREATE QUEUE q"),
            "SELECT kakehashi_enqueue('kakehashi', 'q', '{}')"));
    checks.put(
        "APPLICATIONS",
        refuses(
            "applications",
            onEngine("/* an */ -- application\n create application x AS 'y'"),
            "SELECT * FROM kakehashi_import_functions('kakehashi', 'public')"));
    checks.put("ROLES", refuses("roles", onEngine("CREATE ROLE nobody")));
    // A command's matter, see WithheldDoorsTest; without it the engine is taken for one whose rows
    // are elsewhere.
    checks.put("BACKUP", connection -> assertEquals(4, requestsOfBulk(connection)));
    checks.put("DEFINITIONS", succeeds(count)); // and this one
    checks.put(
        "ACTIVITY",
        all(
            succeeds(count),
            refuses(
                "tables of what goes on in it",
                "SELECT * FROM kakehashi_transactions('kakehashi')")));
    return each("capability", checks);
  }

  /// Requests of an INSERT of 25,000 rows.
  private static int requestsOfBulk(Connection connection) throws SQLException {
    Sql.execute(connection, "BEGIN");
    String requests =
        Sql.rows(
                connection,
                "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) INSERT INTO t (id) SELECT i FROM generate_series(1000001, 1025000) i")
            .stream()
            .filter(line -> line.contains("Remote Requests: "))
            .collect(Collectors.joining());
    Sql.execute(connection, "ROLLBACK");
    return Integer.parseInt(requests.replaceAll("\\D", ""));
  }

  @Test
  void shouldSendRowsInShortBatchesToAnEngineThatIsNear() throws SQLException {
    try (Connection connection = cluster.connect()) {
      assertEquals(25, requestsOfBulk(connection));
    }
  }

  @Test
  void shouldRefuseAPlanThatWasMadeForAnEngineThatCanDoMore() throws SQLException, IOException {
    try (Connection connection = cluster.connect()) {
      Sql.execute(
          connection,
          "SET plan_cache_mode = force_generic_plan",
          "PREPARE p AS SELECT t.id FROM t JOIN u ON u.t_id = t.id",
          "EXECUTE p",
          "SELECT kakehashi_disconnect('kakehashi')");
      Files.writeString(withheld, "computation JOINS\n");
      SQLException failure = Sql.failure(connection, "EXECUTE p");
      assertEquals("0A000", failure.getSQLState(), failure.getMessage());
      String said = String.valueOf(failure.getMessage());
      assertTrue(said.contains("can do less than before"), said);
      Sql.execute(connection, "EXECUTE p");
    } finally {
      Files.writeString(withheld, "");
    }
  }
}
