package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.READ_COMMITTED;
import static dev.kakehashi.protocol.capability.Capability.READ_ONLY_TRANSACTIONS;
import static dev.kakehashi.protocol.capability.Capability.REPEATABLE_READ;
import static dev.kakehashi.protocol.capability.Capability.ROW_LOCKS;
import static dev.kakehashi.protocol.capability.Capability.SERIALIZABLE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.BeginOptions.Kind;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.DrivenTransaction;
import dev.kakehashi.tck.drive.RunningStatement;
import dev.kakehashi.tck.drive.Waits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Visibility between transactions: the anomalies that each isolation level excludes, by the names of Adya and of Hermitage.
public interface IsolationCases extends Conformance {
  private String accounts() {
    String table = table("id int8 primary key, v int8 not null");
    client().run("insert into " + table + " values (1, 10), (2, 20)");
    return table;
  }

  private static String add(String table, int amount, int id) {
    return "update " + table + " set v = v + " + amount + " where id = " + id;
  }

  private static String values(String table) {
    return "select v from " + table + " order by id";
  }

  @Test
  default void shouldShowNoUncommittedChange() {
    String table = accounts();
    for (Isolation isolation : levels()) {
      try (DrivenTransaction writer = client().begin(Isolation.READ_COMMITTED);
          DrivenTransaction reader = another().begin(isolation)) {
        writer.run(add(table, 91, 1));
        assertEquals(List.of("10", "20"), reader.query(values(table)), isolation.name());
        writer.rollback();
        assertEquals(List.of("10", "20"), reader.query(values(table)), isolation.name());
      }
    }
  }

  @Test
  @NeedsCapability(READ_COMMITTED)
  default void shouldShowNoIntermediateValue() {
    String table = accounts();
    try (DrivenTransaction writer = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction reader = another().begin(Isolation.READ_COMMITTED)) {
      writer.run(add(table, 1, 1));
      assertEquals(List.of("10", "20"), reader.query(values(table)));
      writer.run(add(table, 1, 1));
      writer.commit();
      assertEquals(List.of("12", "20"), reader.query(values(table)));
    }
  }

  @Test
  default void shouldSeeItsOwnChanges() {
    String table = accounts();
    for (Isolation isolation : levels()) {
      try (DrivenTransaction writer = client().begin(isolation)) {
        writer.run(add(table, 1, 1));
        writer.run("insert into " + table + " values (3, 30)");
        writer.run("delete from " + table + " where id = 2");
        assertEquals(List.of("11", "30"), writer.query(values(table)), isolation.name());
      }
    }
    assertEquals(List.of("10", "20"), client().query(values(table)));
  }

  @Test
  default void shouldSeeWhatOthersHaveCommittedInReadCommittedAlone() {
    String table = accounts();
    for (Isolation isolation : levels()) {
      List<String> before = client().query(values(table));
      try (DrivenTransaction reader = another().begin(isolation)) {
        assertEquals(before, reader.query(values(table)));
        client().run(add(table, 1, 1));
        client().run("insert into " + table + " select max(id) + 1, 0 from " + table);
        List<String> now = client().query(values(table));
        assertEquals(
            isolation == Isolation.READ_COMMITTED ? now : before,
            reader.query(values(table)),
            isolation.name());
      }
    }
  }

  @Test
  @NeedsCapability(REPEATABLE_READ)
  default void shouldSeeInASnapshotWhatWasCommittedBeforeItBegan() {
    String table = accounts();
    for (int i = 1; i <= 10; i++) {
      client().run(add(table, 1, 1));
      try (DrivenTransaction reader = another().begin(Isolation.REPEATABLE_READ)) {
        assertEquals(List.of(Integer.toString(10 + i), "20"), reader.query(values(table)));
      }
    }
  }

  @Test
  @NeedsCapability(READ_COMMITTED)
  default void shouldAddBothUpdatesInReadCommitted() {
    String table = accounts();
    try (DrivenTransaction first = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = another().begin(Isolation.READ_COMMITTED)) {
      first.run(add(table, 1, 1));
      RunningStatement waiting = second.start(add(table, 2, 1));
      assertFalse(waiting.isDone());
      first.commit();
      assertEquals(1, waiting.await());
      second.commit();
    }
    assertEquals(List.of("13", "20"), client().query(values(table)));
  }

  @Test
  @NeedsCapability(READ_COMMITTED)
  default void shouldLookAgainWhetherAChangedRowIsMeant() {
    String table = accounts();
    try (DrivenTransaction first = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = another().begin(Isolation.READ_COMMITTED)) {
      first.run(add(table, 1, 1));
      RunningStatement waiting = second.start("delete from " + table + " where v = 10");
      first.commit();
      assertEquals(0, waiting.await());
      second.commit();
    }
    assertEquals(List.of("11", "20"), client().query(values(table)));
  }

