package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Waits for locks of rows, keys and tables end with 55P03 when they have lasted for too long.
final class LockTimeoutTest {
  private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(30);
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(10);

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory.resolve("engine"));
    engine.query("create table t (id int primary key, name text)");
    engine.query("insert into t values (1, 'one'), (2, 'two')");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldEndTheWaitForARowThatAnotherTransactionHasChanged() {
    EngineTransaction owner = begin();
    engine.run(owner, "update t set name = 'x' where id = 1");
    for (String sql :
        List.of(
            "update t set name = 'y'",
            "delete from t where id = 1",
            "select * from t where id = 1 for update",
            "merge into t using (values (1)) v(i) on id = i when matched then delete")) {
      assertTimesOut(sql, SHORT_NANOS);
    }
    engine.commit(owner);
    assertEquals(List.of("x", "two"), engine.query("select name from t order by id"));
  }

  @Test
  void shouldEndTheWaitForAKeyThatAnotherTransactionHasInserted() {
    EngineTransaction owner = begin();
    engine.run(owner, "insert into t values (3, 'three')");
    assertTimesOut("insert into t values (3, 'drei')", SHORT_NANOS);
    assertTimesOut("update t set id = 3 where id = 1", SHORT_NANOS);
    engine.rollback(owner);
    engine.query("insert into t values (3, 'drei')");
  }

  @Test
  void shouldEndTheWaitForAReferencedRowThatAnotherTransactionDeletes() {
    engine.query("create table child (id int primary key, t int references t)");
    EngineTransaction owner = begin();
    engine.run(owner, "delete from t where id = 2");
    assertTimesOut("insert into child values (1, 2)", SHORT_NANOS);
    engine.rollback(owner);
    engine.query("insert into child values (1, 2)");
  }

  @Test
  void shouldEndTheWaitForATable() {
    EngineTransaction user = begin();
    engine.run(user, "select * from t");
    assertTimesOut("drop table t", SHORT_NANOS);
    assertTimesOut("truncate t", SHORT_NANOS);
    engine.commit(user);
    engine.query("truncate t");
  }

  @Test
  void shouldLeaveTheTransactionToItsOtherStatements() {
    EngineTransaction owner = begin();
    engine.run(owner, "update t set name = 'x' where id = 1");
    EngineTransaction waiter = begin();
    engine.run(waiter, "update t set name = 'zwei' where id = 2");
    Running update = start(waiter, "update t set name = 'y' where id = 1", SHORT_NANOS);
    assertEquals("55P03", assertThrows(EngineException.class, update::await).code().sqlstate());
    engine.commit(owner);
    start(waiter, "update t set name = name || 'y' where id = 1", SHORT_NANOS).await();
    engine.commit(waiter);
    assertEquals(List.of("xy", "zwei"), engine.query("select name from t order by id"));
  }

  @Test
  void shouldGoOnWhenTheLockComesInTime() {
    EngineTransaction owner = begin();
    engine.run(owner, "update t set name = 'x' where id = 1");
    EngineTransaction waiter = begin();
    Running update = start(waiter, "update t set name = name || 'y' where id = 1", LONG_NANOS);
    engine.commit(owner);
    update.await();
    engine.commit(waiter);
    assertEquals(List.of("xy"), engine.query("select name from t where id = 1"));
  }

  /// A statement that still runs when its wait, which has ended in time, would have been too long.
  @Test
  void shouldNotEndAStatementAfterItsWait() {
    engine.run("insert into t values (3, 'three')");
    EngineTransaction other = begin();
    engine.run(other, "update t set name = 'x' where id = 2");
    EngineTransaction owner = begin();
    engine.run(owner, "update t set name = 'x' where id = 1");
    EngineTransaction waiter = begin();
    // It gets the lock, then waits for its reader, who has room for one batch of 16 MB.
    Running locking =
        engine.start(
            waiter,
            engine.prepare(
                "select name || repeat('y', 9000000) from t where id in (1, 3) for update"),
            1,
            ExecuteOptions.of(true, 0, 0, WAIT_NANOS));
    engine.commit(owner);
    assertTimesOut("update t set name = 'y' where id = 2", WAIT_NANOS);
    assertFalse(locking.done.isDone());
    locking.awaitFullSink();
    locking.sink.release();
    locking.await();
    assertEquals(
        List.of("x", "t"), locking.rows().stream().map(row -> row.substring(0, 1)).toList());
    engine.commit(waiter);
    engine.rollback(other);
  }

  @Test
  void shouldTakeTheTimeOfTheEngineForStatementsWithoutTheirOwn() {
    engine.close();
    engine = new TestEngine(directory.resolve("engine"), 2, 1L << 30, SHORT_NANOS);
    EngineTransaction owner = begin();
    engine.run(owner, "update t set name = 'x' where id = 1");
    assertTimesOut("update t set name = 'y' where id = 1", 0);
    EngineTransaction waiter = begin();
    Running update = start(waiter, "update t set name = name || 'y' where id = 1", LONG_NANOS);
    // Meanwhile another wait ends by the engine's own time.
    assertTimesOut("update t set name = 'y' where id = 1", 0);
    engine.commit(owner);
    update.await();
    engine.commit(waiter);
    assertEquals(List.of("xy"), engine.query("select name from t where id = 1"));
  }

  private EngineTransaction begin() {
    return engine.begin(Isolation.READ_COMMITTED);
  }

  private Running start(EngineTransaction transaction, String sql, long lockTimeoutNanos) {
    return engine.start(transaction, sql, ExecuteOptions.of(true, 0, 0, lockTimeoutNanos));
  }

  private void assertTimesOut(String sql, long lockTimeoutNanos) {
    EngineTransaction transaction = begin();
    EngineException failure =
        assertThrows(
            EngineException.class, () -> start(transaction, sql, lockTimeoutNanos).await(), sql);
    assertEquals("55P03", failure.code().sqlstate(), sql);
    assertEquals("canceling statement due to lock timeout", failure.getMessage(), sql);
    engine.rollback(transaction);
  }
}
