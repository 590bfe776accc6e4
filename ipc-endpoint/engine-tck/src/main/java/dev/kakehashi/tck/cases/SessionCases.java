package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.REPEATABLE_READ;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Many sessions at a time, and their ends.
public interface SessionCases extends Conformance {
  int SESSIONS = 8;
  int ROUNDS = Integer.getInteger("kakehashi.tck.rounds", 20);

  /// Threads that each have a session, in which they work to the end; failures are thrown.
  private void inSessions(SessionWork work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(SESSIONS);
    try {
      List<Future<Boolean>> running = new ArrayList<>();
      for (int s = 0; s < SESSIONS; s++) {
        int number = s;
        DrivenEngine session = another();
        running.add(
            threads.submit(() -> {
              for (int round = 0; round < ROUNDS; round++) {
                work.run(session, number * ROUNDS + round);
              }
              return true;
            }));
      }
      for (Future<Boolean> each : running) {
        assertTrue(each.get(Waits.SECONDS, TimeUnit.SECONDS));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /// Work of a session in one round.
  interface SessionWork {
    void run(DrivenEngine session, int number) throws Exception;
  }

  @Test
  default void shouldServeSessionsAtTheSameTime() throws Exception {
    String table = table("id int8 primary key, v int8 not null");
    inSessions((session, number) -> {
      session.run("insert into " + table + " values ($1, 1)", number);
      assertEquals(
          List.of("1"), session.query("select v from " + table + " where id = $1", number));
    });
    assertEquals(
        List.of(SESSIONS * ROUNDS + "|" + SESSIONS * ROUNDS),
        client().query("select count(*), sum(v) from " + table));
  }

  @Test
  default void shouldLoseNoIncrementOfOneRow() throws Exception {
    String table = table("id int8 primary key, v int8 not null");
    client().run("insert into " + table + " values (1, 0)");
    inSessions((session, number) ->
        assertEquals(1, session.run("update " + table + " set v = v + 1 where id = 1")));
    assertEquals(
        List.of(Integer.toString(SESSIONS * ROUNDS)), client().query("select v from " + table));
  }

  /// A transaction that reads a value and writes it back has to be refused where another one was quicker.
  @Test
  @NeedsCapability(REPEATABLE_READ)
  default void shouldLoseNoUpdateOfWhatWasRead() throws Exception {
    String table = table("id int8 primary key, v int8 not null");
    client().run("insert into " + table + " values (1, 0)");
    AtomicInteger refused = new AtomicInteger();
    inSessions((session, number) -> {
      while (!readAndWrite(session, table)) {
        refused.incrementAndGet();
      }
    });
    assertEquals(
        List.of(Integer.toString(SESSIONS * ROUNDS)), client().query("select v from " + table));
  }

  private static boolean readAndWrite(DrivenEngine session, String table) {
    try (DrivenTransaction transaction = session.begin(Isolation.REPEATABLE_READ)) {
      long v = Long.parseLong(transaction.query("select v from " + table).getFirst());
      transaction.run("update " + table + " set v = $1", v + 1);
      transaction.commit();
      return true;
    } catch (EngineException failure) {
      assertTrue(List.of("40001", "40P01").contains(failure.sqlstate()), failure.getMessage());
      return false;
    }
  }

  @Test
  default void shouldKeepTheSumInEverySnapshot() throws Exception {
    String table = table("id int8 primary key, v int8 not null");
    client().run("insert into " + table + " select i, 100 from generate_series(0, 9) i");
    String sum = "select sum(v)::int8 from " + table;
    inSessions((session, number) -> {
      if (number % 2 == 0) {
        assertEquals(List.of("1000"), session.query(sum));
        return;
      }
      int from = number % 10;
      int to = (number / 10 + 1 + from) % 10;
      try (DrivenTransaction transaction = session.begin(Isolation.READ_COMMITTED)) {
        // In the order of the keys, so that nobody waits for each other.
        transaction.run("update " + table + " set v = v - 1 where id = $1", Math.min(from, to));
        transaction.run("update " + table + " set v = v + 1 where id = $1", Math.max(from, to));
        transaction.commit();
      }
    });
    assertEquals(List.of("1000"), client().query(sum));
  }

  @Test
  default void shouldKeepOthersWhenASessionIsClosed() {
    String table = table("id int8 primary key");
    DrivenEngine other = another();
    other.run("insert into " + table + " values (1)");
    other.close();
    assertEquals(List.of("1"), client().query("select id from " + table));
    for (int i = 0; i < 200; i++) {
      try (DrivenEngine brief = another()) {
        assertEquals(List.of("1"), brief.query("select 1"));
      }
    }
  }

  @Test
  default void shouldRunLongStatementsBesideShortOnes() {
    List<DrivenTransaction> transactions = new ArrayList<>();
    List<RunningStatement> running = new ArrayList<>();
    try {
      for (int i = 0; i < 4; i++) {
        DrivenTransaction transaction = another().begin(Isolation.READ_COMMITTED);
        transactions.add(transaction);
        running.add(transaction.start(ENDLESS));
      }
      for (int i = 0; i < 20; i++) {
        assertEquals(List.of("1"), client().query("select 1"));
      }
    } finally {
      running.forEach(RunningStatement::cancel);
      running.forEach(each -> refused("57014", each));
      transactions.forEach(DrivenTransaction::close);
    }
  }

  /// Also when the engine keeps what it has prepared for another session.
  @Test
  default void shouldReadLiteralsInTheTimeZoneOfTheSession() {
    String noon = "select cast(extract(epoch from timestamptz '2024-07-01 12:00:00') as int8)";
    DrivenEngine inTokyo = another();
    client().run("set time zone 'UTC'");
    inTokyo.run("set time zone 'Asia/Tokyo'");
    for (int i = 0; i < 2; i++) {
      assertEquals(List.of("1719835200"), client().query(noon));
      assertEquals(List.of("1719802800"), inTokyo.query(noon));
    }
  }
}
