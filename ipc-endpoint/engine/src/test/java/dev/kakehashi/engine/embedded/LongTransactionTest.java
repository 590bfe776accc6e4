package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Areas;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Long transactions: areas, epochs, who gives way to whom; and the time-out of transactions.
final class LongTransactionTest {
  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    for (String table : List.of("a", "b", "c")) {
      engine.run("create table " + table + " (id int primary key, v int not null)");
      engine.run("insert into " + table + " values (1, 10), (2, 20)");
    }
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private EngineTransaction begin(Isolation isolation, String label, int priority, Areas areas) {
    return engine.engine.begin(new BeginOptions(Kind.LTX, isolation, label, priority, 0, areas));
  }

  private EngineTransaction writing(String tables) {
    return begin(Isolation.SERIALIZABLE, "nightly", 0, new Areas(tables, "", ""));
  }

  private Running start(EngineTransaction transaction, String sql) {
    return engine.start(transaction, engine.prepare(sql), new @Nullable Object[][] {{}}, 1000, 0);
  }

  private void awaitWaiting(String label) {
    Await.until(
        label + " waits",
        () ->
            engine
                .query(
                    "select waiting from kakehashi_catalog.transactions where label = '"
                        + label
                        + "'")
                .equals(List.of("t")));
  }

  private static EngineException refused(String sqlstate, Runnable action) {
    EngineException failure = assertThrows(EngineException.class, action::run);
    assertEquals(sqlstate, failure.code().sqlstate(), failure.getMessage());
    return failure;
  }

  @Test
  void shouldRefuseUnknownTablesAndMisfitsAtBegin() {
    refused("42P01", () -> writing("a, nosuch"));
    refused("42P01", () -> writing("other.a"));
    refused("42601", () -> writing("a b"));
    refused("42809", () -> writing("kakehashi_catalog.tables"));
    refused(
        "22023", () -> begin(Isolation.SERIALIZABLE, "", 0, new Areas("", "a, b", "public.\"a\"")));
    refused(
        "22023",
        () ->
            engine.engine.begin(
                new BeginOptions(
                    Kind.OCC, Isolation.SERIALIZABLE, "", 0, 0, new Areas("a", "", ""))));
    assertEquals(List.of("1"), engine.query("select count(*) from kakehashi_catalog.transactions"));
  }

  @Test
  void shouldRefuseWhatGoesBeyondItsArea() {
    EngineTransaction ltx = begin(Isolation.REPEATABLE_READ, "", 0, new Areas("a", "b", ""));
    EngineException write = refused("25000", () -> engine.run(ltx, "update b set v = 1"));
    assertTrue(String.valueOf(write.getMessage()).contains("\"public.b\""));
    refused("25000", () -> engine.run(ltx, "select * from b for update"));
    refused("25000", () -> engine.run(ltx, "select * from c"));
    refused("25000", () -> engine.run(ltx, "update a set v = 1 where id in (select id from c)"));
    assertEquals(2, engine.run(ltx, "update a set v = (select max(v) from b)").count());
    engine.commit(ltx);

    EngineTransaction excluding = begin(Isolation.REPEATABLE_READ, "", 0, new Areas("a", "", "b"));
    refused("25000", () -> engine.run(excluding, "select * from b"));
    engine.run(excluding, "select * from c");
    engine.rollback(excluding);
  }

  @Test
  void shouldMakeShortTransactionsGiveWayInItsArea() {
    EngineTransaction before = engine.begin(Isolation.READ_COMMITTED);
    engine.run(before, "select * from a");
    EngineTransaction ltx = writing("a");
    EngineException failure = refused("40001", () -> engine.run("insert into a values (3, 30)"));
    assertTrue(failure.detail().contains("\"nightly\""), failure.detail());
    assertTrue(failure.detail().contains("\"public.a\""), failure.detail());
    assertEquals("a", failure.tableName());
    refused("40001", () -> engine.run(before, "delete from a"));
    refused("40001", () -> engine.run("select * from a for update skip locked"));
    engine.run("update b set v = v + 1");
    assertEquals(List.of("2"), engine.query("select count(*) from a"));
    engine.run(ltx, "update a set v = v + 1");
    engine.commit(ltx);
    engine.run(before, "insert into a values (3, 30)");
    engine.commit(before);
    assertEquals(List.of("11", "21", "30"), engine.query("select v from a order by id"));
  }

