package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static dev.kakehashi.engine.embedded.TestEngine.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Changes of the catalogue are part of their transaction, and wait for whoever uses what they change.
@SuppressWarnings("NullAway.Init") // set before each test
final class TransactionalDdlTest {
  private static final @Nullable Object[][] NO_PARAMETERS = new @Nullable Object[][] {{}};

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, name text)");
    engine.run("insert into t values (1, 'one'), (2, 'two')");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void restart() {
    engine.close();
    engine = new TestEngine(directory);
  }

  private EngineTransaction begin() {
    return engine.begin(Isolation.READ_COMMITTED);
  }

  private Running start(EngineTransaction transaction, String sql) {
    return engine.start(transaction, engine.prepare(sql), NO_PARAMETERS, 100, 0);
  }

  /// Waits until somebody waits for a lock.
  private void awaitWaiter() {
    Await.until(
        "somebody waits for a lock",
        () -> !engine.query("select 1 from kakehashi_catalog.locks where not granted").isEmpty());
  }

  /// Runs a statement of another transaction with a time-out that only a lock makes it reach.
  private void assertWaits(String sql) {
    EngineTransaction other = begin();
    Running waiting =
        engine.start(
            other, engine.prepare(sql), NO_PARAMETERS, 100, TimeUnit.MILLISECONDS.toNanos(200));
    assertState("57014", waiting::await);
    engine.rollback(other);
  }

  @Test
  void shouldShowChangesToTheirTransactionOnlyUntilItCommits() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "create schema s");
    engine.run(transaction, "create table s.x (a int primary key, b text default 'b')");
    engine.run(transaction, "insert into s.x (a) values (1), (2)");
    engine.run(transaction, "create unique index x_b on s.x (a, b)");
    engine.run(transaction, "update s.x set b = 'c' where a = 2");
    assertEquals(
        List.of("1|b", "2|c"), engine.run(transaction, "select a, b from s.x order by a").rows());
    assertEquals(List.of("2"), engine.run(transaction, "select a from s.x where a = 2").rows());
    TestEngine.Other other = engine.other();
    assertState("42P01", () -> other.query("select * from s.x"));
    assertEquals(
        List.of(), other.query("select * from kakehashi_catalog.tables where table_schema = 's'"));
    engine.commit(transaction);
    assertEquals(List.of("1|b", "2|c"), other.query("select a, b from s.x order by a"));
    assertState("23505", () -> other.query("insert into s.x values (1, 'x')"));
    restart();
    assertEquals(List.of("1|b", "2|c"), engine.query("select a, b from s.x order by a"));
    assertEquals(
        List.of("x_b|a", "x_b|b", "x_pkey|a"),
        engine.query(
            "select index_name, column_name from kakehashi_catalog.indexes"
                + " where table_schema = 's' order by 1, 2"));
  }

  @Test
  void shouldUndoChangesWithTheirTransaction() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "insert into t values (3, 'three')");
    engine.run(transaction, "create table x (a int)");
    engine.run(transaction, "insert into x values (1)");
    engine.run(transaction, "create index t_name on t (name)");
    engine.run(transaction, "update t set name = 'drei' where id = 3");
    engine.run(transaction, "drop table t");
    assertState("42P01", () -> engine.run(transaction, "select * from t"));
    engine.rollback(transaction);
    assertState("42P01", () -> engine.query("select * from x"));
    assertEquals(List.of("1|one", "2|two"), engine.query("select * from t order by id"));
    assertEquals(
        List.of("t_pkey"), engine.query("select index_name from kakehashi_catalog.indexes"));
    engine.run("insert into t values (3, 'three')");
    restart();
    assertEquals(List.of("1|one", "2|two", "3|three"), engine.query("select * from t order by id"));
  }

  @Test
  void shouldUndoChangesSinceASavepoint() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "create table x (a int)");
    engine.run(transaction, "insert into x values (1)");
    awaitEnd(done -> transaction.savepoint(1, done));
    engine.run(transaction, "create unique index x_a on x (a)");
    engine.run(transaction, "insert into x values (2)");
    engine.run(transaction, "truncate t");
    assertEquals(List.of(), engine.run(transaction, "select * from t").rows());
    awaitEnd(done -> transaction.rollbackToSavepoint(1, done));
    engine.run(transaction, "insert into x values (1)");
    assertEquals(List.of("2"), engine.run(transaction, "select count(*) from t").rows());
    awaitEnd(done -> transaction.rollbackToSavepoint(1, done));
    engine.run(transaction, "drop table t");
    awaitEnd(done -> transaction.rollbackToSavepoint(1, done));
    engine.commit(transaction);
    assertEquals(List.of("1"), engine.query("select a from x"));
    assertEquals(List.of("1|one", "2|two"), engine.query("select * from t order by id"));
    restart();
    assertEquals(List.of("1"), engine.query("select a from x"));
    assertEquals(List.of("1|one", "2|two"), engine.query("select * from t order by id"));
  }

  @Test
  void shouldUndoAStatementThatFails() {
    engine.run("insert into t values (3, 'one')");
    EngineTransaction transaction = begin();
    engine.run(transaction, "create table x (a int)");
    assertState("23505", () -> engine.run(transaction, "create unique index n on t (name)"));
    assertState("42P07", () -> engine.run(transaction, "create table x (b int)"));
    assertState("42P01", () -> engine.run(transaction, "drop table x, nowhere"));
    engine.run(transaction, "insert into x values (1)");
    engine.commit(transaction);
    assertEquals(List.of("1"), engine.query("select a from x"));
    engine.run("insert into t values (4, 'one')");
  }

  @Test
  void shouldAllowDuplicatesAfterAUniqueIndexIsDroppedAndRefuseThemAfterRollback() {
    engine.run("create unique index n on t (name)");
    EngineTransaction transaction = begin();
    engine.run(transaction, "drop index n");
    engine.run(transaction, "insert into t values (3, 'one')");
    assertState("23505", () -> engine.run(transaction, "create unique index n on t (name)"));
    engine.rollback(transaction);
    assertState("23505", () -> engine.run("insert into t values (3, 'one')"));
    assertEquals(List.of("1"), engine.query("select id from t where name = 'one'"));
  }

  @Test
  void shouldWaitForTransactionsThatUseTheTable() {
    for (String use : List.of("select * from t", "update t set name = name where id = 1")) {
      EngineTransaction user = begin();
      engine.run(user, use);
      EngineTransaction transaction = begin();
      Running waiting = start(transaction, "truncate t");
      awaitWaiter();
      assertFalse(waiting.done.isDone());
      // A later statement waits behind it.
      assertWaits("select * from t");
      assertEquals(List.of("1"), engine.query("select 1"));
      assertEquals(List.of("2"), engine.run(user, "select count(*) from t").rows());
      engine.commit(user);
      waiting.await();
      assertWaits("select * from t");
      engine.rollback(transaction);
      assertEquals(List.of("2"), engine.query("select count(*) from t"));
    }
  }

  /// Between the two phases of a commit nobody may see an error who would not see one before or after.
  @Test
  void shouldWaitForTheDecisionOnAPreparedTransaction() {
    EngineTransaction preparing = begin();
    engine.run(preparing, "create table x (a int)");
    engine.run(preparing, "insert into t values (3, 'three')");
    EngineTransaction early = begin();
    engine.run(early, "create table y (a int)");
    Running waiting = start(early, "create table if not exists x (a int)");
    awaitWaiter();
    awaitEnd(done -> engine.session.prepare(preparing, "p", done));
    EngineTransaction late = begin();
    Running other = start(late, "truncate t");
    assertFalse(waiting.done.isDone() || other.done.isDone());
    awaitEnd(
        done -> engine.session.commitPrepared("p", EngineTransaction.CommitResponse.STORED, done));
    waiting.await();
    engine.commit(early);
    other.await();
    engine.commit(late);
    assertEquals(List.of("0"), engine.query("select count(*) from t"));
    assertEquals(List.of("0"), engine.query("select count(*) from x, y"));
  }

  @Test
  void shouldRunWaitingStatementsOnTheTableThatIsThereThen() {
    EngineTransaction transaction = begin();
    engine.run(transaction, "truncate t");
    engine.run(transaction, "insert into t values (7, 'seven')");
    TestEngine.Other other = engine.other();
    EngineTransaction reader = begin();
    Running waiting =
        engine.start(reader, other.prepare("select id, name from t"), NO_PARAMETERS, 100, 0);
    assertFalse(waiting.done.isDone());
    engine.commit(transaction);
    assertEquals(List.of("7|seven"), waiting.await().rows());
    engine.commit(reader);

    EngineTransaction dropping = begin();
    engine.run(dropping, "drop table t");
    EngineTransaction late = begin();
    Running lost =
        engine.start(late, other.prepare("select id, name from t"), NO_PARAMETERS, 100, 0);
    assertFalse(lost.done.isDone());
    engine.commit(dropping);
    assertState("42P01", lost::await);
    engine.rollback(late);
  }

  @Test
  void shouldBuildAnIndexWhileOthersWrite() {
    EngineTransaction writer = begin();
    engine.run(writer, "insert into t values (3, 'three')");
    EngineTransaction transaction = begin();
    engine.run(transaction, "create index n on t (name)");
    engine.run(writer, "insert into t values (4, 'four')");
    engine.commit(transaction);
    engine.commit(writer);
    assertEquals(List.of("4"), engine.query("select id from t where name = 'four'"));
    assertEquals(List.of("3"), engine.query("select id from t where name = 'three'"));
  }

  @Test
  void shouldWaitForTheOwnerOfADuplicateOfANewUniqueIndex() {
    EngineTransaction writer = begin();
    engine.run(writer, "insert into t values (3, 'one')");
    EngineTransaction transaction = begin();
    Running waiting = start(transaction, "create unique index n on t (name)");
    assertFalse(waiting.done.isDone());
    engine.rollback(writer);
    waiting.await();
    engine.commit(transaction);
    assertState("23505", () -> engine.run("insert into t values (3, 'one')"));
  }

  @Test
  void shouldWaitForTheOwnerOfARowThatMayBecomeADuplicateAgain() {
    engine.run("insert into t values (3, 'three')");
    EngineTransaction writer = begin();
    engine.run(writer, "update t set name = 'drei' where id = 3");
    engine.run("insert into t values (4, 'three')");
    EngineTransaction transaction = begin();
    Running waiting = start(transaction, "create unique index n on t (name)");
    assertFalse(waiting.done.isDone());
    engine.rollback(writer);
    assertState("23505", waiting::await);
    engine.rollback(transaction);
  }

  @Test
  void shouldFindDeadlocks() {
    EngineTransaction first = begin();
    EngineTransaction second = begin();
    engine.run(first, "select * from t");
    engine.run(second, "select * from t");
    Running waiting = start(first, "truncate t");
    awaitWaiter();
    assertFalse(waiting.done.isDone());
    assertState("40P01", () -> engine.run(second, "drop table t"));
    engine.rollback(second);
    waiting.await();
    engine.rollback(first);

    // A lock of a table one way, a row the other.
    engine.run("create table u (id int primary key)");
    engine.run("insert into u values (1)");
    EngineTransaction rows = begin();
    EngineTransaction defines = begin();
    engine.run(defines, "update t set name = 'x' where id = 1");
    engine.run(rows, "update u set id = 2 where id = 1");
    Running blocked = start(defines, "drop table u");
    awaitWaiter();
    assertFalse(blocked.done.isDone());
    assertState("40P01", () -> engine.run(rows, "update t set name = 'y' where id = 1"));
    engine.rollback(rows);
    blocked.await();
    engine.commit(defines);
  }

  @Test
  void shouldGiveUpAfterTheLockTimeout() {
    engine.close();
    engine = new TestEngine(directory, 2, 1L << 30, TimeUnit.MILLISECONDS.toNanos(50));
    EngineTransaction user = begin();
    engine.run(user, "select * from t");
    assertState("55P03", () -> engine.run("drop table t"));
    engine.commit(user);
    EngineTransaction definer = begin();
    engine.run(definer, "drop table t");
    TestEngine.Other other = engine.other();
    assertState("55P03", () -> other.query("select * from t"));
    assertState("55P03", () -> other.query("create index on t (name)"));
    assertState("55P03", () -> other.query("create view w as select * from t"));
    engine.rollback(definer);
    assertEquals(List.of("2"), other.query("select count(*) from t"));
  }

  @Test
  void shouldRefuseToChangeWhatTheTransactionIsReading() {
    EngineTransaction transaction = begin();
    Running reading =
        engine.start(transaction, engine.prepare("select id from t"), NO_PARAMETERS, 0, 0);
    assertState("55006", () -> engine.run(transaction, "drop table t"));
    assertFalse(reading.done.isDone());
    engine.rollback(transaction);
    assertEquals(List.of("2"), engine.query("select count(*) from t"));
  }

  @Test
  void shouldRefuseDefinitionsInAReadOnlyTransaction() {
    EngineTransaction reader =
        engine.engine.begin(
            new BeginOptions(BeginOptions.Kind.RTX, Isolation.REPEATABLE_READ, "reader"));
    assertState("25006", () -> engine.run(reader, "create table x (a int)"));
    engine.rollback(reader);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldDecideOnPreparedDefinitionsAlsoAfterRestart(boolean commit) {
    EngineTransaction transaction = begin();
    engine.run(transaction, "create table x (a int primary key)");
    engine.run(transaction, "insert into x values (1), (2)");
    engine.run(transaction, "create index x_a on x (a desc)");
    engine.run(transaction, "insert into t values (3, 'three')");
    engine.run(transaction, "create unique index n on t (name)");
    engine.run(transaction, "create table gone (a int)");
    engine.run(transaction, "insert into gone values (1)");
    engine.run(transaction, "drop table gone");
    awaitEnd(done -> engine.session.prepare(transaction, "p", done));
    for (int i = 0; i < 2; i++) {
      assertState("42P01", () -> engine.query("select * from x"));
      engine.run("create table y (a int)");
      engine.run("drop table y");
      assertWaits("create table x (a int)");
      assertWaits("create sequence n");
      assertWaits("create role r");
      assertWaits("drop table t");
      restart();
    }
    if (commit) {
      awaitEnd(done ->
          engine.session.commitPrepared("p", EngineTransaction.CommitResponse.STORED, done));
    } else {
      awaitEnd(done -> engine.session.rollbackPrepared("p", done));
    }
    for (int i = 0; i < 2; i++) {
      if (commit) {
        assertEquals(List.of("2", "1"), engine.query("select a from x order by a desc"));
        assertEquals(List.of("3"), engine.query("select id from t where name = 'three'"));
        assertState("23505", () -> engine.run("insert into t values (9, 'three')"));
      } else {
        assertState("42P01", () -> engine.query("select * from x"));
        assertEquals(List.of("2"), engine.query("select count(*) from t"));
      }
      engine.run("create table y (a int)");
      engine.run("drop table y");
      restart();
    }
  }

  @Test
  void shouldKeepDefinersAndWritersApart() throws Exception {
    long seed = System.nanoTime();
    System.out.println("TransactionalDdlTest seed " + seed);
    int threads = 4;
    List<Thread> running = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    engine.run("create table counted (k int, n int)");
    for (int i = 0; i < threads; i++) {
      Random random = new Random(seed + i);
      TestEngine.Other client = engine.other();
      boolean defines = i == 0;
      Thread thread =
          new Thread(() -> {
            try {
              for (int round = 0; round < 60; round++) {
                if (defines) {
                  define(client, random, round);
                } else {
                  write(client, random);
                }
              }
            } catch (Throwable e) {
              synchronized (failures) {
                failures.add(e);
              }
            }
          });
      running.add(thread);
      thread.start();
    }
    for (Thread thread : running) {
      thread.join(TimeUnit.SECONDS.toMillis(120));
      assertFalse(thread.isAlive(), "seed " + seed);
    }
    for (Throwable failure : failures) {
      throw new AssertionError("seed " + seed, failure);
    }
    assertEquals(List.of("0"), engine.query("select coalesce(sum(n), 0) from counted"));
    restart();
    assertEquals(List.of("0"), engine.query("select coalesce(sum(n), 0) from counted"));
    assertTrue(engine.query("select * from scratch").size() <= 1);
  }

  /// Makes, fills and drops tables and indexes, and ends one way or the other.
  private void define(TestEngine.Other client, Random random, int round) {
    EngineTransaction transaction = begin();
    try {
      if (round == 0) {
        client.run(transaction, "create table scratch (a int)");
      } else {
        client.run(transaction, "drop table scratch");
        client.run(transaction, "create table scratch (a int)");
      }
      client.run(transaction, "insert into scratch values (1)");
      if (random.nextBoolean()) {
        client.run(transaction, "truncate counted");
      }
      client.run(transaction, "create index c" + round + " on counted (k)");
      if (round == 0 || random.nextBoolean()) {
        engine.commit(transaction);
      } else {
        engine.rollback(transaction);
      }
    } catch (EngineException refused) {
      engine.rollback(transaction);
      if (!refused.code().sqlstate().equals("40P01")) {
        throw refused;
      }
    }
  }

  /// The sum of `counted` stays 0 whatever is truncated.
  private void write(TestEngine.Other client, Random random) {
    EngineTransaction transaction = begin();
    try {
      int n = random.nextInt(100);
      client.run(
          transaction,
          "insert into counted values (" + n + ", " + n + "), (" + n + ", " + -n + ")");
      assertEquals(
          List.of("0"),
          client.run(transaction, "select coalesce(sum(n), 0) from counted where k >= 0").rows());
      engine.commit(transaction);
    } catch (EngineException refused) {
      engine.rollback(transaction);
      if (!List.of("40P01", "40001").contains(refused.code().sqlstate())) {
        throw refused;
      }
    }
  }
}
