package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.ProcessMemory;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// One backend runs statements of every kind, failing and canceled ones among them; what it and the endpoint hold stays the same.
///
/// `-Dkakehashi.statements=100000` for the long run.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LeakTest {
  private static final int STATEMENTS = Integer.getInteger("kakehashi.statements", 12_000);

  /// Statements in one DO block.
  private static final int BLOCK = 20;

  /// After the first part, in which caches fill, come parts of the same length. A leak of a statement grows in each of them. A cache that
  /// fills late, or a thread that has come and gone, does so in one. So the least growth counts.
  private static final int PARTS = 5;

  /// Bound for the endpoint's live objects. Each transaction that has written leaves 300 bytes there, its outcome, for as long as outcomes
  /// are kept. Vectors of plans that have become idle make the most of 500 to 700 bytes a statement at first.
  private static final long HEAP_BYTES_PER_STATEMENT = 1_000;

  /// Bound for the backend's memory contexts.
  private static final long BACKEND_BYTES_PER_STATEMENT = 150;

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /// By themselves, and what a failed transaction answers.
  private static final Set<String> EXPECTED_FAILURES =
      Set.of("22012", "23505", "23502", "42P01", "57014", "40001", "22003");

  private final Cluster cluster = Cluster.start("leak");
  private int executed;

  /// Failures of one transaction, for the message of a later one. Written by one thread at a time.
  private final List<String> failures = new ArrayList<>();

  @BeforeAll
  void load() throws SQLException {
    cluster.createTable("item", "id int4, val int4 NOT NULL, filler text", "id");
    cluster.createTable("scratch", "id int4, val int4, filler text", "id");
    try (Connection connection = cluster.connect()) {
      Sql.execute(
          connection,
          "INSERT INTO item SELECT i, i % 100, repeat('x', 50) FROM generate_series(1, 20000) i",
          "CREATE TABLE local (id int4 PRIMARY KEY, val int4)",
          "INSERT INTO local SELECT i * 10, i FROM generate_series(1, 200) i",
          """
          CREATE FUNCTION nested(depth int4) RETURNS int4 LANGUAGE plpgsql AS $$
          BEGIN
            IF depth = 0 THEN
              RETURN (SELECT count(*) / (SELECT 0) FROM item WHERE id < 5);
            END IF;
            BEGIN
              UPDATE scratch SET val = depth WHERE id = depth;
              RETURN nested(depth - 1);
            EXCEPTION WHEN division_by_zero THEN
              PERFORM val FROM item WHERE id = depth;
              RETURN depth;
            END;
          END $$\
          """);
    }
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @Test
  void shouldHoldAfterManyStatementsWhatItHeldAfterSome() throws Exception {
    Random random = Sql.seededRandom("LeakTest");
    try (Connection connection = cluster.connect()) {
      long pid = Long.parseLong(Sql.value(connection, "SELECT pg_backend_pid()"));
      List<Held> held = new ArrayList<>();
      for (int part = 1; part <= PARTS; part++) {
        run(connection, random, STATEMENTS / PARTS * part);
        held.add(held(connection, pid));
        System.out.println("LeakTest: after " + executed + " statements " + held.getLast());
      }
      Held first = held.getFirst();
      Held end = held.getLast();
      String growth = first + " became " + end + ": " + end.growthSince(first);
      System.out.println("LeakTest: " + growth);
      long statements = STATEMENTS / PARTS;
      assertTrue(
          leastGrowth(held, Held::backendBytes) < BACKEND_BYTES_PER_STATEMENT * statements, growth);
      assertTrue(
          leastGrowth(held, Held::heapBytes) < HEAP_BYTES_PER_STATEMENT * statements, growth);
      Held middle = held.get(PARTS / 2);
      assertTrue(end.backendFiles() <= middle.backendFiles() + 2, () -> middle + " became " + end);
      assertTrue(
          end.backendMappings() <= middle.backendMappings() + 2, () -> middle + " became " + end);
      assertTrue(
          end.endpointFiles() <= middle.endpointFiles() + 20, () -> middle + " became " + end);
      assertEquals("20000", Sql.value(connection, "SELECT count(*) FROM item"));
      // A new session: held() has ended the one of the statements.
      assertEquals(
          "1|0",
          Sql.value(connection, "SELECT count(*), sum(outstanding_calls) FROM kakehashi_sessions"));
    }
  }

  /// From one measurement to the next.
  private static long leastGrowth(List<Held> held, ToLongFunction<Held> measure) {
    long least = Long.MAX_VALUE;
    for (int i = 1; i < held.size(); i++) {
      least =
          Math.min(least, measure.applyAsLong(held.get(i)) - measure.applyAsLong(held.get(i - 1)));
    }
    return least;
  }

  /// Resources that are held while nothing runs.
  private record Held(
      long backendBytes,
      long backendFiles,
      long backendMappings,
      Map<String, Long> heap,
      long endpointFiles) {
    long heapBytes() {
      return heap.values().stream().mapToLong(Long::longValue).sum();
    }

    /// Classes whose objects have grown most since then.
    String growthSince(Held before) {
      Map<String, Long> growth = new HashMap<>(heap);
      before.heap.forEach((name, bytes) -> growth.merge(name, -bytes, Long::sum));
      return growth.entrySet().stream()
          .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
          .limit(15)
          .map(each -> each.getKey() + " +" + each.getValue())
          .collect(Collectors.joining(", "));
    }

    @Override
    public String toString() {
      return "backend: %d KB, %d files, %d mappings; endpoint: %d KB heap, %d files"
          .formatted(
              backendBytes / 1024,
              backendFiles,
              backendMappings,
              heapBytes() / 1024,
              endpointFiles);
    }
  }

  private Held held(Connection connection, long pid) throws SQLException {
    // A session keeps buffers for its next batch.
    Sql.execute(connection, "SELECT kakehashi_disconnect('kakehashi')");
    cluster.endpoint().awaitQuiet(0);
    return new Held(
        Long.parseLong(
            Sql.value(connection, "SELECT sum(total_bytes) FROM pg_backend_memory_contexts")),
        ProcessMemory.openFiles(pid),
        ProcessMemory.mappedFiles(pid),
        ProcessMemory.liveHeap(cluster.endpoint().pid()),
        cluster.endpoint().openFiles());
  }

  private void run(Connection connection, Random random, int until) throws Exception {
    while (executed < until) {
      int kind = random.nextInt(60);
      if (kind == 0) {
        cancel(connection, random);
      } else if (kind < 30) {
        // Most of them in blocks: round trips of the client are not what is tested.
        attempt(connection, block(random));
        executed += BLOCK;
      } else {
        for (String sql : transaction(random)) {
          attempt(connection, sql);
          executed++;
        }
        failures.clear();
      }
    }
  }

  private void attempt(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      attempt(statement, sql);
    }
  }

  private void attempt(Statement statement, String sql) {
    try {
      statement.execute(sql);
    } catch (SQLException e) {
      String failure = sql + ": " + e.getSQLState() + " " + e.getMessage();
      assertTrue(
          EXPECTED_FAILURES.contains(e.getSQLState()) || "25P02".equals(e.getSQLState()),
          () -> failure + " after " + failures);
      failures.add(failure);
    }
  }

  private static String block(Random random) {
    String body =
        switch (random.nextInt(7)) {
          case 0 -> "PERFORM val FROM item WHERE id = i;";
          case 1 -> "UPDATE item SET val = val WHERE id = i * 3;";
          case 2 ->
              "INSERT INTO scratch VALUES (100000 + i, i, 'new'); DELETE FROM scratch WHERE id = 100000 + i;";
          case 3 ->
              "BEGIN INSERT INTO item VALUES (i, i); EXCEPTION WHEN unique_violation THEN NULL; END;";
          case 4 ->
              "BEGIN PERFORM 1 / (val - val) FROM item WHERE id = i; EXCEPTION WHEN division_by_zero THEN NULL; END;";
          case 5 ->
              "INSERT INTO scratch VALUES (i, 1, 'x') ON CONFLICT (id) DO UPDATE SET val = scratch.val % 1000 + excluded.val;";
          default -> "PERFORM count(*) FROM local l JOIN item t ON t.id = l.id WHERE l.val < i;";
        };
    return "DO $$ BEGIN FOR i IN 1.." + BLOCK + " LOOP " + body + " END LOOP; END $$";
  }

  /// Statements of which the last ends the transaction.
  private static List<String> transaction(Random random) {
    int key = 1 + random.nextInt(20_000);
    return switch (random.nextInt(18)) {
      case 0 ->
          List.of(
              "BEGIN",
              "DECLARE c CURSOR FOR SELECT * FROM item",
              "FETCH 10 FROM c",
              "SAVEPOINT s",
              "FETCH 5 FROM c",
              "ROLLBACK TO s",
              "COMMIT");
      case 1 ->
          List.of(
              "BEGIN",
              "DECLARE h CURSOR WITH HOLD FOR SELECT * FROM item WHERE id < 50",
              "COMMIT",
              "FETCH ALL FROM h",
              "CLOSE h");
      case 2 ->
          List.of(
              "BEGIN",
              "INSERT INTO scratch SELECT g, g, repeat('y', 500) FROM generate_series(200000, 202000) g",
              "ROLLBACK");
      case 3 ->
          List.of(
              "BEGIN",
              "UPDATE item SET val = val WHERE id = " + key,
              "UPDATE local SET val = val WHERE id = 10",
              "COMMIT");
      case 4 ->
          List.of(
              "BEGIN",
              "DELETE FROM item WHERE id = " + key,
              "SELECT 1 / (val - val) FROM item",
              "SELECT 1",
              "ROLLBACK");
      case 5 ->
          List.of(
              "SELECT * FROM item LIMIT 3", "SELECT count(*) FROM (SELECT * FROM item OFFSET 0) i");
      case 6 -> List.of("SELECT kakehashi_execute('kakehashi', 'SELECT * FROM nowhere')");
      case 7 ->
          List.of(
              "SELECT * FROM kakehashi_query('kakehashi', 'SELECT count(*) FROM item WHERE id <> "
                  + key % 20 // few texts, so that the plan cache fills in the first half
                  + "') AS (n int8)");
      case 8 ->
          List.of(
              "PREPARE p(int4) AS SELECT val FROM item WHERE id = $1 AND val <> " + key,
              "EXECUTE p(1)",
              "EXECUTE p(NULL)",
              "DEALLOCATE p");
      case 9 ->
          List.of(
              "EXPLAIN VERBOSE SELECT val, count(*) FROM item GROUP BY val HAVING count(*) > "
                  + key);
      case 10 -> List.of("SELECT nested(10)");
      case 11 ->
          List.of(
              "SET statement_timeout = 5",
              "SELECT count(*) FROM item a JOIN item b ON a.val < b.val",
              "RESET statement_timeout");
      case 12 ->
          List.of(
              "SELECT kakehashi_disconnect('kakehashi')", "SELECT val FROM item WHERE id = " + key);
      case 13 ->
          List.of(
              "BEGIN ISOLATION LEVEL SERIALIZABLE",
              "SELECT sum(val) FROM item WHERE id < 100",
              "UPDATE scratch SET val = 0 WHERE id = 1",
              "COMMIT");
      case 14 -> List.of("TRUNCATE scratch");
      case 15 ->
          List.of(
              "BEGIN",
              "SAVEPOINT a",
              "INSERT INTO item VALUES (1, 1)",
              "ROLLBACK TO a",
              "SAVEPOINT b",
              "INSERT INTO scratch VALUES (-1, 1)",
              "RELEASE b",
              "ROLLBACK");
      case 16 ->
          List.of(
              "SELECT a.id FROM item a JOIN item b ON a.val = b.val AND a.id = "
                  + key
                  + " ORDER BY b.id LIMIT 2");
      default ->
          List.of(
              "UPDATE item SET val = NULL WHERE id = " + key,
              "UPDATE item SET filler = upper(filler) WHERE id = " + key + " RETURNING filler",
              "ANALYZE item");
    };
  }

  private void cancel(Connection connection, Random random) throws Exception {
    try (Statement statement = connection.createStatement()) {
      var running =
          CompletableFuture.runAsync(
              () -> attempt(statement, "SELECT count(*) FROM item a, item b WHERE a.val < b.val"));
      TimeUnit.MICROSECONDS.sleep(random.nextInt(20_000)); // the random moment is the point
      Sql.cancelUntilDone(statement, running, LIMIT);
      running.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      failures.clear();
      executed++;
    }
  }
}