  @Test
  void shouldWaitForItsEpochUntilEarlierWritersHaveEnded() {
    EngineTransaction writer = engine.begin(Isolation.READ_COMMITTED);
    engine.run(writer, "update a set v = 100 where id = 1");
    EngineTransaction ltx = writing("a");
    Running first = start(ltx, "update a set v = v + 1");
    awaitWaiting("nightly");
    engine.run(writer, "insert into a values (3, 300)");
    assertFalse(first.done.isDone());
    engine.commit(writer);
    assertEquals(3, first.await().count());
    engine.commit(ltx);
    assertEquals(List.of("101", "21", "301"), engine.query("select v from a order by id"));
  }

  @Test
  void shouldStopWaitingWhenCanceledOrRolledBack() {
    EngineTransaction writer = engine.begin(Isolation.READ_COMMITTED);
    engine.run(writer, "update a set v = 100");
    EngineTransaction ltx = writing("a");
    Running first = start(ltx, "select * from a");
    awaitWaiting("nightly");
    java.util.Objects.requireNonNull(first.execution).cancel();
    refused("57014", first::await);
    Running second = start(ltx, "select * from a");
    awaitWaiting("nightly");
    engine.rollback(ltx);
    refused("25P02", second::await);
    engine.run(engine.begin(Isolation.READ_COMMITTED), "insert into a values (3, 30)");
    engine.rollback(writer);
  }

  @Test
  void shouldGoByPriorityThenByEpoch() {
    EngineTransaction first = begin(Isolation.SERIALIZABLE, "first", 0, new Areas("a", "", ""));
    engine.run(first, "update a set v = 1");
    EngineTransaction low = begin(Isolation.SERIALIZABLE, "low", 0, new Areas("a", "", ""));
    EngineTransaction high = begin(Isolation.SERIALIZABLE, "high", 5, new Areas("a, b", "", ""));
    Running inLow = start(low, "update a set v = 2");
    Running inHigh = start(high, "update a set v = 3");
    awaitWaiting("low");
    awaitWaiting("high");
    EngineTransaction elsewhere = writing("c");
    engine.run(elsewhere, "update c set v = 0");
    engine.commit(elsewhere);
    engine.commit(first);
    assertEquals(2, inHigh.await().count());
    assertFalse(inLow.done.isDone());
    engine.commit(high);
    assertEquals(2, inLow.await().count());
    engine.commit(low);
    assertEquals(List.of("2", "2"), engine.query("select v from a"));
  }

  @Test
  void shouldGuardWhatItReadsWhenItIsSerializable() {
    EngineTransaction ltx = begin(Isolation.SERIALIZABLE, "nightly", 0, new Areas("a", "b", ""));
    refused("40001", () -> engine.run("update b set v = 1"));
    engine.rollback(ltx);

    EngineTransaction undeclared = writing("a");
    engine.run(undeclared, "select * from a");
    engine.run("update b set v = 77 where id = 1");
    assertEquals(List.of("77", "20"), engine.run(undeclared, "select v from b order by id").rows());
    refused("40001", () -> engine.run("update b set v = 1"));
    engine.run(undeclared, "update a set v = 5");
    engine.commit(undeclared);
    engine.run("update b set v = 1");
  }

  @Test
  void shouldWaitForWritersOfATableThatItComesToRead() {
    EngineTransaction ltx = writing("a");
    engine.run(ltx, "select * from a");
    EngineTransaction writer = engine.begin(Isolation.REPEATABLE_READ);
    engine.run(writer, "update b set v = 77 where id = 1");
    Running read = start(ltx, "select v from b order by id");
    awaitWaiting("nightly");
    engine.commit(writer);
    assertEquals(List.of("77", "20"), read.await().rows());
    engine.commit(ltx);
  }

  @Test
  void shouldReadItsSnapshotAndLetOthersWriteUnderRepeatableRead() {
    EngineTransaction ltx = begin(Isolation.READ_COMMITTED, "", 0, new Areas("a", "", ""));
    engine.run(ltx, "select * from a");
    engine.run("update b set v = 0");
    assertEquals(List.of("10", "20"), engine.run(ltx, "select v from b order by id").rows());
    engine.run(ltx, "update a set v = (select sum(v) from b)");
    engine.commit(ltx);
    assertEquals(List.of("30", "30"), engine.query("select v from a"));
  }

