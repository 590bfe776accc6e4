package dev.kakehashi.tck.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Areas;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.EngineTransaction.State;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Life of a transaction: states, ends, failed statements, order.
public interface TransactionCases extends Conformance {
  @Test
  default void shouldGoFromActiveToItsEnd() {
    String table = table("id int8 primary key");
    try (DrivenTransaction committed = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction aborted = client().begin(Isolation.READ_COMMITTED)) {
      assertNotEquals(committed.engine().id(), aborted.engine().id());
      assertEquals(State.ACTIVE, committed.engine().state());
      assertFalse(committed.engine().hasWrites());
      committed.run("insert into " + table + " values (1)");
      assertTrue(committed.engine().hasWrites());
      aborted.run("insert into " + table + " values (2)");
      committed.commit();
      aborted.rollback();
      assertEquals(State.COMMITTED, committed.engine().state());
      assertEquals(State.ABORTED, aborted.engine().state());
      assertNull(committed.engine().failure());
    }
    assertEquals(List.of("1"), client().query("select id from " + table));
  }

  @Test
  default void shouldKeepItsEndWhenItIsEndedAgain() {
    String table = table("id int8 primary key");
    DrivenTransaction committed = client().begin(Isolation.READ_COMMITTED);
    committed.run("insert into " + table + " values (1)");
    committed.commit();
    committed.rollback();
    assertEquals(State.COMMITTED, committed.engine().state());
    committed.commit();
    DrivenTransaction aborted = client().begin(Isolation.READ_COMMITTED);
    aborted.run("insert into " + table + " values (2)");
    aborted.rollback();
    refused("25P02", aborted::commit);
    aborted.rollback();
    assertEquals(State.ABORTED, aborted.engine().state());
    assertEquals(List.of("1"), client().query("select id from " + table));
  }

  @Test
  default void shouldRefuseStatementsAfterItsEnd() {
    String table = table("id int8 primary key");
    DrivenTransaction committed = client().begin(Isolation.READ_COMMITTED);
    committed.run("insert into " + table + " values (1)");
    committed.commit();
    refused("25P01", () -> committed.run("insert into " + table + " values (2)"));
    DrivenTransaction aborted = client().begin(Isolation.READ_COMMITTED);
    aborted.run("insert into " + table + " values (3)");
    aborted.rollback();
    refused("25P02", () -> aborted.query("select id from " + table));
    assertEquals(List.of("1"), client().query("select id from " + table));
  }

  @Test
  default void shouldGoOnAfterAFailedStatement() {
    String table = table("id int8 primary key, v int8");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into " + table + " values (1, 1)");
      refused("23505", () -> transaction.run("insert into " + table + " values (2, 2), (1, 3)"));
      refused("22012", () -> transaction.run("update " + table + " set v = v / (v - 1)"));
      refused("42P01", () -> transaction.run("select 1 from " + freshName()));
      transaction.run("insert into " + table + " values (3, 3)");
      transaction.commit();
    }
    assertEquals(List.of("1|1", "3|3"), client().query("select * from " + table + " order by id"));
  }

  @Test
  default void shouldRunStatementsInTheOrderOfTheCalls() {
    String table = table("id int8 primary key, v int8 not null");
    client().run("insert into " + table + " values (1, 0)");
    Statement append = client().prepare("update " + table + " set v = v * 2 + $1 where id = 1");
    Statement read = client().prepare("select v from " + table);
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      List<RunningStatement> running = new ArrayList<>();
      for (int bit : new int[] {1, 0, 1, 1}) {
        running.add(transaction.start(append, ExecuteOptions.DEFAULT, bit));
        running.add(transaction.start(read, ExecuteOptions.DEFAULT));
      }
      CompletableFuture<Boolean> commit = transaction.startCommit();
      // The commit ends queries that still run: the last one may have been ended by it.
      for (RunningStatement each : running.subList(0, running.size() - 1)) {
        each.await();
      }
      Waits.await(commit);
    }
    assertEquals(List.of("11"), client().query("select v from " + table));
  }

  @Test
  default void shouldEndByItsTimeout() {
    String table = table("id int8 primary key");
    BeginOptions options =
        new BeginOptions(Kind.OCC, Isolation.READ_COMMITTED, "tck", 0, 500_000_000, Areas.NONE);
    DrivenTransaction transaction = client().begin(options);
    transaction.run("insert into " + table + " values (1)");
    Waits.until("end of the transaction", () -> transaction.engine().state() == State.ABORTED);
    EngineException failure = transaction.engine().failure();
    assertNotNull(failure);
    assertEquals("25P04", failure.sqlstate());
    refused("25P04", transaction::commit);
    assertEquals(List.of(), client().query("select id from " + table));
  }

  @Test
  default void shouldEndARunningStatementByTheTimeoutOfTheTransaction() {
    BeginOptions options =
        new BeginOptions(Kind.OCC, Isolation.READ_COMMITTED, "tck", 0, 50_000_000, Areas.NONE);
    try (DrivenTransaction transaction = client().begin(options)) {
      EngineException failure = refusedByAny(transaction.start(ENDLESS));
      assertTrue(List.of("57014", "25P04").contains(failure.sqlstate()), failure.sqlstate());
    }
  }

  private static EngineException refusedByAny(RunningStatement running) {
    return dev.kakehashi.tck.drive.DrivenEngine.failureOf(() -> running.await());
  }

  @Test
  default void shouldCancelWhatRunsByARollback() {
    String table = table("id int8 primary key");
    DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED);
    transaction.run("insert into " + table + " values (1)");
    RunningStatement running = transaction.start(ENDLESS);
    transaction.rollback();
    EngineException failure = refusedByAny(running);
    assertTrue(List.of("57014", "25P02").contains(failure.sqlstate()), failure.sqlstate());
    assertEquals(List.of(), client().query("select id from " + table));
  }

  @Test
  default void shouldTakeBackManyRows() {
    String table = table("id int8 primary key, v text");
    client().run("insert into " + table + " select i, 'x' from generate_series(1, 1000) i");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run(
          "insert into " + table + " select i, 'y' from generate_series(1001, 20000) i");
      transaction.run("update " + table + " set v = 'z' where id <= 500");
      transaction.run("delete from " + table + " where id between 501 and 600");
      transaction.rollback();
    }
    assertEquals(
        List.of("1000|x|x"), client().query("select count(*), min(v), max(v) from " + table));
  }

  @Test
  default void shouldUseOneStatementInSeveralTransactions() {
    String table = table("id int8 primary key");
    Statement insert = client().prepare("insert into " + table + " values ($1)");
    try (DrivenTransaction first = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = client().begin(Isolation.READ_COMMITTED)) {
      first.startBatch(insert, ExecuteOptions.DEFAULT, new @Nullable Object[][] {{1}}).await();
      second.startBatch(insert, ExecuteOptions.DEFAULT, new @Nullable Object[][] {{2}}).await();
      first.rollback();
      second.commit();
    }
    assertEquals(List.of("2"), client().query("select id from " + table));
  }
}
