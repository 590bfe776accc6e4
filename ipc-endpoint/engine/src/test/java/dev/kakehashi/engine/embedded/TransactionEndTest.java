package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Ends of transactions against whatever still runs in them, deep savepoints, and rows of RETURNING that nobody reads.
@SuppressWarnings("NullAway.Init") // set before each test
final class TransactionEndTest {
  private static final int WIDE_ROWS = 20_000;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, v int not null)");
    engine.run("create index on t (v)");
    engine.run("insert into t values (1, 10), (2, 20)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private EngineTransaction begin() {
    return engine.begin(Isolation.READ_COMMITTED);
  }

  private Running start(EngineTransaction transaction, String sql, int buffers) {
    return engine.start(
        transaction, engine.prepare(sql), new @Nullable Object[][] {{}}, buffers, 0);
  }

  private static void await(Consumer<Consumer<@Nullable EngineException>> operation) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    operation.accept(failure -> {
      if (failure == null) {
        done.complete(true);
      } else {
        done.completeExceptionally(failure);
      }
    });
    TestEngine.await(done);
  }

  /// A change whose rows of RETURNING wait for their reader.
  private Running changeWide(EngineTransaction transaction) {
    engine.run("create table w (id int primary key, pad text)");
    EngineTransaction load = begin();
    @Nullable Object[][] rows = new @Nullable Object[WIDE_ROWS][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new Object[] {i, "padding ".repeat(10)};
    }
    engine.execute(load, engine.prepare("insert into w values ($1, $2)"), rows);
    engine.commit(load);
    Running running = start(transaction, "update w set pad = pad || 'x' returning id, pad", 1);
    running.awaitFullSink();
    return running;
  }

  @Test
  void shouldLetLaterStatementsPassRowsOfReturningThatAreNotRead() {
    EngineTransaction transaction = begin();
    Running open = changeWide(transaction);
    assertEquals(WIDE_ROWS, engine.run(transaction, "update w set pad = 'y'").count());
    while (!open.done.isDone()) {
      open.sink.release();
    }
    assertEquals(WIDE_ROWS, open.await().rows().size());
    engine.commit(transaction);
    assertEquals(
        List.of(String.valueOf(WIDE_ROWS)), engine.query("select count(*) from w where pad = 'y'"));
  }

  @Test
  void shouldUndoChangesOfStatementThatIsCanceledWhileItsRowsAreDelivered() {
    EngineTransaction transaction = begin();
    Running open = changeWide(transaction);
    Objects.requireNonNull(open.execution).cancel();
    EngineException failure = assertThrows(EngineException.class, open::await);
    assertEquals("57014", failure.code().sqlstate());
    engine.commit(transaction);
    assertEquals(List.of("0"), engine.query("select count(*) from w where pad like '%x'"));
  }

  @Test
  void shouldCommitAlthoughRowsOfReturningAreNotRead() {
    EngineTransaction transaction = begin();
    Running open = changeWide(transaction);
    engine.commit(transaction);
    assertThrows(EngineException.class, open::await);
    assertEquals(
        List.of(String.valueOf(WIDE_ROWS)),
        engine.query("select count(*) from w where pad like '%x'"));
  }

  @Test
  void shouldReportTheStateThatHoldsToASecondEnd() {
    EngineTransaction committed = begin();
    engine.run(committed, "update t set v = 11 where id = 1");
    engine.commit(committed);
    engine.commit(committed);
    engine.rollback(committed);
    assertEquals(EngineTransaction.State.COMMITTED, committed.state());
    EngineTransaction aborted = begin();
    engine.run(aborted, "update t set v = 12 where id = 1");
    engine.rollback(aborted);
    engine.rollback(aborted);
    EngineException failure = assertThrows(EngineException.class, () -> engine.commit(aborted));
    assertEquals("25P02", failure.code().sqlstate());
    assertEquals(List.of("11"), engine.query("select v from t where id = 1"));
  }

  /// Statements, savepoints and ends of one transaction from several threads at once: all or nothing of it is there afterwards, as its
  /// state says, and every operation has an answer.
  @Test
  void shouldEndOnceWhateverArrivesAtOnce() throws InterruptedException {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    var insert = engine.prepare("insert into t values ($1, $1)");
    for (int round = 0; round < 100; round++) {
      EngineTransaction transaction = begin();
      int base = 1000 + round * 10;
      List<CompletableFuture<?>> answers =
          java.util.Collections.synchronizedList(new ArrayList<>());
      List<Thread> threads = new ArrayList<>();
      boolean[] commits = {random.nextBoolean(), random.nextBoolean()};
      for (int t = 0; t < 2; t++) {
        int thread = t;
        threads.add(
            new Thread(() -> {
              for (int i = 0; i < 3; i++) {
                answers.add(
                    engine.start(
                            transaction,
                            insert,
                            new @Nullable Object[][] {{base + thread * 3 + i}},
                            10,
                            0)
                        .done);
              }
              CompletableFuture<Boolean> end = new CompletableFuture<>();
              answers.add(end);
              if (commits[thread]) {
                transaction.commit(
                    EngineTransaction.CommitResponse.AVAILABLE, failure -> end.complete(true));
              } else {
                transaction.rollback(() -> end.complete(true));
              }
            }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      int inserted = 0;
      for (CompletableFuture<?> answer : List.copyOf(answers)) {
        try {
          if (TestEngine.await(answer) instanceof Long) {
            inserted++;
          }
        } catch (EngineException refused) {
          assertTrue(
              List.of("25P02", "25P01", "57014").contains(refused.code().sqlstate()),
              refused.toString());
        }
      }
      boolean committed = transaction.state() == EngineTransaction.State.COMMITTED;
      assertEquals(
          List.of(String.valueOf(committed ? inserted : 0)),
          engine.query("select count(*) from t where id >= " + base + " and id < " + (base + 10)),
          "seed " + seed + " round " + round);
    }
  }

  @Test
  void shouldNestSavepointsFiftyDeep() {
    EngineTransaction transaction = begin();
    for (int level = 1; level <= 50; level++) {
      int each = level;
      await(done -> transaction.savepoint(each, done));
      engine.run(transaction, "update t set v = " + (100 + level) + " where id = 1");
      engine.run(transaction, "insert into t values (" + (100 + level) + ", 7)");
    }
    await(done -> transaction.rollbackToSavepoint(41, done));
    assertEquals(List.of("140"), engine.run(transaction, "select v from t where id = 1").rows());
    assertEquals(
        List.of("40"), engine.run(transaction, "select count(*) from t where v = 7").rows());
    engine.run(transaction, "update t set v = 999 where id = 1");
    await(done -> transaction.rollbackToSavepoint(41, done));
    await(done -> transaction.releaseSavepoint(31, done));
    EngineException failure =
        assertThrows(
            EngineException.class, () -> await(done -> transaction.rollbackToSavepoint(31, done)));
    assertEquals("3B001", failure.code().sqlstate());
    assertEquals(List.of("140"), engine.run(transaction, "select v from t where id = 1").rows());
    await(done -> transaction.rollbackToSavepoint(11, done));
    engine.commit(transaction);
    assertEquals(List.of("110"), engine.query("select v from t where id = 1"));
    assertEquals(List.of("10"), engine.query("select count(*) from t where v = 7"));
    assertEquals(List.of("12"), engine.query("select count(*) from t"));
  }
}