  @Test
  void shouldCommitAfterThoseThatComeBeforeItAndHaveReadWhatItChanges() throws Exception {
    EngineTransaction earlier = writing("a");
    EngineTransaction later = begin(Isolation.SERIALIZABLE, "later", 0, new Areas("b", "", ""));
    engine.run(earlier, "select * from a");
    engine.run(later, "update b set v = 99");
    assertEquals(List.of("30"), engine.run(earlier, "select sum(v) from b").rows());
    CompletableFuture<Boolean> commit = engine.startCommit(later);
    awaitWaiting("later");
    assertFalse(commit.isDone());
    engine.run(earlier, "update a set v = 1");
    engine.commit(earlier);
    assertTrue(commit.get(60, TimeUnit.SECONDS));
    assertEquals(List.of("99", "99"), engine.query("select v from b"));
  }

  @Test
  void shouldMakeTheLaterOneWaitForTheEarlierOnesWrites() {
    EngineTransaction earlier = writing("a");
    EngineTransaction later = begin(Isolation.SERIALIZABLE, "later", 0, new Areas("b", "", ""));
    engine.run(earlier, "update a set v = 7");
    engine.run(later, "select * from b");
    Running read = start(later, "select v from a");
    awaitWaiting("later");
    engine.commit(earlier);
    assertEquals(List.of("7", "7"), read.await().rows());
    engine.commit(later);
  }

  @Test
  void shouldGiveUpACommitThatWaitsWhenTheTransactionIsRolledBack() {
    EngineTransaction earlier = writing("a");
    EngineTransaction later = begin(Isolation.SERIALIZABLE, "later", 0, new Areas("b", "", ""));
    engine.run(later, "update b set v = 99");
    engine.run(earlier, "select * from b");
    CompletableFuture<Boolean> commit = engine.startCommit(later);
    awaitWaiting("later");
    engine.rollback(later);
    refused("25P02", () -> TestEngine.await(commit));
    engine.commit(earlier);
    assertEquals(List.of("10", "20"), engine.query("select v from b order by id"));
  }

  @Test
  void shouldKeepReadersOfItsAreaFromBeingPrepared() {
    EngineTransaction reader = engine.begin(Isolation.SERIALIZABLE);
    engine.run(reader, "update c set v = (select sum(v) from a)");
    CompletableFuture<Boolean> prepared = prepare(reader, "p1");
    assertTrue(TestEngine.await(prepared));
    EngineTransaction ltx = writing("a");
    Running waits = start(ltx, "update a set v = 0");
    awaitWaiting("nightly");
    CompletableFuture<Boolean> decided = new CompletableFuture<>();
    engine.session.rollbackPrepared("p1", failure -> decided.complete(failure == null));
    assertTrue(TestEngine.await(decided));
    assertEquals(2, waits.await().count());

    EngineTransaction next = engine.begin(Isolation.SERIALIZABLE);
    engine.run(next, "update c set v = (select sum(v) from a)");
    refused("40001", () -> TestEngine.await(prepare(next, "p2")));
    engine.commit(ltx);
  }

