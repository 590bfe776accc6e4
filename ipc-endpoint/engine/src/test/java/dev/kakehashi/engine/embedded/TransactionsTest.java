package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Transactions: visibility, savepoints, conflicts, cancels, results that stay open.
final class TransactionsTest {
  private static final int WIDE_ROWS = 20_000;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, v int not null)");
    engine.run("insert into t values (1, 10), (2, 20)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private EngineTransaction begin() {
    return engine.begin(Isolation.READ_COMMITTED);
  }

  private Running start(EngineTransaction transaction, String sql) {
    return engine.start(transaction, engine.prepare(sql), new @Nullable Object[][] {{}}, 1000, 0);
  }

  @Test
  void shouldHideUncommittedRowsFromOthersAndShowThemToItself() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "insert into t values (3, 30)");
    assertEquals(List.of("3"), engine.run(transaction, "select count(*) from t").rows());
    assertEquals(List.of("2"), engine.query("select count(*) from t"));
    engine.commit(transaction);
    assertEquals(List.of("3"), engine.query("select count(*) from t"));
    assertEquals(EngineTransaction.State.COMMITTED, transaction.state());
  }

  @Test
  void shouldUndoToSavepointAndKeepIt() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "update t set v = 11 where id = 1");
    savepoint(transaction, 1);
    engine.run(transaction, "update t set v = 12 where id = 1");
    rollbackTo(transaction, 1);
    assertEquals(List.of("11"), engine.run(transaction, "select v from t where id = 1").rows());
    engine.run(transaction, "delete from t");
    rollbackTo(transaction, 1);
    engine.commit(transaction);
    assertEquals(List.of("1|11", "2|20"), engine.query("select * from t order by id"));
  }

  @Test
  void shouldRefuseSavepointThatDoesNotExist() {
    EngineTransaction transaction = begin();
    EngineException failure = assertThrows(EngineException.class, () -> rollbackTo(transaction, 1));
    assertEquals("3B001", failure.code().sqlstate());
    engine.rollback(transaction);
  }

  @Test
  void shouldUndoFailedStatementAloneAndStayActive() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "insert into t values (3, 30)");
    assertThrows(
        EngineException.class,
        () -> engine.run(transaction, "insert into t values (4, 40), (1, 99)"));
    assertEquals(EngineTransaction.State.ACTIVE, transaction.state());
    engine.commit(transaction);
    assertEquals(List.of("1", "2", "3"), engine.query("select id from t order by id"));
  }

  @Test
  void shouldWaitForOwnerOfRowAndContinueWithItsValue() {
    EngineTransaction first = begin();
    engine.run(first, "update t set v = v + 1 where id = 1");
    EngineTransaction second = begin();
    Running waiting = start(second, "update t set v = v + 100 where id = 1");
    engine.run(first, "update t set v = v + 1 where id = 2");
    assertFalse(waiting.done.isDone());
    engine.commit(first);
    assertEquals(1, waiting.await().count());
    engine.commit(second);
    assertEquals(List.of("111", "21"), engine.query("select v from t order by id"));
  }

  @Test
  void shouldFailInsteadOfOverwritingUnderRepeatableRead() {
    EngineTransaction snapshot = engine.begin(Isolation.REPEATABLE_READ);
    assertEquals(List.of("10"), engine.run(snapshot, "select v from t where id = 1").rows());
    engine.run("update t set v = 11 where id = 1");
    assertEquals(List.of("10"), engine.run(snapshot, "select v from t where id = 1").rows());
    EngineException failure =
        assertThrows(
            EngineException.class,
            () -> engine.run(snapshot, "update t set v = v + 1 where id = 1"));
    assertEquals("40001", failure.code().sqlstate());
    assertEquals("could not serialize access due to concurrent update", failure.getMessage());
    assertEquals(
        "Key (id)=(1) of table \"public.t\" was changed by a concurrent transaction.",
        failure.detail());
    engine.rollback(snapshot);
  }

  @Test
  void shouldRefuseCommitOfSerializableTransactionWhoseReadsHaveChanged() {
    EngineTransaction reader = engine.begin(Isolation.SERIALIZABLE);
    engine.run(reader, "select sum(v) from t");
    EngineTransaction other = engine.begin(Isolation.SERIALIZABLE);
    engine.run(other, "select sum(v) from t");
    engine.run(other, "update t set v = v + 1 where id = 1");
    engine.commit(other);
    engine.run(reader, "update t set v = 0 where id = 2");
    EngineException failure = assertThrows(EngineException.class, () -> engine.commit(reader));
    assertEquals("40001", failure.code().sqlstate());
    assertEquals("t", failure.tableName());
    assertEquals(
        "Key (id)=(1) of table \"public.t\" was changed by a concurrent transaction.",
        failure.detail());
  }

  @Test
  void shouldDetectDeadlock() {
    EngineTransaction first = begin();
    EngineTransaction second = begin();
    engine.run(first, "update t set v = 1 where id = 1");
    engine.run(second, "update t set v = 2 where id = 2");
    Running firstWaits = start(first, "update t set v = 1 where id = 2");
    Running secondWaits = start(second, "update t set v = 2 where id = 1");
    EngineException failure =
        (EngineException)
            Objects.requireNonNull(
                CompletableFuture.anyOf(firstWaits.done, secondWaits.done)
                    .<Object>handle((value, thrown) -> cause(thrown))
                    .join());
    assertEquals("40P01", failure.code().sqlstate());
    boolean firstFailed = firstWaits.done.isCompletedExceptionally();
    engine.rollback(firstFailed ? first : second);
    assertEquals(1, (firstFailed ? secondWaits : firstWaits).await().count());
    engine.commit(firstFailed ? second : first);
  }

  private static @Nullable Throwable cause(@Nullable Throwable thrown) {
    return thrown instanceof java.util.concurrent.CompletionException wrapped
        ? wrapped.getCause()
        : thrown;
  }

  @Test
  void shouldRefuseWritesOfReadOnlyTransaction() {
    EngineTransaction readOnly =
        engine.engine.begin(
            new BeginOptions(BeginOptions.Kind.RTX, Isolation.REPEATABLE_READ, "reader"));
    assertEquals(List.of("2"), engine.run(readOnly, "select count(*) from t").rows());
    EngineException failure =
        assertThrows(EngineException.class, () -> engine.run(readOnly, "delete from t"));
    assertEquals("25006", failure.code().sqlstate());
    engine.commit(readOnly);
  }

  @Test
  void shouldLetLaterStatementsPassResultThatIsNotRead() {
    wideTable();
    EngineTransaction transaction = begin();
    Running open =
        engine.start(
            transaction,
            engine.prepare("select id, pad from w"),
            new @Nullable Object[][] {{}},
            1,
            0);
    open.awaitFullSink();
    assertEquals((long) WIDE_ROWS, engine.run(transaction, "update w set pad = 'x'").count());
    while (!open.done.isDone()) {
      open.sink.release();
    }
    List<String> rows = open.await().rows();
    assertEquals(WIDE_ROWS, rows.size());
    assertEquals(0, rows.stream().filter(row -> row.endsWith("|x")).count());
    engine.commit(transaction);
  }

  @Test
  void shouldCancelStatementThatWaitsForItsReader() {
    wideTable();
    EngineTransaction transaction = begin();
    Running open =
        engine.start(
            transaction,
            engine.prepare("select id, pad from w"),
            new @Nullable Object[][] {{}},
            1,
            0);
    open.awaitFullSink();
    Objects.requireNonNull(open.execution).cancel();
    EngineException failure = assertThrows(EngineException.class, open::await);
    assertEquals("57014", failure.code().sqlstate());
    engine.rollback(transaction);
  }

  @Test
  void shouldTimeOutStatementThatWaitsForRow() {
    EngineTransaction owner = begin();
    engine.run(owner, "update t set v = 0 where id = 1");
    EngineTransaction waiter = begin();
    Running waiting =
        engine.start(
            waiter,
            engine.prepare("update t set v = 1 where id = 1"),
            new @Nullable Object[][] {{}},
            10,
            50_000_000L);
    EngineException failure = assertThrows(EngineException.class, waiting::await);
    assertEquals("57014", failure.code().sqlstate());
    assertEquals("canceling statement due to statement timeout", failure.getMessage());
    engine.rollback(waiter);
    engine.rollback(owner);
    assertEquals(List.of("10"), engine.query("select v from t where id = 1"));
  }

  @Test
  void shouldEndOpenResultsOnRollback() {
    wideTable();
    EngineTransaction transaction = begin();
    Running open =
        engine.start(
            transaction,
            engine.prepare("select id, pad from w"),
            new @Nullable Object[][] {{}},
            1,
            0);
    open.awaitFullSink();
    engine.rollback(transaction);
    assertThrows(EngineException.class, open::await);
    assertEquals(EngineTransaction.State.ABORTED, transaction.state());
    EngineException failure =
        assertThrows(EngineException.class, () -> engine.run(transaction, "select 1"));
    assertEquals("25P02", failure.code().sqlstate());
  }

  @Test
  void shouldInsertEveryRowOfParametersOrNone() {
    EngineTransaction transaction = begin();
    var insert = engine.prepare("insert into t values ($1, $2 * 2)");
    Object[][] rows = new Object[3000][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new Object[] {i + 100, i};
    }
    assertEquals(3000, engine.execute(transaction, insert, rows).count());
    rows[2999] = new Object[] {100, 0};
    for (int i = 0; i < 2999; i++) {
      rows[i] = new Object[] {i + 10_000, i};
    }
    assertThrows(EngineException.class, () -> engine.execute(transaction, insert, rows));
    engine.commit(transaction);
    assertEquals(List.of("3002|3099"), engine.query("select count(*), max(id) from t"));
  }

  @Test
  void shouldRunUpdateOncePerRowOfParameters() {
    EngineTransaction transaction = begin();
    var update = engine.prepare("update t set v = v + $2 where id = $1");
    Object[][] rows = {{1, 5}, {2, 7}, {1, 1}, {99, 1}};
    assertEquals(3, engine.execute(transaction, update, rows).count());
    engine.commit(transaction);
    assertEquals(List.of("16", "27"), engine.query("select v from t order by id"));
  }

  private void wideTable() {
    engine.run("create table w (id int primary key, pad text)");
    EngineTransaction transaction = begin();
    Object[][] rows = new Object[WIDE_ROWS][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new Object[] {i, "padding ".repeat(10)};
    }
    engine.execute(transaction, engine.prepare("insert into w values ($1, $2)"), rows);
    engine.commit(transaction);
  }

  private static void savepoint(EngineTransaction transaction, int level) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    transaction.savepoint(level, failure -> complete(done, failure));
    TestEngine.await(done);
  }

  private static void rollbackTo(EngineTransaction transaction, int level) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    transaction.rollbackToSavepoint(level, failure -> complete(done, failure));
    TestEngine.await(done);
  }

  private static void complete(CompletableFuture<Boolean> done, @Nullable EngineException failure) {
    if (failure == null) {
      done.complete(true);
    } else {
      done.completeExceptionally(failure);
    }
  }
}
