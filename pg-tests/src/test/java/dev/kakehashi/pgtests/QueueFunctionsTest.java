package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import dev.kakehashi.testsupport.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Queues of the engine from PostgreSQL: in its transactions, from triggers, and waiting without a snapshot.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // set before each test
class QueueFunctionsTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int ROWS = Integer.getInteger("kakehashi.queue.rows", 2_000);
  private static final int KILLS = Integer.getInteger("kakehashi.queue.kills", 2);

  private Cluster cluster;
  private Connection connection;
  private int queues;
  private String queue;

  @BeforeAll
  void start() throws SQLException {
    cluster = Cluster.start("queues");
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @BeforeEach
  void makeQueue() throws SQLException {
    connection = cluster.connect();
    queue = "q" + ++queues;
    cluster.onEngine("CREATE QUEUE " + queue + " WITH (max_attempts = 5)");
    Sql.execute(
        connection, "DROP TABLE IF EXISTS local", "CREATE TABLE local (id int8 PRIMARY KEY)");
  }

  @AfterEach
  void disconnect() throws SQLException {
    connection.close();
  }

  private String enqueue(String payload) {
    return "SELECT kakehashi_enqueue('kakehashi', '" + queue + "', '" + payload + "')";
  }

  private String receive(String columns, int max) {
    return "SELECT "
        + columns
        + " FROM kakehashi_receive('kakehashi', '"
        + queue
        + "', "
        + max
        + ")";
  }

  private String wait(String time) {
    return "CALL kakehashi_wait('kakehashi', '" + queue + "', '" + time + "')";
  }

  @Test
  void shouldEnqueueAndCompleteWithLocalRowsOrNotAtAll() throws SQLException {
    Sql.execute(connection, "BEGIN", "INSERT INTO local VALUES (1)");
    Sql.value(connection, enqueue("{\"n\":1}"));
    Sql.execute(connection, "ROLLBACK");
    assertEquals(List.of(), Sql.rows(connection, receive("token", 10)));

    Sql.execute(connection, "BEGIN", "INSERT INTO local VALUES (2)");
    String number = Sql.value(connection, enqueue("{\"n\": 2}"));
    Sql.execute(connection, "SAVEPOINT s");
    Sql.value(connection, enqueue("{\"n\": 3}"));
    Sql.execute(connection, "ROLLBACK TO s", "COMMIT");
    assertEquals(
        number,
        Sql.value(
            connection, "SELECT task_id FROM kakehashi_receive('kakehashi', '" + queue + "', 10)"));

    Sql.value(
        connection,
        "SELECT kakehashi_enqueue('kakehashi', '"
            + queue
            + "', '\\x00ff'::bytea, key => 'k', priority => 9)");
    String token =
        Sql.value(
            connection, receive("token || ' ' || key || ' ' || priority || ' ' || body::text", 1));
    assertTrue(token.endsWith(" k 9 \\x00ff"), token);
    token = token.substring(0, token.indexOf(' '));
    String complete = "SELECT kakehashi_complete('kakehashi', '" + token + "')";
    Sql.execute(connection, "BEGIN", "INSERT INTO local VALUES (3)");
    Sql.value(connection, complete);
    Sql.execute(connection, "ROLLBACK", "BEGIN", "INSERT INTO local VALUES (3)");
    assertEquals("1", Sql.value(connection, complete));
    Sql.execute(connection, "COMMIT");
    assertEquals("55K01", Sql.failure(connection, complete).getSQLState());
    assertEquals(List.of("2", "3"), Sql.rows(connection, "SELECT id FROM local ORDER BY id"));
  }

  @Test
  void shouldEnqueueFromATrigger() throws SQLException {
    Sql.execute(
        connection,
        "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            + " PERFORM kakehashi_enqueue('kakehashi', '"
            + queue
            + "', jsonb_build_object('id', new.id)); RETURN new; END $$",
        "CREATE TRIGGER tell AFTER INSERT ON local FOR EACH ROW EXECUTE FUNCTION tell()");
    long began = System.nanoTime();
    Sql.execute(connection, "INSERT INTO local SELECT generate_series(1, " + ROWS + ")");
    System.out.printf(
        "%d tasks from a trigger in %d ms%n", ROWS, (System.nanoTime() - began) / 1_000_000);
    Set<String> got = new HashSet<>();
    List<String> some = Sql.rows(connection, receive("payload->>'id'", 1000));
    while (!some.isEmpty()) {
      got.addAll(some);
      some = Sql.rows(connection, receive("payload->>'id'", 1000));
    }
    assertEquals(ROWS, got.size());
    Sql.execute(connection, "DROP TABLE local", "DROP FUNCTION tell()");
  }

  @Test
  void shouldWaitWithoutASnapshot() throws Exception {
    try (Connection other = cluster.connect();
        ExecutorService pool = Executors.newSingleThreadExecutor()) {
      String pid = Sql.value(other, "SELECT pg_backend_pid()");
      Sql.execute(other, "SET default_transaction_isolation = 'repeatable read'");
      Future<String> waiting = pool.submit(() -> Sql.value(other, wait("60 s")));
      Await.until("a consumer that waits", LIMIT, () -> waits(1));
      assertEquals(
          "active f f f",
          Sql.value(
              connection,
              "SELECT concat_ws(' ', state, backend_xmin IS NOT NULL, backend_xid IS NOT NULL,"
                  + " EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND locktype = 'relation'))"
                  + " FROM pg_stat_activity a WHERE pid = "
                  + pid));
      Sql.value(connection, enqueue("1"));
      assertEquals("1", waiting.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
      assertEquals(List.of(), Sql.rows(connection, receive("token", 1)));
      String token = Sql.value(other, receive("token", 1));
      Sql.value(other, "SELECT kakehashi_complete('kakehashi', '" + token + "')");
      assertEquals("0", Sql.value(other, wait("10 ms")));
    }
  }

  private boolean waits(int consumers) {
    try {
      return Sql.value(
              connection,
              "SELECT n FROM kakehashi_query('kakehashi', 'SELECT waiting FROM kakehashi_catalog.queues WHERE queue_name = '''||'"
                  + queue
                  + "'||'''') AS t (n int8)")
          .equals(Integer.toString(consumers));
    } catch (SQLException e) {
      throw new IllegalStateException("could not ask", e);
    }
  }

  @Test
  void shouldEndAWaitByCancelTimeoutAndTermination() throws Exception {
    try (Connection other = cluster.connect();
        ExecutorService pool = Executors.newSingleThreadExecutor()) {
      String pid = Sql.value(other, "SELECT pg_backend_pid()");
      Future<SQLException> waiting = pool.submit(() -> Sql.failure(other, wait("60 s")));
      Await.until("a consumer that waits", LIMIT, () -> waits(1));
      Sql.value(connection, "SELECT pg_cancel_backend(" + pid + ")");
      assertEquals("57014", waiting.get(LIMIT.toSeconds(), TimeUnit.SECONDS).getSQLState());
      Sql.execute(other, "SET statement_timeout = '50ms'");
      assertEquals("57014", Sql.failure(other, wait("60 s")).getSQLState());
      Sql.execute(other, "SET statement_timeout = 0");
      Future<SQLException> ended = pool.submit(() -> Sql.failure(other, wait("60 s")));
      Await.until("a consumer that waits", LIMIT, () -> waits(1));
      Sql.value(connection, "SELECT pg_terminate_backend(" + pid + ")");
      assertEquals("57P01", ended.get(LIMIT.toSeconds(), TimeUnit.SECONDS).getSQLState());
    }
    Await.until("nobody to wait", LIMIT, () -> waits(0));
    Sql.value(connection, enqueue("1"));
    assertEquals("1", Sql.value(connection, receive("attempt", 1)));
  }

  @Test
  void shouldRefuseWhatWouldHoldASnapshot() throws SQLException {
    assertEquals(
        "0A000",
        Sql.failure(
                connection,
                "SELECT * FROM kakehashi_receive('kakehashi', '" + queue + "', wait => '1 s')")
            .getSQLState());
    Sql.execute(connection, "BEGIN");
    assertEquals("25001", Sql.failure(connection, wait("1 s")).getSQLState());
    Sql.execute(connection, "ROLLBACK", "BEGIN READ ONLY");
    assertEquals("25006", Sql.failure(connection, enqueue("1")).getSQLState());
    Sql.execute(connection, "ROLLBACK", "BEGIN");
    assertEquals(
        "25001",
        Sql.failure(
                connection,
                "SELECT * FROM kakehashi_complete_and_receive('kakehashi', '{}', '" + queue + "')")
            .getSQLState());
    Sql.execute(connection, "ROLLBACK");
  }

  @Test
  void shouldLendAgainAtOnceWhatABackendHad() throws Exception {
    Sql.value(connection, enqueue("1"));
    try (Connection other = cluster.connect();
        Connection third = cluster.connect();
        ExecutorService pool = Executors.newSingleThreadExecutor()) {
      assertEquals("1", Sql.value(other, receive("attempt", 1)));
      String pid = Sql.value(other, "SELECT pg_backend_pid()");
      Future<String> waiting = pool.submit(() -> Sql.value(third, wait("60 s")));
      Await.until("a consumer that waits", LIMIT, () -> waits(1));
      Sql.value(connection, "SELECT pg_terminate_backend(" + pid + ")");
      assertEquals("1", waiting.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
      assertEquals("2", Sql.value(third, receive("attempt", 1)));
    }
  }

  @Test
  void shouldWorkAsAProcedureThatGoesOn() throws SQLException {
    Sql.execute(
        connection,
        "CREATE OR REPLACE PROCEDURE work(n int) LANGUAGE plpgsql AS $$ DECLARE r record; ready int; BEGIN"
            + " FOR i IN 1..n LOOP CALL kakehashi_wait('kakehashi', '"
            + queue
            + "', '5 s', 2, NULL, NULL, ready);"
            + " FOR r IN SELECT * FROM kakehashi_receive('kakehashi', '"
            + queue
            + "', 10) LOOP INSERT INTO local VALUES ((r.payload)::int8);"
            + " PERFORM kakehashi_complete('kakehashi', r.token); END LOOP; COMMIT; END LOOP; END $$");
    for (int i = 1; i <= 4; i++) {
      Sql.value(connection, enqueue(Integer.toString(i)));
    }
    Sql.execute(connection, "CALL work(2)");
    assertEquals("4", Sql.value(connection, "SELECT count(*) FROM local"));
    assertEquals(List.of(), Sql.rows(connection, receive("token", 1)));
  }

  /// Whichever server is killed while they commit: a task is there for each local row, and for no other.
  @Test
  void shouldBeWholeOnBothSidesOrOnNone() throws Exception {
    long next = 1;
    for (int i = 0; i < KILLS; i++) {
      long from = next;
      long[] last = {from};
      try (Connection writer = cluster.connect();
          ExecutorService pool = Executors.newSingleThreadExecutor()) {
        writer.setAutoCommit(false);
        Future<?> writing = pool.submit(() -> write(writer, last));
        Await.until("some commits", LIMIT, () -> read(last) > from + 20);
        if (i % 2 == 0) {
          cluster.endpoint().kill();
        } else {
          cluster.postgres().kill();
        }
        writing.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      }
      if (i % 2 == 0) {
        cluster.endpoint().start();
      } else {
        cluster.postgres().start();
      }
      connection.close();
      connection = cluster.connect();
      Set<String> tasks = new HashSet<>();
      Await.until("tasks for all rows after kill " + i, LIMIT, sameAsRows(tasks));
      next = read(last) + 10;
    }
  }

  private BooleanSupplier sameAsRows(Set<String> tasks) {
    return () -> {
      try {
        Sql.rows(connection, "SELECT outcome FROM kakehashi_resolve('kakehashi')");
        tasks.clear();
        tasks.addAll(
            Sql.rows(
                connection,
                "SELECT n FROM kakehashi_query('kakehashi', 'SELECT payload::text FROM kakehashi_catalog.tasks WHERE queue_name = '''||'"
                    + queue
                    + "'||'''') AS t (n text)"));
        return tasks.equals(new HashSet<>(Sql.rows(connection, "SELECT id::text FROM local")));
      } catch (SQLException e) {
        throw new IllegalStateException("could not ask", e);
      }
    };
  }

  private static long read(long[] last) {
    synchronized (last) {
      return last[0];
    }
  }

  private Void write(Connection writer, long[] last) throws SQLException {
    while (true) {
      long id = read(last) + 1;
      try {
        Sql.execute(writer, "INSERT INTO local VALUES (" + id + ")");
        Sql.value(writer, enqueue(Long.toString(id)));
        writer.commit();
        synchronized (last) {
          last[0] = id;
        }
      } catch (SQLException e) {
        String state = String.valueOf(e.getSQLState());
        assertTrue(state.startsWith("08") || state.startsWith("57P"), state + e.getMessage());
        return null;
      }
    }
  }
}