  @Test
  default void shouldLoseNoUpdateInASnapshot() {
    String table = accounts();
    for (Isolation isolation : levels(Isolation.REPEATABLE_READ, Isolation.SERIALIZABLE)) {
      try (DrivenTransaction first = client().begin(isolation);
          DrivenTransaction second = another().begin(isolation)) {
        first.query(values(table));
        second.query(values(table));
        first.run(add(table, 1, 1));
        first.commit();
        refused(
            "40001",
            () -> {
              second.run(add(table, 1, 1));
              second.commit();
            });
      }
    }
    int ran = levels(Isolation.REPEATABLE_READ, Isolation.SERIALIZABLE).size();
    assertEquals(List.of(String.valueOf(10 + ran), "20"), client().query(values(table)));
  }

  @Test
  default void shouldGoOnWhenTheFirstWriterRollsBack() {
    String table = accounts();
    for (Isolation isolation : levels()) {
      try (DrivenTransaction first = client().begin(isolation);
          DrivenTransaction second = another().begin(isolation)) {
        second.query("select count(*) from " + table + " where id = 2");
        first.run(add(table, 1, 1));
        RunningStatement waiting = second.start(add(table, 5, 1));
        first.rollback();
        assertEquals(1, waiting.await(), isolation.name());
        second.commit();
      }
    }
    assertEquals(
        List.of(String.valueOf(10 + 5 * levels().size()), "20"), client().query(values(table)));
  }

  @Test
  default void shouldShowNoReadSkewInASnapshot() {
    String table = accounts();
    for (Isolation isolation : levels(Isolation.REPEATABLE_READ, Isolation.SERIALIZABLE)) {
      String one = client().query("select v from " + table + " where id = 1").getFirst();
      String two = client().query("select v from " + table + " where id = 2").getFirst();
      try (DrivenTransaction reader = another().begin(isolation)) {
        assertEquals(List.of(one), reader.query("select v from " + table + " where id = 1"));
        try (DrivenTransaction writer = client().begin(Isolation.READ_COMMITTED)) {
          writer.run(add(table, -5, 1));
          writer.run(add(table, 5, 2));
          writer.commit();
        }
        assertEquals(List.of(two), reader.query("select v from " + table + " where id = 2"));
      }
    }
  }

  @Test
  @NeedsCapability(REPEATABLE_READ)
  default void shouldShowNoPhantomInASnapshot() {
    String table = accounts();
    String count = "select count(*) from " + table + " where v >= 20";
    try (DrivenTransaction reader = another().begin(Isolation.REPEATABLE_READ)) {
      assertEquals(List.of("1"), reader.query(count));
      client().run("insert into " + table + " values (3, 30)");
      client().run("delete from " + table + " where id = 2");
      assertEquals(List.of("1"), reader.query(count));
    }
    assertEquals(List.of("30"), client().query("select v from " + table + " where v >= 20"));
  }

  /// Each sets a row of what the other has read. Snapshots allow that.
  private List<EngineException> skew(Isolation isolation, String table) {
    List<EngineException> failures = new ArrayList<>();
    try (DrivenTransaction first = client().begin(isolation);
        DrivenTransaction second = another().begin(isolation)) {
      first.query(values(table));
      second.query(values(table));
      first.run(add(table, -5, 1));
      attempt(failures, () -> second.run(add(table, -5, 2)));
      attempt(failures, first::commit);
      attempt(failures, second::commit);
    }
    return failures;
  }

  private static void attempt(List<EngineException> failures, Runnable operation) {
    if (!failures.isEmpty()) {
      return; // one has failed: the other may well commit, or may not
    }
    try {
      operation.run();
    } catch (EngineException failure) {
      failures.add(failure);
    }
  }

  @Test
  @NeedsCapability(REPEATABLE_READ)
  default void shouldAllowWriteSkewInASnapshot() {
    assertEquals(List.of(), skew(Isolation.REPEATABLE_READ, accounts()));
  }

  @Test
  @NeedsCapability(SERIALIZABLE)
  default void shouldRefuseWriteSkewInSerializable() {
    List<EngineException> failures = skew(Isolation.SERIALIZABLE, accounts());
    assertEquals(List.of("40001"), failures.stream().map(EngineException::sqlstate).toList());
  }

