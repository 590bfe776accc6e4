package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static dev.kakehashi.engine.embedded.TestEngine.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Prepared transactions: what they keep, who decides, restarts.
final class TwoPhaseCommitTest {
  private static final String ALL = "select * from t order by id";

  @TempDir Path directory;

  @SuppressWarnings("NullAway.Init") // set before each test
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, name text, v int)");
    engine.run("create index on t (name)");
    engine.run("insert into t values (1, 'one', 10), (2, 'two', 20), (3, 'three', 30)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void restart() {
    engine.close();
    engine = new TestEngine(directory);
  }

  private void prepare(EngineTransaction transaction, String globalId) {
    awaitEnd(done -> engine.session.prepare(transaction, globalId, done));
  }

  private void commit(String globalId) {
    awaitEnd(done ->
        engine.session.commitPrepared(globalId, EngineTransaction.CommitResponse.STORED, done));
  }

  private void rollback(String globalId) {
    awaitEnd(done -> engine.session.rollbackPrepared(globalId, done));
  }

  /// An update of a key, an update of a value twice, a delete, an insert, and one that goes again.
  private EngineTransaction changeEverything() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "update t set id = 11, name = 'eleven' where id = 1");
    engine.run(transaction, "update t set v = 21 where id = 2");
    engine.run(transaction, "update t set v = 22 where id = 2");
    engine.run(transaction, "delete from t where id = 3");
    engine.run(transaction, "insert into t values (4, 'four', null), (5, 'five', 50)");
    engine.run(transaction, "delete from t where id = 5");
    return transaction;
  }

  @Test
  void shouldCommitAfterRestart() {
    prepare(changeEverything(), "7/1/99");
    assertEquals(List.of("1|one|10", "2|two|20", "3|three|30"), engine.query(ALL));
    for (int i = 0; i < 2; i++) {
      restart();
      assertEquals(List.of("1|one|10", "2|two|20", "3|three|30"), engine.query(ALL));
    }
    List<PreparedTransaction> listed = engine.engine.preparedTransactions();
    assertEquals(List.of("7/1/99"), listed.stream().map(PreparedTransaction::globalId).toList());
    assertEquals(
        List.of("7/1/99|test"),
        engine.query("select gid, user_name from kakehashi_catalog.prepared_transactions"));
    commit("7/1/99");
    List<String> after = List.of("2|two|22", "4|four|NULL", "11|eleven|10");
    assertEquals(after, engine.query(ALL));
    restart();
    assertEquals(after, engine.query(ALL));
    assertEquals(List.of("2|22"), engine.query("select id, v from t where name = 'two'"));
    assertEquals(List.of(), engine.query("select id from t where name = 'one'"));
    assertEquals(List.of("3"), engine.query("select count(*) from t where id >= 0"));
    assertEquals(List.of(), engine.engine.preparedTransactions());
  }

  @Test
  void shouldRollBackAfterRestart() {
    prepare(changeEverything(), "a");
    restart();
    rollback("a");
    List<String> before = List.of("1|one|10", "2|two|20", "3|three|30");
    assertEquals(before, engine.query(ALL));
    // Keys and rows that it had kept are free again.
    engine.run("insert into t values (11, 'x', 1), (4, 'y', 1)");
    engine.run("update t set v = v + 1 where id in (2, 3)");
    restart();
    assertEquals(
        List.of("1|one|10", "2|two|21", "3|three|31", "4|y|1", "11|x|1"), engine.query(ALL));
    assertState("42704", () -> commit("a"));
  }

  @Test
  void shouldKeepRowsFromOthersAlsoAfterRestart() {
    prepare(changeEverything(), "a");
    restart();
    for (String sql :
        List.of(
            "update t set v = 0 where id = 2",
            "delete from t where id = 3",
            "insert into t values (11, 'duplicate', 1)",
            "drop table t")) {
      EngineTransaction other = engine.begin(Isolation.READ_COMMITTED);
      Running waiting =
          engine.start(other, engine.prepare(sql), new @Nullable Object[][] {{}}, 10, 100_000_000L);
      assertState("57014", waiting::await);
      engine.rollback(other);
    }
    EngineTransaction other = engine.begin(Isolation.READ_COMMITTED);
    Running waiting =
        engine.start(
            other,
            engine.prepare("update t set v = v + 1 where id = 2"),
            new @Nullable Object[][] {{}},
            10,
            0);
    assertFalse(waiting.done.isDone());
    commit("a");
    assertEquals(1, waiting.await().count());
    engine.commit(other);
    assertEquals(List.of("23"), engine.query("select v from t where id = 2"));
  }

  @Test
  void shouldEndTheTransactionForItsHandle() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "insert into t values (4, 'four', 40)");
    prepare(transaction, "a");
    assertEquals(EngineTransaction.State.PREPARED, transaction.state());
    assertState("25P01", () -> engine.run(transaction, "select 1"));
    assertState("25P01", () -> prepare(transaction, "b"));
    engine.rollback(transaction);
    engine.commit(transaction);
    assertEquals(List.of("3"), engine.query("select count(*) from t"));
    commit("a");
    assertEquals(List.of("4"), engine.query("select count(*) from t"));
    assertState("42704", () -> commit("a"));
    assertState("42704", () -> rollback("a"));
  }

  @Test
  void shouldRefuseIdentifierThatIsInUseAndRollBack() {
    EngineTransaction first = engine.begin(Isolation.READ_COMMITTED);
    engine.run(first, "insert into t values (4, 'four', 40)");
    prepare(first, "a");
    EngineTransaction second = engine.begin(Isolation.READ_COMMITTED);
    engine.run(second, "insert into t values (5, 'five', 50)");
    assertState("42710", () -> prepare(second, "a"));
    assertEquals(EngineTransaction.State.ABORTED, second.state());
    EngineTransaction third = engine.begin(Isolation.READ_COMMITTED);
    assertState("22023", () -> prepare(third, "x".repeat(201)));
    rollback("a");
    assertEquals(List.of("3"), engine.query("select count(*) from t"));
  }

  @Test
  void shouldLetNobodyElseDecide() {
    EngineSession alice = engine.engine.openSession("alice", "1001");
    EngineSession bob = engine.engine.openSession("bob", "1002");
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "insert into t values (4, 'four', 40)");
    awaitEnd(done -> alice.prepare(transaction, "a", done));
    assertState("42501", () -> awaitEnd(done -> bob.rollbackPrepared("a", done)));
    assertState(
        "42501",
        () ->
            awaitEnd(
                done -> bob.commitPrepared("a", EngineTransaction.CommitResponse.AVAILABLE, done)));
    awaitEnd(done -> alice.commitPrepared("a", EngineTransaction.CommitResponse.AVAILABLE, done));
    assertEquals(List.of("4"), engine.query("select count(*) from t"));
  }

  @Test
  void shouldDecideBySql() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "insert into t values (4, 'four', 40)");
    engine.run(transaction, "prepare transaction 'it''s'");
    assertEquals(EngineTransaction.State.PREPARED, transaction.state());
    engine.run("commit prepared 'it''s'");
    assertEquals(List.of("4"), engine.query("select count(*) from t"));
    EngineTransaction next = engine.begin(Isolation.READ_COMMITTED);
    engine.run(next, "delete from t");
    engine.run(next, "PREPARE TRANSACTION 'b'");
    engine.run("ROLLBACK PREPARED 'b'");
    assertEquals(List.of("4"), engine.query("select count(*) from t"));
    assertState("42704", () -> engine.run("rollback prepared 'b'"));
    assertState("42601", () -> engine.run("commit prepared b"));
  }

  @Test
  void shouldTellListenerOfBothPhases() {
    List<String> heard = new ArrayList<>();
    engine.engine.preparedListener(
        new PreparedTransaction.Listener() {
          @Override
          public synchronized void prepared(PreparedTransaction transaction) {
            heard.add("prepared " + transaction.globalId() + " " + transaction.reference());
          }

          @Override
          public synchronized void ended(PreparedTransaction transaction, boolean committed) {
            heard.add((committed ? "committed " : "aborted ") + transaction.reference());
          }
        });
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    transaction.reference(77);
    engine.run(transaction, "insert into t values (4, 'four', 40)");
    prepare(transaction, "a");
    restart();
    assertEquals(77, engine.engine.preparedTransactions().getFirst().reference());
    assertEquals(List.of("prepared a 77"), heard);
  }

  /// Data that a prepared serializable transaction has read stays as it is until its decision: also ranges without rows, also after a
  /// restart.
  @Test
  void shouldStaySerializableBetweenThePhases() {
    for (boolean byRange : new boolean[] {true, false}) {
      for (boolean again : new boolean[] {true, false}) {
        EngineTransaction first = engine.begin(Isolation.SERIALIZABLE);
        engine.run(
            first, byRange ? "select v from t where id between 20 and 30" : "select sum(v) from t");
        engine.run(first, "update t set v = v + 1 where id = 1");
        prepare(first, "a");
        if (again) {
          restart();
        }
        EngineTransaction second = engine.begin(Isolation.SERIALIZABLE);
        engine.run(second, "select v from t where id = 1");
        engine.run(second, "insert into t values (25, 'phantom', 1)");
        assertState("40001", () -> engine.commit(second));
        EngineTransaction third = engine.begin(Isolation.SERIALIZABLE);
        engine.run(third, "select v from t where id = 3");
        commit("a");
        engine.run(third, "insert into t values (25, 'phantom', 1)");
        engine.commit(third);
        engine.run("delete from t where id = 25");
      }
    }
  }

  @Test
  void shouldRefuseToPrepareWhatIsNotSerializable() {
    EngineTransaction first = engine.begin(Isolation.SERIALIZABLE);
    engine.run(first, "select sum(v) from t");
    engine.run(first, "update t set v = 0 where id = 1");
    engine.run("update t set v = 0 where id = 2");
    assertState("40001", () -> prepare(first, "a"));
    assertEquals(EngineTransaction.State.ABORTED, first.state());
    assertEquals(List.of(), engine.engine.preparedTransactions());
    assertEquals(List.of("1|10"), engine.query("select id, v from t where id = 1"));
  }

  @Test
  void shouldPrepareWithoutChanges() {
    EngineTransaction transaction = engine.begin(Isolation.REPEATABLE_READ);
    engine.run(transaction, "select * from t");
    prepare(transaction, "empty");
    restart();
    commit("empty");
    assertEquals(List.of(), engine.engine.preparedTransactions());
  }
}
