package dev.kakehashi.tck.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.RecoveredOutcomes;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// State after an end of the engine, or of the store of its rows; and an end while much goes on.
public interface DurabilityCases extends Conformance {
  @Test
  default void shouldFindCommitsAfterARestart() throws Exception {
    String table = table("id int8 primary key, v text");
    client().run("create index on " + table + " (v)");
    client().run("insert into " + table + " values (1, 'stored')");
    try (DrivenTransaction available = client().begin(Isolation.READ_COMMITTED)) {
      available.run("insert into " + table + " values (2, 'available')");
      Waits.awaitEnd(done -> available.engine().commit(CommitResponse.AVAILABLE, done));
    }
    CompletableFuture<Boolean> durable = new CompletableFuture<>();
    underTest().engine().whenAllDurable(() -> durable.complete(true));
    assertTrue(Waits.await(durable));
    client().begin(Isolation.READ_COMMITTED).run("insert into " + table + " values (3, 'open')");
    restart();
    assertEquals(
        List.of("1|stored", "2|available"),
        client().query("select * from " + table + " order by id"));
    assertEquals(List.of("1"), client().query("select id from " + table + " where v = 'stored'"));
    assertEquals(1, client().run("insert into " + table + " values (3, 'again')"));
  }

  @Test
  default void shouldKnowTheOutcomesOfAnEarlierLife() throws Exception {
    String table = table("id int8 primary key");
    // Places are the lower 16 bits, and no other transaction has used these.
    long committed = 1L << 16 | 65_001;
    long aborted = 1L << 16 | 65_002;
    try (DrivenTransaction first = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = client().begin(Isolation.READ_COMMITTED)) {
      first.engine().reference(committed);
      second.engine().reference(aborted);
      first.run("insert into " + table + " values (1)");
      second.run("insert into " + table + " values (2)");
      first.commit();
      second.rollback();
    }
    restart();
    RecoveredOutcomes outcomes = underTest().engine().recoveredOutcomes();
    assertEquals(Optional.of(true), outcomes.committed(committed));
    assertEquals(Optional.of(false), outcomes.committed(aborted));
    assertEquals(Optional.of(false), outcomes.committed(2L << 16 | 65_001));
  }

  @Test
  default void shouldEndWhatRunsWhenItIsClosed() throws Exception {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 0)");
    Engine engine = underTest().engine();
    List<RunningStatement> running = new ArrayList<>();
    DrivenTransaction holder = client().begin(Isolation.READ_COMMITTED);
    holder.run("update " + table + " set v = 1");
    for (int i = 0; i < 3; i++) {
      running.add(another().begin(Isolation.READ_COMMITTED).start(ENDLESS));
    }
    running.add(another().begin(Isolation.READ_COMMITTED).start("update " + table + " set v = 2"));
    underTest().shutDown();
    for (RunningStatement each : running) {
      EngineException failure = DrivenEngine.failureOf(() -> each.await());
      assertTrue(
          List.of("57014", "57P01", "25P02").contains(failure.sqlstate()), failure.sqlstate());
    }
    refused("57P01", () -> engine.begin(BeginOptions.DEFAULT));
    engine.close(); // once more: nothing happens
    restart();
    assertEquals(List.of("0"), client().query("select v from " + table));
    assertFalse(running.isEmpty());
  }

  /// Only where the rows are kept by another process; the transfer test kills the others.
  @Test
  default void shouldGoOnAfterAKillOfWhatKeepsTheRows() throws Exception {
    if (!underTest().canKillStore()) {
      assertThrows(UnsupportedOperationException.class, () -> underTest().killStore());
      return;
    }
    String table = table("id int8 primary key");
    client().run("insert into " + table + " values (1)");
    DrivenTransaction open = client().begin(Isolation.READ_COMMITTED);
    open.run("insert into " + table + " values (2)");
    underTest().killStore();
    EngineException failure =
        DrivenEngine.failureOf(() -> {
          open.query("select id from " + table);
          open.commit();
        });
    assertTrue(List.of("40001", "08007", "08006", "25P02").contains(failure.sqlstate()));
    open.close();
    DrivenEngine after = another();
    Waits.until("the engine answers", () -> answers(after));
    assertEquals(List.of("1"), after.query("select id from " + table));
    assertEquals(1, after.run("insert into " + table + " values (2)"));
  }

  private static boolean answers(DrivenEngine client) {
    try {
      return client.query("select 1").equals(List.of("1"));
    } catch (EngineException failure) {
      assertTrue(List.of("57P03", "08006", "40001", "57P01").contains(failure.sqlstate()));
      return false;
    }
  }
}
