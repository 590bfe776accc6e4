package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.TWO_PHASE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.EngineTransaction.State;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Two phases: what is prepared survives, keeps its rows, and is decided by who may.
public interface TwoPhaseCases extends Conformance {
  private static void prepare(DrivenEngine client, DrivenTransaction transaction, String globalId) {
    Waits.awaitEnd(done -> client.session().prepare(transaction.engine(), globalId, done));
  }

  private static void commit(DrivenEngine client, String globalId) {
    Waits.awaitEnd(done -> client.session().commitPrepared(globalId, CommitResponse.STORED, done));
  }

  private static void rollback(DrivenEngine client, String globalId) {
    Waits.awaitEnd(done -> client.session().rollbackPrepared(globalId, done));
  }

  private Set<String> prepared() {
    return underTest().engine().preparedTransactions().stream()
        .map(PreparedTransaction::globalId)
        .collect(Collectors.toSet());
  }

  private DrivenTransaction inserted(DrivenEngine client, String table, int id) {
    DrivenTransaction transaction = client.begin(Isolation.READ_COMMITTED);
    transaction.run("insert into " + table + " values ($1, 0)", id);
    return transaction;
  }

  @Test
  @NeedsCapability(TWO_PHASE)
  default void shouldCommitOrRollBackWhatIsPrepared() {
    String table = table("id int8 primary key, v int8");
    String first = freshName();
    String second = freshName();
    DrivenTransaction committed = inserted(client(), table, 1);
    DrivenTransaction aborted = inserted(client(), table, 2);
    prepare(client(), committed, first);
    prepare(client(), aborted, second);
    assertEquals(State.PREPARED, committed.engine().state());
    assertEquals(Set.of(first, second), prepared());
    assertEquals(List.of(), another().query("select id from " + table));
    refused("25P01", () -> committed.run("insert into " + table + " values (3, 0)"));
    commit(client(), first);
    rollback(client(), second);
    assertEquals(Set.of(), prepared());
    assertEquals(List.of("1"), client().query("select id from " + table));
  }

  @Test
  @NeedsCapability(TWO_PHASE)
  default void shouldKeepPreparedTransactionsThroughARestart() throws Exception {
    String table = table("id int8 primary key, v int8");
    String committed = freshName();
    String aborted = freshName();
    prepare(client(), inserted(client(), table, 1), committed);
    prepare(client(), inserted(client(), table, 2), aborted);
    inserted(client(), table, 3); // not prepared: lost
    restart();
    assertEquals(Set.of(committed, aborted), prepared());
    refused(
        "57014",
        () -> {
          try (DrivenTransaction other = client().begin(Isolation.READ_COMMITTED)) {
            other.startWithin(100, 0, "insert into " + table + " values (1, 5)").await();
          }
        });
    commit(client(), committed);
    rollback(client(), aborted);
    assertEquals(List.of("1"), client().query("select id from " + table));
    restart();
    assertEquals(Set.of(), prepared());
    assertEquals(List.of("1"), client().query("select id from " + table));
  }

  @Test
  @NeedsCapability(TWO_PHASE)
  default void shouldKeepItsRowsFromOthers() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 0)");
    String globalId = freshName();
    DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED);
    transaction.run("update " + table + " set v = 1");
    prepare(client(), transaction, globalId);
    try (DrivenTransaction other = another().begin(Isolation.READ_COMMITTED)) {
      assertEquals(List.of("0"), other.query("select v from " + table));
      RunningStatement waiting = other.start("update " + table + " set v = v + 10");
      assertFalse(waiting.isDone());
      commit(client(), globalId);
      assertEquals(1, waiting.await());
      other.commit();
    }
    assertEquals(List.of("11"), client().query("select v from " + table));
  }

  @Test
  @NeedsCapability(TWO_PHASE)
  default void shouldRefuseNamesThatAreWrong() {
    String table = table("id int8 primary key, v int8");
    String globalId = freshName();
    prepare(client(), inserted(client(), table, 1), globalId);
    DrivenTransaction second = inserted(client(), table, 2);
    refused("42710", () -> prepare(client(), second, globalId));
    assertEquals(State.ABORTED, second.engine().state());
    refused("22023", () -> prepare(client(), inserted(client(), table, 3), ""));
    refused("22023", () -> prepare(client(), inserted(client(), table, 4), "x".repeat(201)));
    refused("42704", () -> commit(client(), freshName()));
    refused("42704", () -> rollback(client(), freshName()));
    rollback(client(), globalId);
    refused("42704", () -> commit(client(), globalId));
    assertEquals(List.of(), client().query("select id from " + table));
  }

  @Test
  @NeedsCapability(TWO_PHASE)
  default void shouldLetItsOwnerDecideAlone() {
    String table = table("id int8 primary key, v int8");
    String globalId = freshName();
    DrivenEngine owner = another("tck", "one");
    prepare(owner, inserted(owner, table, 1), globalId);
    DrivenEngine stranger = another("tck", "two");
    refused("42501", () -> commit(stranger, globalId));
    refused("42501", () -> rollback(stranger, globalId));
    commit(owner, globalId);
    assertEquals(List.of("1"), client().query("select id from " + table));
  }
}
