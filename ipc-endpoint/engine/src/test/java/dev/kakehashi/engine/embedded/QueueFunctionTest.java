package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// enqueue, receive, complete and their relatives: what the engine does with transactions, waits and rights.
final class QueueFunctionTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = TestEngine.withQueues(directory, ListQueues::new);
    engine.query("create queue q");
    engine.query("create table t (id int primary key, name text)");
    settle();
  }

  /// Committed changes take effect for queues when they are durable.
  private void settle() {
    engine.awaitDurable();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private ListQueues queues() {
    return (ListQueues) Objects.requireNonNull(engine.engine.queues());
  }

  private List<String> payloads() {
    settle();
    return queues().payloads(queues().definitions().getFirst().queueId());
  }

  private static String sqlstate(org.junit.jupiter.api.function.Executable work) {
    return assertThrows(EngineException.class, work).code().sqlstate();
  }

  private static String text(String sql) {
    return "select encode(body, 'escape') from (" + sql + ") s";
  }

  @Test
  void shouldEnqueueWithTheTransaction() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "select enqueue('q', '{\"b\": 1,\"a\":2}'::jsonb)");
    assertTrue(payloads().isEmpty());
    engine.commit(transaction);
    assertEquals(List.of("{\"a\": 2, \"b\": 1}"), payloads());
    transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "select enqueue('q', '2')");
    engine.rollback(transaction);
    assertEquals(1, payloads().size());
  }

  @Test
  void shouldUndoWhatAFailedStatementHasEnqueued() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "select enqueue('q', '1')");
    assertEquals(
        "22012",
        sqlstate(() ->
            engine.run(
                transaction,
                "select enqueue('q', to_jsonb(i)), 1 / (i - 3) from generate_series(1, 5) i")));
    engine.commit(transaction);
    assertEquals(List.of("1"), payloads());
  }

  @Test
  void shouldEnqueueForEachRow() {
    engine.query("select enqueue('q', to_jsonb(i)) from generate_series(1, 3) i");
    engine.query(
        "insert into t select i, enqueue('public.q', convert_to('x' || i, 'UTF8'))::text from generate_series(1, 2) i");
    assertEquals(List.of("1", "2", "3", "x1", "x2"), payloads());
    assertEquals(List.of("2"), engine.query("select count(*) from t"));
  }

  @Test
  void shouldTakeArgumentsByName() {
    engine.query(
        "select enqueue('q', '1', key => 'k', fair => 'f', priority => 3,"
            + " run_at => now() + '1h', unique_key => 'u', unique_for => '1d')");
    engine.query("select enqueue(payload => '2', queue => 'q')");
    Statement statement =
        engine.prepare(
            "select enqueue($1, $2, key => $3)", TypeOid.TEXT, TypeOid.JSONB, TypeOid.TEXT);
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.execute(transaction, statement, new Object[][] {{"q", "3", "k"}});
    engine.commit(transaction);
    assertEquals(List.of("1", "2", "3"), payloads());
    assertEquals("42883", sqlstate(() -> engine.query("select enqueue('q', '1', kee => 'k')")));
    assertEquals("42883", sqlstate(() -> engine.query("select enqueue('q')")));
    assertEquals("42883", sqlstate(() -> engine.query("select * from receive()")));
  }

  @Test
  void shouldRefuseBadArguments() {
    assertEquals("42704", sqlstate(() -> engine.query("select enqueue('none_such', '1')")));
    assertEquals("22P02", sqlstate(() -> engine.query("select enqueue('q', '{')")));
    assertEquals("22004", sqlstate(() -> engine.query("select enqueue('q', null)")));
    assertEquals("22023", sqlstate(() -> engine.query("select enqueue('q', '1', priority => 10)")));
    assertEquals(
        "22023", sqlstate(() -> engine.query("select enqueue('q', '1', unique_for => '1d')")));
    assertEquals(
        "22023", sqlstate(() -> engine.query("select enqueue('q', '1', run_at => 'infinity')")));
    assertEquals(
        "54000",
        sqlstate(() -> engine.query("select enqueue('q', '1', key => repeat('k', 1025))")));
    assertEquals(
        "54000",
        sqlstate(() -> engine.query("select enqueue('q', to_jsonb(repeat('k', 1048576)))")));
    assertEquals("22023", sqlstate(() -> engine.query("select * from receive('q', max => 0)")));
    assertEquals("22023", sqlstate(() -> engine.query("select * from receive('q', hold => 'x')")));
    assertEquals(
        "22023", sqlstate(() -> engine.query("select * from receive('q', wait => '1 month')")));
    assertEquals(
        "42704", sqlstate(() -> engine.query("select * from receive('q', \"group\" => 'g')")));
    assertEquals("22023", sqlstate(() -> engine.query("select complete('x')")));
    assertEquals(
        "0A000",
        sqlstate(
            () -> engine.query("select * from receive('q') union all select * from receive('q')")));
    assertEquals(
        "0A000",
        sqlstate(() ->
            engine.query("select * from generate_series(1, 2) i, lateral receive('q', i) r")));
  }

  @Test
  void shouldReceiveAndComplete() {
    engine.query("select enqueue('q', '1'), enqueue('q', '2')");
    settle();
    assertEquals(List.of("1", "2"), engine.query(text("select * from receive('q', 10)")));
    assertTrue(engine.query("select * from receive('q')").isEmpty());
    engine.session.close();
    TestEngine.Other other = engine.other();
    assertEquals(
        List.of("2|t|t"),
        other.query("select attempt, key is null, payload is null from receive('q')"));
    String token = other.query("select token from receive('q')").getFirst();
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    other.run(transaction, "select complete('" + token + "')");
    engine.rollback(transaction);
    assertEquals(2, payloads().size());
    assertEquals(List.of("1"), other.query("select complete('" + token + "')"));
    assertEquals(List.of("1"), payloads());
    assertEquals("55K01", sqlstate(() -> other.query("select complete('" + token + "')")));
  }

  @Test
  void shouldCompleteWhatTheSameStatementReceives() {
    engine.query("select enqueue('q', to_jsonb(i)) from generate_series(1, 3) i");
    settle();
    assertEquals(
        List.of("1", "1"), engine.query("select complete(token) from receive('q', max => 2)"));
    assertEquals(List.of("3"), payloads());
    engine.query("insert into t select complete(token), encode(body, 'escape') from receive('q')");
    assertEquals(List.of("1|3"), engine.query("select * from t"));
    assertTrue(payloads().isEmpty());
  }

  @Test
  void shouldWaitForATask() {
    EngineTransaction waiting = engine.engine.begin(BeginOptions.DEFAULT);
    waiting.ofOneStatement();
    TestEngine.Running receive =
        engine.start(
            waiting,
            engine.prepare(text("select * from receive('q', wait => '1min')")),
            new Object[][] {{}},
            Integer.MAX_VALUE,
            0);
    assertFalse(receive.done.isDone());
    engine.other().query("select enqueue('q', '7')");
    assertEquals(List.of("7"), receive.await().rows());
    engine.commit(waiting);
  }

  @Test
  void shouldHoldNoSnapshotWhileItWaits() {
    EngineTransaction waiting = engine.engine.begin(BeginOptions.DEFAULT);
    waiting.ofOneStatement();
    TestEngine.Running receive =
        engine.start(
            waiting,
            engine.prepare("select (select count(*) from t) from receive('q', wait => '1min')"),
            new Object[][] {{}},
            Integer.MAX_VALUE,
            0);
    TestEngine.Other other = engine.other();
    awaitWaiter(other);
    other.query("insert into t values (1, 'a')");
    assertEquals(
        List.of("0"),
        other.query(
            "select max(commits_held) from kakehashi_catalog.transactions where transaction_id = "
                + waiting.id()));
    other.query("select enqueue('q', '7')");
    assertEquals(List.of("1"), receive.await().rows());
    engine.commit(waiting);
  }

  /// The work that makes the statement wait runs on another thread.
  private static void awaitWaiter(TestEngine.Other other) {
    Await.untilEquals(
        "consumers that wait",
        List.of("1"),
        () -> other.query("select waiting from kakehashi_catalog.queues where queue_name = 'q'"));
  }

  @Test
  void shouldEndTheWaitByCancelTimeoutAndRollback() {
    String sql = "select * from receive('q', wait => '1min')";
    assertEquals(
        "57014", sqlstate(() -> engine.queryWithin(TimeUnit.MILLISECONDS.toNanos(30), sql)));
    EngineTransaction waiting = engine.engine.begin(BeginOptions.DEFAULT);
    TestEngine.Running receive =
        engine.start(waiting, engine.prepare(sql), new Object[][] {{}}, Integer.MAX_VALUE, 0);
    awaitWaiter(engine.other());
    Objects.requireNonNull(receive.execution).cancel();
    assertEquals("57014", sqlstate(receive::await));
    engine.rollback(waiting);
    EngineTransaction ending = engine.engine.begin(BeginOptions.DEFAULT);
    TestEngine.Running again =
        engine.start(ending, engine.prepare(sql), new Object[][] {{}}, Integer.MAX_VALUE, 0);
    awaitWaiter(engine.other());
    engine.rollback(ending);
    assertThrows(EngineException.class, again::await);
    engine.query("select enqueue('q', '7')");
    settle();
    assertEquals(List.of("7"), engine.query(text("select * from receive('q')")));
  }

  @Test
  void shouldGiveBackWhatAFailedStatementHasReceived() {
    engine.query("select enqueue('q', '0')");
    assertEquals(
        "22012",
        sqlstate(() ->
            engine.query(
                "select 1 / encode(body, 'escape')::int from receive('q', wait => '5s')")));
    assertEquals(List.of("0"), engine.query(text("select * from receive('q', wait => '10s')")));
  }

  /// Tasks of an answer to a client who has gone come back from two sides at once: by the statement, and one by one by its reader.
  @Test
  void shouldGiveBackTasksBesideOneThatSomebodyElseEnds() {
    engine.query("select enqueue('q', to_jsonb(i)) from generate_series(1, 5) i");
    settle();
    List<LeaseToken> tokens =
        engine.query("select token from receive('q', max => 5)").stream()
            .map(LeaseToken::of)
            .toList();
    assertEquals(5, tokens.size());
    AtomicBoolean isFirst = new AtomicBoolean(true);
    QueueCalls.giveBack(
        engine.engine.store(),
        tokens,
        (changes, token) -> {
          changes.release(token);
          if (isFirst.getAndSet(false)) {
            engine.query("select complete('" + token.text() + "')");
            settle();
          }
        });
    settle();
    assertEquals(
        List.of("2", "3", "4", "5"),
        engine.query(text("select * from receive('q', max => 5) order by task_id")));
  }

  @Test
  void shouldRefuseToReceiveWhereItCannot() {
    engine.query("select enqueue('q', '0')");
    settle();
    EngineTransaction reader =
        engine.engine.begin(
            new BeginOptions(BeginOptions.Kind.RTX, Isolation.READ_COMMITTED, "test"));
    assertEquals("25006", sqlstate(() -> engine.run(reader, "select * from receive('q')")));
    assertEquals("25006", sqlstate(() -> engine.run(reader, "select enqueue('q', '1')")));
    engine.rollback(reader);
    String token = engine.query("select token from receive('q')").getFirst();
    EngineTransaction block = engine.begin(Isolation.READ_COMMITTED);
    assertEquals(
        "25001",
        sqlstate(() ->
            engine.run(block, "select * from complete_and_receive(array['" + token + "'], 'q')")));
    engine.rollback(block);
  }

  @Test
  void shouldLookAtPrivileges() {
    engine.query("create role worker login");
    engine.query("select enqueue('q', '1')");
    TestEngine.Other worker = engine.other("worker");
    assertEquals("42501", sqlstate(() -> worker.query("select enqueue('q', '1')")));
    assertEquals("42501", sqlstate(() -> worker.query("select * from receive('q')")));
    assertEquals("42501", sqlstate(() -> worker.query("purge queue q")));
    assertEquals("42501", sqlstate(() -> worker.query("alter queue q pause")));
    assertTrue(worker.query("select * from kakehashi_catalog.queues").isEmpty());
    engine.query("grant insert, update on queue q to worker");
    assertEquals(
        List.of("t|t|f"),
        worker.query(
            "select has_queue_privilege('q', 'INSERT'), has_queue_privilege('worker', 'q', 'update'), has_queue_privilege('q', 'DELETE')"));
    worker.query("select enqueue('q', '2')");
    settle();
    String token = worker.query("select token from receive('q')").getFirst();
    assertEquals(1, worker.query("select * from kakehashi_catalog.queues").size());
    engine.query("revoke update on queue q from worker");
    assertEquals("42501", sqlstate(() -> worker.query("select complete('" + token + "')")));
    engine.query("revoke all on queue q from worker");
    engine.query("alter queue q owner to worker");
    worker.query("alter queue q pause");
    assertEquals("2BP01", sqlstate(() -> engine.query("drop role worker")));
    engine.query("reassign owned by worker to test");
    engine.query("drop role worker");
    assertEquals("42809", sqlstate(() -> engine.query("grant select on q to public")));
    assertEquals("0LP01", sqlstate(() -> engine.query("grant usage on queue q to public")));
  }
}
