package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.COMMANDS;
import static dev.kakehashi.protocol.capability.Capability.LONG_TRANSACTIONS;
import static dev.kakehashi.protocol.capability.Capability.NOWAIT;
import static dev.kakehashi.protocol.capability.Capability.REPEATABLE_READ;
import static dev.kakehashi.protocol.capability.Capability.ROW_LOCKS;
import static dev.kakehashi.protocol.capability.Capability.SKIP_LOCKED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Areas;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Locks of rows, long transactions that declare tables, and requests that are part of one command.
public interface LockCases extends Conformance {
  private String three() {
    String table = table("id int8 primary key, v int8 not null");
    client().run("insert into " + table + " values (1, 10), (2, 20), (3, 30)");
    return table;
  }

  @Test
  @NeedsCapability(ROW_LOCKS)
  default void shouldKeepLockedRowsFromOthers() {
    String table = three();
    try (DrivenTransaction holder = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction other = another().begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          List.of("10"), holder.query("select v from " + table + " where id = 1 for update"));
      assertEquals(List.of("10"), other.query("select v from " + table + " where id = 1"));
      assertEquals(1, other.run("update " + table + " set v = 21 where id = 2"));
      RunningStatement waiting = other.start("update " + table + " set v = v + 1 where id = 1");
      holder.run("update " + table + " set v = 100 where id = 1");
      assertFalse(waiting.isDone());
      holder.commit();
      assertEquals(1, waiting.await());
      other.commit();
    }
    assertEquals(
        List.of("101", "21", "30"), client().query("select v from " + table + " order by id"));
  }

  @Test
  @NeedsCapability(ROW_LOCKS)
  default void shouldSeeALockedRowAsItsHolderLeftIt() {
    String table = three();
    try (DrivenTransaction holder = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction other = another().begin(Isolation.READ_COMMITTED)) {
      holder.run("update " + table + " set v = 11 where id = 1");
      RunningStatement waiting = other.start("select v from " + table + " where id = 1 for update");
      holder.commit();
      assertEquals(List.of("11"), waiting.awaitRows());
    }
  }

  @Test
  @NeedsCapability({ROW_LOCKS, NOWAIT, SKIP_LOCKED})
  default void shouldNotWaitWithNowaitAndSkipLocked() {
    String table = three();
    try (DrivenTransaction holder = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction other = another().begin(Isolation.READ_COMMITTED)) {
      holder.query("select v from " + table + " where id = 1 for update");
      refused(
          "55P03", () -> other.query("select v from " + table + " where id = 1 for update nowait"));
      assertEquals(
          List.of("2"),
          other.query("select id from " + table + " order by id limit 1 for update skip locked"));
      other.commit();
    }
    assertEquals(
        List.of("1"),
        client().query("select id from " + table + " where id = 1 for update nowait"));
  }

  @Test
  @NeedsCapability({ROW_LOCKS, REPEATABLE_READ})
  default void shouldRefuseToLockWhatHasChangedSinceTheSnapshot() {
    String table = three();
    try (DrivenTransaction reader = another().begin(Isolation.REPEATABLE_READ)) {
      reader.query("select count(*) from " + table);
      client().run("update " + table + " set v = 11 where id = 1");
      refused("40001", () -> reader.query("select v from " + table + " where id = 1 for update"));
    }
  }

  @Test
  @NeedsCapability(COMMANDS)
  default void shouldHideTheChangesOfACommandFromItself() {
    String table = three();
    Statement insert = client().prepare("insert into " + table + " values ($1, 0)");
    Statement count = client().prepare("select count(*) from " + table);
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      ExecuteOptions first = ExecuteOptions.of(true, 0, 1, 0);
      ExecuteOptions same = ExecuteOptions.of(false, 0, 1, 0);
      transaction.start(insert, first, 4).await();
      assertEquals(List.of("3"), transaction.start(count, same).awaitRows());
      transaction.start(insert, same, 5).await();
      assertEquals(List.of("3"), transaction.start(count, same).awaitRows());
      assertEquals(
          List.of("5"), transaction.start(count, ExecuteOptions.of(true, 0, 2, 0)).awaitRows());
      // A command that began before, and is read on after the later one has changed rows.
      transaction.start(insert, ExecuteOptions.of(true, 0, 2, 0), 6).await();
      assertEquals(List.of("3"), transaction.start(count, same).awaitRows());
      assertEquals(List.of("6"), transaction.query("select count(*) from " + table));
    }
  }

  @Test
  @NeedsCapability(COMMANDS)
  default void shouldKeepTheSnapshotOfACommandInReadCommitted() {
    String table = three();
    Statement count = client().prepare("select count(*) from " + table);
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      assertEquals(
          List.of("3"), transaction.start(count, ExecuteOptions.of(true, 0, 1, 0)).awaitRows());
      another().run("insert into " + table + " values (4, 0)");
      assertEquals(
          List.of("3"), transaction.start(count, ExecuteOptions.of(false, 0, 1, 0)).awaitRows());
      assertEquals(
          List.of("4"), transaction.start(count, ExecuteOptions.of(true, 0, 2, 0)).awaitRows());
    }
  }

  private BeginOptions longTransaction(String writes) {
    return new BeginOptions(
        Kind.LTX, Isolation.SERIALIZABLE, "tck long", 0, 0, new Areas(writes, "", ""));
  }

  @Test
  @NeedsCapability(LONG_TRANSACTIONS)
  default void shouldNeverRefuseALongTransaction() {
    String table = three();
    try (DrivenTransaction before = another().begin(Isolation.READ_COMMITTED);
        DrivenTransaction longOne = client().begin(longTransaction(table))) {
      refused(
          "40001",
          () -> {
            before.run("update " + table + " set v = 0 where id = 1");
            before.commit();
          });
      before.rollback();
      longOne.run("update " + table + " set v = v + 1");
      longOne.commit();
    }
    assertEquals(
        List.of("11", "21", "31"), client().query("select v from " + table + " order by id"));
  }

  @Test
  @NeedsCapability(LONG_TRANSACTIONS)
  default void shouldRefuseWhatALongTransactionHasNotDeclared() {
    String table = three();
    String other = three();
    refused("42P01", () -> client().begin(longTransaction(freshName())));
    try (DrivenTransaction longOne = client().begin(longTransaction(table))) {
      refused("25000", () -> longOne.run("update " + other + " set v = 0"));
    }
  }
}
