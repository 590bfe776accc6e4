package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Table;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Old versions: who holds them back, and what happens when they fill the store's memory.
@SuppressWarnings("NullAway.Init") // set before each test
final class MemoryLimitTest {
  private static final String HELD =
      "select commits_held from kakehashi_catalog.transactions where label = 'test'"
          + " and transaction_id = ";

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 2, 8L << 20);
    engine.run("create table t (id int primary key, v text)");
    engine.run("insert into t values (1, 'one'), (2, 'two')");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void change(int times) {
    for (int i = 0; i < times; i++) {
      engine.run("update t set v = $1 where id = 1", "value " + i);
    }
  }

  private long held(EngineTransaction transaction) {
    return Long.parseLong(engine.query(HELD + transaction.id()).getFirst());
  }

  @Test
  void shouldShowWhoHoldsOldVersionsBack() {
    EngineTransaction reader =
        engine.engine.begin(
            new BeginOptions(BeginOptions.Kind.RTX, Isolation.REPEATABLE_READ, "test"));
    assertEquals(List.of("2"), engine.run(reader, "select count(*) from t").rows());
    change(10);
    assertTrue(held(reader) >= 10);
    assertTrue(
        Long.parseLong(engine.query("select changes_held from kakehashi_catalog.memory").getFirst())
            >= 10);
    engine.commit(reader);
    assertEquals(List.of("0"), engine.query("select commits_held from kakehashi_catalog.memory"));
  }

  /// It takes a new snapshot for each statement, so it needs nothing older.
  @Test
  void shouldNotHoldOldVersionsForReadCommitted() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "update t set v = 'mine' where id = 2");
    change(10);
    assertEquals(0, held(transaction));
    assertEquals(
        List.of("value 9", "mine"), engine.run(transaction, "select v from t order by id").rows());
    assertEquals(0, held(transaction));
    engine.rollback(transaction);
    assertEquals(List.of("value 9", "two"), engine.query("select v from t order by id"));
  }

  @Test
  void shouldHoldNoOldVersionsBeforeTheFirstStatement() {
    for (Isolation isolation : List.of(Isolation.READ_COMMITTED, Isolation.REPEATABLE_READ)) {
      EngineTransaction idle = engine.begin(isolation);
      idle.reference(7);
      change(10);
      assertEquals(0, held(idle), isolation.name());
      // The snapshot is that of the first statement.
      assertEquals(List.of("value 9"), engine.run(idle, "select v from t where id = 1").rows());
      engine.run("update t set v = 'one' where id = 1");
      String second = isolation == Isolation.REPEATABLE_READ ? "value 9" : "one";
      assertEquals(List.of(second), engine.run(idle, "select v from t where id = 1").rows());
      engine.rollback(idle);
    }
  }

  /// They are collected by a catalogue that may be older than the table: a column of it may have gone.
  @Test
  void shouldHoldNothingForStatisticsOfATableThatHasOtherColumns() {
    engine.run("alter table t add column gone int");
    Table before = Objects.requireNonNull(engine.engine.catalogSnapshot().table("public", "t"));
    engine.run("alter table t drop column gone");
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    engine
        .scheduler
        .job("analyze")
        .submit(
            engine.engine.analyze(
                List.of(before), () -> {}, failure -> done.complete(failure == null)));
    assertTrue(TestEngine.await(done), "no statistics, and no failure");
    change(10);
    assertEquals(List.of("0"), engine.query("select commits_held from kakehashi_catalog.memory"));
  }

  /// The last one of several open selects to close gives the snapshot back.
  @Test
  void shouldHoldOldVersionsForAnOpenCursorOnly() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running cursor =
        engine.start(
            transaction,
            engine.prepare("select v from t, generate_series(1, 100000)"),
            new Object[][] {{}},
            1,
            0);
    change(10);
    assertEquals(List.of("2"), engine.run(transaction, "select count(*) from t").rows());
    assertTrue(held(transaction) >= 10);
    Objects.requireNonNull(cursor.execution).cancel();
    assertThrows(EngineException.class, cursor::await);
    assertEquals(0, held(transaction));
    engine.rollback(transaction);
  }

  /// A statement that fails gives back what it has held, too, and after a savepoint.
  @Test
  void shouldHoldNothingAfterAFailureAndARollbackToASavepoint() {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    transaction.savepoint(1, failure -> assertNull(failure));
    assertThrows(
        EngineException.class, () -> engine.run(transaction, "insert into t values (1, 'again')"));
    CompletableFuture<Boolean> undone = new CompletableFuture<>();
    transaction.rollbackToSavepoint(1, failure -> undone.complete(failure == null));
    assertTrue(undone.join());
    change(10);
    assertEquals(0, held(transaction));
    engine.rollback(transaction);
  }

  /// The versions between its snapshot and the newest one nobody sees: ten times the limit goes through.
  @Test
  void shouldGoOnChangingWhileAnOldReaderIsOpen() {
    EngineTransaction reader = engine.begin(Isolation.REPEATABLE_READ);
    assertEquals(List.of("one"), engine.run(reader, "select v from t where id = 1").rows());
    String large = "x".repeat(30_000);
    for (int i = 0; i < 3000; i++) {
      engine.run("update t set v = $1 where id = 1", large + i);
    }
    assertEquals(List.of("one"), engine.run(reader, "select v from t where id = 1").rows());
    engine.commit(reader);
  }

  @Test
  void shouldRefuseChangesAtTheLimitAndGoOnReading() {
    EngineTransaction reader = engine.begin(Isolation.REPEATABLE_READ);
    assertEquals(List.of("one"), engine.run(reader, "select v from t where id = 1").rows());
    String large = "x".repeat(10_000);
    // Its savepoints may bring every version back.
    EngineTransaction writer = engine.begin(Isolation.READ_COMMITTED);
    EngineException failure =
        assertThrows(
            EngineException.class,
            () -> {
              for (int i = 0; i < 5000; i++) {
                engine.run(writer, "update t set v = $1 where id = 1", large + i);
              }
            });
    assertEquals("53200", failure.code().sqlstate());
    assertEquals(List.of("one"), engine.run(reader, "select v from t where id = 1").rows());
    assertEquals(List.of("two"), engine.query("select v from t where id = 2"));
    engine.rollback(reader);
    engine.rollback(writer);
    // Versions that nobody sees any more make room.
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (true) {
      try {
        engine.run("update t set v = 'small' where id = 1");
        break;
      } catch (EngineException full) {
        assertEquals("53200", full.code().sqlstate());
        assertTrue(System.nanoTime() < deadline, "memory is not given back");
      }
    }
    for (int i = 0; i < 500; i++) {
      engine.run("update t set v = $1 where id = 2", large);
    }
    assertEquals(List.of("small"), engine.query("select v from t where id = 1"));
  }
}