  @Test
  @NeedsCapability(SERIALIZABLE)
  default void shouldRefuseWriteSkewByInsertedRowsInSerializable() {
    String table = table("id int8 primary key, v int8 not null");
    List<EngineException> failures = new ArrayList<>();
    String sum = "select count(*) from " + table + " where v between 10 and 20";
    try (DrivenTransaction first = client().begin(Isolation.SERIALIZABLE);
        DrivenTransaction second = another().begin(Isolation.SERIALIZABLE)) {
      assertEquals(List.of("0"), first.query(sum));
      assertEquals(List.of("0"), second.query(sum));
      first.run("insert into " + table + " values (1, 15)");
      attempt(failures, () -> second.run("insert into " + table + " values (2, 15)"));
      attempt(failures, first::commit);
      attempt(failures, second::commit);
    }
    assertEquals(List.of("40001"), failures.stream().map(EngineException::sqlstate).toList());
    assertTrue(Long.parseLong(client().query(sum).getFirst()) <= 1);
  }

  /// The batch and its receipts: a reader that sees the new batch may not miss a receipt of the old one.
  @Test
  @NeedsCapability(SERIALIZABLE)
  default void shouldRefuseAReadOnlyAnomalyInSerializable() {
    String control = table("batch int8 not null");
    String receipts = table("id int8 primary key, batch int8 not null");
    client().run("insert into " + control + " values (1)");
    List<EngineException> failures = new ArrayList<>();
    try (DrivenTransaction receipt = client().begin(Isolation.SERIALIZABLE);
        DrivenTransaction closing = another().begin(Isolation.SERIALIZABLE)) {
      assertEquals(List.of("1"), receipt.query("select batch from " + control));
      attempt(failures, () -> closing.run("update " + control + " set batch = 2"));
      attempt(failures, closing::commit);
      // Its snapshot has the new batch.
      DrivenTransaction report = another().begin(Isolation.SERIALIZABLE);
      attempt(failures, () -> report.query("select batch from " + control));
      attempt(failures, () -> report.query("select count(*) from " + receipts));
      attempt(failures, report::commit);
      attempt(failures, () -> receipt.run("insert into " + receipts + " values (1, 1)"));
      attempt(failures, receipt::commit);
    }
    assertEquals(List.of("40001"), failures.stream().map(EngineException::sqlstate).toList());
  }

  @Test
  @NeedsCapability(READ_ONLY_TRANSACTIONS)
  default void shouldChangeNothingInAReadOnlyTransaction() {
    String table = accounts();
    BeginOptions options = new BeginOptions(Kind.RTX, Isolation.REPEATABLE_READ, "tck reader");
    try (DrivenTransaction reader = client().begin(options)) {
      assertEquals(List.of("10", "20"), reader.query(values(table)));
      refused("25006", () -> reader.run(add(table, 1, 1)));
      another().run(add(table, 1, 1));
      assertEquals(List.of("10", "20"), reader.query(values(table)));
      assertFalse(reader.engine().hasWrites());
      reader.commit();
    }
    assertEquals(List.of("11", "20"), client().query(values(table)));
  }

  @Test
  @NeedsCapability(ROW_LOCKS)
  default void shouldEndOneOfTwoInADeadlock() {
    String table = accounts();
    try (DrivenTransaction first = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = another().begin(Isolation.READ_COMMITTED)) {
      first.run(add(table, 1, 1));
      second.run(add(table, 1, 2));
      RunningStatement firstWaits = first.start(add(table, 1, 2));
      RunningStatement secondWaits = second.start(add(table, 1, 1));
      Waits.until("an end of one", () -> firstWaits.isDone() || secondWaits.isDone());
      boolean firstFails = firstWaits.isDone();
      EngineException failure =
          DrivenEngine.failureOf(firstFails ? firstWaits::await : secondWaits::await);
      assertTrue(List.of("40P01", "40001").contains(failure.sqlstate()), failure.sqlstate());
      // The transaction that fails gives way by its rollback.
      (firstFails ? first : second).rollback();
      assertEquals(1, (firstFails ? secondWaits : firstWaits).await());
      (firstFails ? second : first).commit();
    }
  }

  @Test
  default void shouldWaitForTheEndOfAnotherWithTheSameKey() {
    String table = accounts();
    String insert = "insert into " + table + " values (7, 70)";
    DrivenEngine other = another();
    try (DrivenTransaction first = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = other.begin(Isolation.READ_COMMITTED)) {
      first.run(insert);
      RunningStatement waiting = second.start(insert);
      assertFalse(waiting.isDone());
      first.rollback();
      assertEquals(1, waiting.await());
      second.commit();
    }
    try (DrivenTransaction first = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction second = other.begin(Isolation.READ_COMMITTED)) {
      first.run("insert into " + table + " values (8, 80)");
      RunningStatement waiting = second.start("insert into " + table + " values (8, 81)");
      first.commit();
      refused("23505", waiting);
    }
    assertEquals(List.of("10", "20", "70", "80"), client().query(values(table)));
  }
}
