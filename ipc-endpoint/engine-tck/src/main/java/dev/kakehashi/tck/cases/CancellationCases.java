package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.ROW_LOCKS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Cancel, deadlines of statements, deadlines of locks. Nothing may take longer than seconds to end.
public interface CancellationCases extends Conformance {
  /// Longest time from a cancel or deadline to the answer: generous, because test machines are busy.
  long SOON = TimeUnit.SECONDS.toNanos(10);

  @Test
  default void shouldCancelAQueryThatRuns() {
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement running = transaction.start(ENDLESS);
      assertFalse(running.isDone());
      long began = System.nanoTime();
      running.cancel();
      refused("57014", running);
      assertTrue(System.nanoTime() - began < SOON);
      running.cancel(); // does nothing
      assertEquals(List.of("1"), transaction.query("select 1"));
      transaction.commit();
    }
  }

  @Test
  default void shouldUndoACanceledChangeAlone() {
    String table = table("id int8 primary key");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run("insert into " + table + " values (1)");
      RunningStatement running =
          transaction.start(
              "insert into "
                  + table
                  + " select a * 1000 + b from generate_series(1, 100000) a, generate_series(1, 999) b");
      running.cancel();
      refused("57014", running);
      assertEquals(List.of("1"), transaction.query("select id from " + table));
      transaction.commit();
    }
    assertEquals(List.of("1"), client().query("select id from " + table));
  }

  @Test
  default void shouldDoNothingByACancelAfterTheEnd() {
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement done = transaction.start("select 1");
      done.await();
      RunningStatement next = transaction.start("select 2");
      done.cancel();
      assertEquals(List.of("2"), next.awaitRows());
    }
  }

  @Test
  default void shouldCancelAStatementThatWaitsForARow() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 0)");
    try (DrivenTransaction holder = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction waiter = another().begin(Isolation.READ_COMMITTED)) {
      holder.run("update " + table + " set v = 1");
      RunningStatement waiting = waiter.start("update " + table + " set v = v + 10");
      assertFalse(waiting.isDone());
      waiting.cancel();
      refused("57014", waiting);
      holder.commit();
      assertEquals(1, waiter.run("update " + table + " set v = v + 10"));
      waiter.commit();
    }
    assertEquals(List.of("11"), client().query("select v from " + table));
  }

  /// A cancel meets the statement at each place of its way: `-Dkakehashi.tck.rounds` waits from none to a millisecond.
  @Test
  default void shouldCancelWhereverTheStatementIs() {
    for (int round = 0; round < SessionCases.ROUNDS; round++) {
      try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
        RunningStatement running = transaction.start(ENDLESS);
        long until = System.nanoTime() + 1_000_000L * round / SessionCases.ROUNDS;
        while (System.nanoTime() < until) {
          Thread.onSpinWait();
        }
        running.cancel();
        refused("57014", running);
        assertEquals(List.of("1"), transaction.query("select 1"));
      }
    }
  }

  @Test
  default void shouldCancelAStatementBeforeItsTurn() {
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      RunningStatement first = transaction.start(ENDLESS);
      RunningStatement second = transaction.start(ENDLESS);
      second.cancel();
      first.cancel();
      refused("57014", first);
      refused("57014", second);
    }
  }

  @Test
  default void shouldEndAStatementByItsTimeout() {
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      long began = System.nanoTime();
      refused("57014", transaction.startWithin(50, 0, ENDLESS));
      long took = System.nanoTime() - began;
      assertTrue(took >= TimeUnit.MILLISECONDS.toNanos(50) && took < SOON, "took " + took);
      assertEquals(List.of("1"), transaction.startWithin(60_000, 0, "select 1").awaitRows());
      // The time-out was that statement's.
      transaction.commit();
    }
  }

  @Test
  @NeedsCapability(ROW_LOCKS)
  default void shouldEndAWaitForALockByItsTimeout() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 0)");
    try (DrivenTransaction holder = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction waiter = another().begin(Isolation.READ_COMMITTED)) {
      holder.run("update " + table + " set v = 1");
      refused("55P03", waiter.startWithin(0, 50, "update " + table + " set v = 2"));
      refused("55P03", waiter.startWithin(0, 50, "select v from " + table + " for update"));
      assertEquals(List.of("0"), waiter.startWithin(0, 50, "select v from " + table).awaitRows());
    }
  }
}
