package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/// Queues by SQL, from the client to the files of the queues.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QueueSqlTest {
  @TempDir static Path directory;

  private EndpointServer server;
  private Session session;

  @BeforeAll
  void open() {
    start();
  }

  private void start() {
    Settings settings =
        Settings.defaults()
            .set("data_directory", directory.resolve("data").toString())
            .set("runtime_directory", directory.resolve("run").toString())
            .set("memory", "64MB");
    server = EndpointServer.start(settings, new EmbeddedEngineFactory());
    session = attach();
  }

  private static Session attach() {
    return Session.attach(AttachOptions.of(directory.resolve("run")));
  }

  @AfterEach
  void clear() {
    // Counts agree at the end of every test.
    assertEquals(
        List.of(),
        query(
            "select queue_name || group_name from kakehashi_catalog.queue_groups"
                + " where enqueued <> ready + delayed + leased + done + dead + dead_letters + canceled or missed_wakeups <> 0"));
    for (String queue : query("select queue_name from kakehashi_catalog.queues")) {
      session.execute("drop queue if exists " + queue + " cascade");
    }
  }

  @AfterAll
  void close() {
    session.close();
    server.close();
  }

  private List<String> query(String sql) {
    return query(session, sql);
  }

  private static List<String> query(Session session, String sql) {
    List<String> lines = new ArrayList<>();
    try (PreparedStatement statement = session.prepare(sql);
        Rows rows = session.query(statement)) {
      while (rows.next()) {
        lines.add(rows.isNull(0) ? "NULL" : rows.getString(0));
      }
    }
    return lines;
  }

  private static String sqlstate(Executable work) {
    return assertThrows(EndpointException.class, work).sqlstate();
  }

  private String counts(String queue) {
    return query(
            "select concat_ws('/', ready, delayed, leased, dead + dead_letters, done, canceled) from kakehashi_catalog.queues"
                + " where queue_schema = 'public' and queue_name = '"
                + queue
                + "'")
        .getFirst();
  }

  @Test
  void shouldLendTasksInTheirOrder() {
    session.execute("create queue q");
    session.execute("select enqueue('q', to_jsonb(i)) from generate_series(1, 5) i");
    session.execute("select enqueue('q', '\"urgent\"', priority => 9)");
    assertEquals(
        List.of("\"urgent\"", "1", "2"), query("select payload::text from receive('q', max => 3)"));
    assertEquals("3/0/3/0/0/0", counts("q"));
    assertEquals(
        List.of("3 k", "4 k"),
        query(
            "select payload::text || ' ' || coalesce(key, 'k') from receive('q', max => 2, lease => '1h')"
                + " where lease_until > now() + '59min' and attempt = 1 and priority = 4"
                + " and enqueued_at between now() - interval '1min' and now() + interval '1min'"));
    assertEquals(
        List.of("5 LEASED"),
        query(
            "select count(*) || ' ' || state from kakehashi_catalog.tasks where queue_name = 'q' and state = 'LEASED' group by state"));
    assertEquals(
        List.of("5"),
        query(
            "select count(*)::text from kakehashi_catalog.leases where queue_name = 'q' and holder like 'session%'"));
  }

  @Test
  void shouldMakeAndFillAQueueInOneTransaction() {
    try (Transaction transaction = session.begin()) {
      transaction.update(session.prepare("create queue q"));
      try (Rows rows = transaction.query(session.prepare("select enqueue('q', '1')"))) {
        assertTrue(rows.next());
      }
      transaction.commit();
    }
    assertEquals(List.of("1"), query("select payload::text from receive('q')"));
  }

  @Test
  void shouldGiveBackWhatASessionHadWhenItEnds() {
    session.execute("create queue q");
    session.execute("select enqueue('q', '1'), enqueue('q', '2')");
    try (Session other = attach()) {
      assertEquals(List.of("1"), query(other, "select payload::text from receive('q')"));
      assertEquals(
          List.of("2"), query(other, "select payload::text from receive('q', hold => 'time')"));
    }
    assertEquals(
        List.of("1 2"),
        query("select payload::text || ' ' || attempt from receive('q', wait => '10s')"));
    assertEquals("0/0/2/0/0/0", counts("q"));
  }

  @Test
  void shouldCompleteFailReleaseExtendAndCancel() {
    session.execute("create queue dead");
    session.execute(
        "create queue q with (max_attempts = 2, min_backoff = '0', dead_letter = dead)");
    String id = query("select enqueue('q', '1')::text").getFirst();
    String token = query("select token from receive('q')").getFirst();
    assertEquals(List.of("false"), query("select cancel_task('q', " + id + ")::text"));
    assertEquals(
        List.of("true"), query("select (extend('" + token + "', '1h') > now() + '50min')::text"));
    assertEquals(List.of("true"), query("select release('" + token + "')::text"));
    assertEquals("55K01", sqlstate(() -> query("select complete('" + token + "')::text")));
    assertEquals(
        List.of("true"),
        query("select fail(token, 'no luck', '0')::text from receive('q', wait => '5s')"));
    assertEquals(
        List.of("2 no luck"),
        query("select attempt || ' ' || last_error from receive('q', wait => '5s')"));
    session.close();
    session = attach();
    // The session has gone with the last attempt: the task is dead.
    assertEquals(List.of("1"), query("select payload::text from receive('dead', wait => '10s')"));
    String gone = query("select enqueue('q', '2', run_at => now() + '1h')::text").getFirst();
    assertEquals("0/1/0/1/0/0", counts("q"));
    assertEquals(List.of("true"), query("select cancel_task('q', " + gone + ")::text"));
    assertEquals("0/0/0/1/0/1", counts("q"));
  }

  @Test
  void shouldCountAttemptsOfTransactionsThatAreRolledBack() {
    session.execute("create queue q with (max_attempts = 2, min_backoff = '0', max_backoff = '0')");
    session.execute("select enqueue('q', '1')");
    for (int attempt = 1; attempt <= 2; attempt++) {
      try (Transaction transaction = session.begin();
          PreparedStatement receive =
              session.prepare("select attempt, complete(token) from receive('q', wait => '10s')")) {
        try (Rows rows = transaction.query(receive)) {
          assertTrue(rows.next());
          assertEquals(attempt, rows.getInt(0));
        }
        transaction.rollback();
      }
    }
    assertEquals(List.of(), query("select payload::text from receive('q')"));
    assertEquals("0/0/0/1/0/0", counts("q"));
    assertEquals(
        List.of("DEAD 2 the transaction that had received it was rolled back"),
        query(
            "select concat_ws(' ', state, attempts, last_error) from kakehashi_catalog.tasks where queue_name = 'q'"));
  }

  @Test
  void shouldCompleteAndReceiveInOneStep() {
    session.execute("create queue q");
    session.execute("select enqueue('q', to_jsonb(i)) from generate_series(1, 3) i");
    String token = query("select token from receive('q')").getFirst();
    assertEquals(
        List.of("2"),
        query("select payload::text from complete_and_receive(array['" + token + "'], 'q')"));
    assertEquals("1/0/1/0/1/0", counts("q"));
    assertEquals(
        "55K01",
        sqlstate(() ->
            query("select payload::text from complete_and_receive(array['" + token + "'], 'q')")));
    assertEquals("1/0/1/0/1/0", counts("q"));
  }

  @Test
  void shouldGiveEachGroupEveryTask() {
    session.execute("create queue q");
    session.execute("select enqueue('q', '1')");
    session.execute("create subscription group a on queue q from first");
    session.execute("create subscription group b on queue q from now");
    session.execute("select enqueue('q', '2')");
    assertEquals("22023", sqlstate(() -> query("select payload::text from receive('q')")));
    String all = "select payload::text from receive('q', max => 9, \"group\" => '%s')";
    assertEquals(List.of("1", "2"), query(all.formatted("a")));
    assertEquals(List.of("2"), query(all.formatted("b")));
    session.execute("drop subscription group a on queue q");
    assertEquals("42704", sqlstate(() -> query(all.formatted("a"))));
    assertEquals(
        List.of("b"),
        query("select group_name from kakehashi_catalog.queue_groups where queue_name = 'q'"));
  }

  @Test
  void shouldPurgeAndMove() {
    session.execute("create queue q");
    session.execute("create queue r");
    session.execute("select enqueue('q', to_jsonb(i)) from generate_series(1, 5) i");
    session.execute("alter queue q pause");
    assertEquals(List.of(), query("select payload::text from receive('q')"));
    assertEquals(2, session.execute("move 2 from queue q to queue r"));
    assertEquals("3/0/0/0/0/2", counts("q"));
    assertEquals(List.of("1", "2"), query("select payload::text from receive('r', 9)"));
    session.execute("purge queue q");
    assertEquals("0/0/0/0/0/5", counts("q"));
    session.execute("alter queue q resume");
    session.execute("select enqueue('q', '6')");
    assertEquals(List.of("6"), query("select payload::text from receive('q', wait => '5s')"));
  }

  @Test
  void shouldLetOthersDefineBesideAMoveButNotDropItsQueue() {
    session.execute("create queue q with (max_attempts = 1)");
    session.execute("create queue r");
    session.execute("select enqueue('q', to_jsonb(i)) from generate_series(1, 3) i");
    session.execute("select fail(token) from receive('q', 2)");
    try (Session other = attach();
        PreparedStatement move = other.prepare("move dead from queue q to queue q rate '1/h'");
        PreparedStatement add = other.prepare("select enqueue('r', '1')")) {
      Transaction transaction = other.begin();
      assertEquals(2, transaction.update(move));
      transaction.update(add);
      session.execute("create table beside (id int8 primary key)");
      assertEquals("55006", sqlstate(() -> session.execute("drop queue r")));
      transaction.commit();
    }
    String next = "select payload::text from receive('q', wait => '20s')";
    assertEquals(List.of("3"), query(next));
    assertEquals(List.of("1"), query(next));
    assertEquals("0/1/2/0/0/2", counts("q"));
    session.execute("drop queue q, r");
  }

  @Test
  void shouldBeThereAfterARestart() {
    session.execute("create queue q with (lease = '5min')");
    session.execute("select enqueue('q', to_jsonb(i)) from generate_series(1, 3) i");
    assertEquals(List.of("1"), query("select complete(token)::text from receive('q')"));
    assertEquals(List.of("2"), query("select payload::text from receive('q', hold => 'time')"));
    session.close();
    server.close();
    start();
    assertEquals(
        List.of("2 2", "3 1"),
        query("select payload::text || ' ' || attempt from receive('q', max => 9, wait => '10s')"));
    assertEquals(List.of("00:05:00"), query("select lease::text from kakehashi_catalog.queues"));
  }

  @Test
  void shouldEndAWaitWhenItsQueueGoes() {
    session.execute("create queue q");
    CompletableFuture<List<String>> waiting =
        CompletableFuture.supplyAsync(() -> {
          try (Session other = attach()) {
            return query(other, "select payload::text from receive('q', wait => '1min')");
          }
        });
    Await.untilEquals(
        "consumers that wait",
        List.of("1"),
        () -> query("select waiting::text from kakehashi_catalog.queues"));
    session.execute("drop queue q");
    assertEquals(List.of(), waiting.join());
  }
}