  private CompletableFuture<Boolean> prepare(EngineTransaction transaction, String globalId) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    engine.session.prepare(
        transaction,
        globalId,
        failure -> {
          if (failure == null) {
            done.complete(true);
          } else {
            done.completeExceptionally(failure);
          }
        });
    return done;
  }

  @Test
  void shouldKeepItsTablesFromBeingDropped() {
    EngineTransaction ltx = writing("a");
    refused("55006", () -> engine.run("truncate a"));
    refused("55006", () -> engine.run("drop table a"));
    engine.commit(ltx);
    engine.run("drop table a");
  }

  /// The load that it withstands kills every serializable short transaction of the same shape.
  @Test
  void shouldCommitUnderALoadThatAlwaysKillsShortOnes() throws Exception {
    AtomicBoolean stopping = new AtomicBoolean();
    AtomicInteger changes = new AtomicInteger();
    AtomicReference<@Nullable Throwable> broken = new AtomicReference<>();
    List<Thread> load = new ArrayList<>();
    for (int i = 1; i <= 2; i++) {
      String change = "update a set v = v + 1 where id = " + i;
      load.add(
          new Thread(() -> {
            while (!stopping.get() && broken.get() == null) {
              try {
                engine.run(change);
                changes.incrementAndGet();
              } catch (EngineException refused) {
                if (!refused.code().sqlstate().equals("40001")) {
                  broken.set(refused);
                }
              }
            }
          }));
    }
    load.forEach(Thread::start);
    try {
      for (int round = 0; round < 3; round++) {
        EngineTransaction occ = engine.begin(Isolation.SERIALIZABLE);
        engine.run(occ, "select sum(v) from a");
        int seen = changes.get();
        Await.until("more changes", () -> changes.get() > seen + 4 || broken.get() != null);
        refused(
            "40001",
            () -> {
              engine.run(occ, "update a set v = v + 1000");
              engine.commit(occ);
            });
        engine.rollback(occ);
      }
      for (int round = 0; round < 20; round++) {
        EngineTransaction ltx = writing("a, b");
        List<String> sum = engine.run(ltx, "select sum(v) from a").rows();
        engine.run(ltx, "update a set v = v + 1000");
        engine.run(ltx, "update b set v = (select sum(v) - 2000 from a)");
        assertEquals(sum, engine.run(ltx, "select max(v) from b").rows());
        engine.commit(ltx);
        int seen = changes.get();
        Await.until("more changes", () -> changes.get() > seen || broken.get() != null);
      }
    } finally {
      stopping.set(true);
      for (Thread each : load) {
        each.join();
      }
    }
    assertNull(broken.get());
    assertEquals(
        List.of(Integer.toString(30 + 40_000 + changes.get())),
        engine.query("select sum(v) from a"));
  }

  @Test
  void shouldRefuseChangesOfReadOnlyOnesAndNeverAbortThem() {
    EngineTransaction rtx =
        engine.engine.begin(new BeginOptions(Kind.RTX, Isolation.SERIALIZABLE, "report"));
    assertEquals(List.of("30"), engine.run(rtx, "select sum(v) from a").rows());
    EngineTransaction ltx = writing("a");
    engine.run(ltx, "update a set v = 0");
    engine.commit(ltx);
    refused("25006", () -> engine.run(rtx, "update a set v = 1"));
    assertEquals(List.of("30"), engine.run(rtx, "select sum(v) from a").rows());
    engine.commit(rtx);
  }

  private EngineTransaction timed(Kind kind, long millis, Areas areas) {
    return engine.engine.begin(
        new BeginOptions(kind, Isolation.READ_COMMITTED, "timed", 0, millis * 1_000_000, areas));
  }

  @Test
  void shouldRollBackAtItsTimeoutAndCancelWhatRuns() {
    EngineTransaction changing = timed(Kind.OCC, 300, Areas.NONE);
    refused(
        "25P04",
        () -> {
          while (true) {
            engine.run(changing, "update b set v = 0");
          }
        });
    EngineTransaction transaction = timed(Kind.OCC, 300, Areas.NONE);
    EngineException failure =
        refused(
            "25P04",
            () ->
                engine.run(
                    transaction,
                    "with recursive n(i) as (values (1::int8) union all select i + 1 from n)"
                        + " select max(i) from n"));
    assertTrue(failure.detail().contains("300 ms"), failure.detail());
    Await.untilEquals("state", EngineTransaction.State.ABORTED, transaction::state);
    refused("25P04", () -> engine.run(transaction, "select 1"));
    engine.rollback(transaction);
    engine.rollback(changing);
    assertEquals(List.of("10", "20"), engine.query("select v from b order by id"));
  }

  @Test
  void shouldEndTheWaitForItsEpochAtItsTimeout() {
    EngineTransaction writer = engine.begin(Isolation.READ_COMMITTED);
    engine.run(writer, "update a set v = 100");
    EngineTransaction ltx = timed(Kind.LTX, 200, new Areas("a", "", ""));
    refused("25P04", () -> engine.run(ltx, "select * from a"));
    engine.commit(writer);
    // The statement is answered before the transaction has let go of its area.
    Await.untilEquals("state", EngineTransaction.State.ABORTED, ltx::state);
    engine.run("update a set v = 1");
  }

  @Test
  void shouldNotOutliveItsEnd() {
    EngineTransaction transaction = timed(Kind.OCC, 60_000, Areas.NONE);
    engine.run(transaction, "update a set v = 1");
    engine.commit(transaction);
    assertNull(transaction.failure());
    assertEquals(List.of("1"), engine.query("select count(*) from kakehashi_catalog.transactions"));
  }
}
