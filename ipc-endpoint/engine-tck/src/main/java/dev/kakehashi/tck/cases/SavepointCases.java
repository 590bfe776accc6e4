package dev.kakehashi.tck.cases;

import static dev.kakehashi.protocol.capability.Capability.DDL_IN_TRANSACTION;
import static dev.kakehashi.protocol.capability.Capability.SAVEPOINTS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.tck.drive.DrivenTransaction;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Savepoints: levels count from 1, and one is set on top of those that are there.
public interface SavepointCases extends Conformance {
  private static String ids(String table) {
    return "select id from " + table + " order by id";
  }

  private static String insert(String table, int id) {
    return "insert into " + table + " values (" + id + ")";
  }

  @Test
  @NeedsCapability(SAVEPOINTS)
  default void shouldUndoWhatCameAfterASavepoint() {
    String table = table("id int8 primary key");
    for (Isolation isolation : levels()) {
      try (DrivenTransaction transaction = client().begin(isolation)) {
        transaction.run(insert(table, 1));
        transaction.savepoint(1);
        transaction.run(insert(table, 2));
        transaction.run("delete from " + table + " where id = 1");
        transaction.rollbackTo(1);
        assertEquals(List.of("1"), transaction.query(ids(table)), isolation.name());
        transaction.run(insert(table, 3));
        transaction.rollbackTo(1); // it stays
        transaction.run(insert(table, 4));
        transaction.commit();
      }
      assertEquals(List.of("1", "4"), client().query(ids(table)));
      client().run("delete from " + table);
    }
  }

  @Test
  @NeedsCapability(SAVEPOINTS)
  default void shouldNestSavepoints() {
    String table = table("id int8 primary key");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.savepoint(1);
      transaction.run(insert(table, 1));
      transaction.savepoint(2);
      transaction.run(insert(table, 2));
      transaction.savepoint(3);
      transaction.run(insert(table, 3));
      transaction.rollbackTo(2);
      assertEquals(List.of("1"), transaction.query(ids(table)));
      refused("3B001", () -> transaction.rollbackTo(3));
      transaction.run(insert(table, 4));
      transaction.release(2);
      refused("3B001", () -> transaction.release(2));
      assertEquals(List.of("1", "4"), transaction.query(ids(table)));
      transaction.rollbackTo(1);
      assertEquals(List.of(), transaction.query(ids(table)));
      transaction.run(insert(table, 5));
      transaction.commit();
    }
    assertEquals(List.of("5"), client().query(ids(table)));
  }

  @Test
  @NeedsCapability(SAVEPOINTS)
  default void shouldReleaseThoseAboveAsWell() {
    String table = table("id int8 primary key");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.savepoint(1);
      transaction.savepoint(2);
      transaction.run(insert(table, 1));
      transaction.release(1);
      refused("3B001", () -> transaction.rollbackTo(2));
      transaction.savepoint(1);
      transaction.run(insert(table, 2));
      transaction.rollbackTo(1);
      transaction.commit();
    }
    assertEquals(List.of("1"), client().query(ids(table)));
  }

  /// PostgreSQL's levels are those of its subtransactions: some of them have done nothing on the engine.
  @Test
  @NeedsCapability(SAVEPOINTS)
  default void shouldSetTheLevelsInBetween() {
    String table = table("id int8 primary key");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run(insert(table, 1));
      transaction.savepoint(3);
      transaction.run(insert(table, 2));
      transaction.rollbackTo(2);
      assertEquals(List.of("1"), transaction.query(ids(table)));
      refused("22023", () -> transaction.savepoint(1));
      transaction.release(1);
      transaction.commit();
    }
    assertEquals(List.of("1"), client().query(ids(table)));
  }

  @Test
  @NeedsCapability(SAVEPOINTS)
  default void shouldRefuseASavepointThatIsNotThere() {
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      refused("3B001", () -> transaction.release(1));
      refused("3B001", () -> transaction.rollbackTo(1));
      assertEquals(List.of("1"), transaction.query("select 1"));
    }
  }

  @Test
  @NeedsCapability(SAVEPOINTS)
  default void shouldKeepASavepointThroughFailedStatements() {
    String table = table("id int8 primary key");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.run(insert(table, 1));
      transaction.savepoint(1);
      transaction.run(insert(table, 2));
      refused("23505", () -> transaction.run(insert(table, 1)));
      transaction.run(insert(table, 3));
      refused("23505", () -> transaction.run(insert(table, 2)));
      transaction.rollbackTo(1);
      transaction.run(insert(table, 2));
      transaction.commit();
    }
    assertEquals(List.of("1", "2"), client().query(ids(table)));
  }

  @Test
  @NeedsCapability(SAVEPOINTS)
  default void shouldGiveBackTheLocksOfWhatIsUndone() {
    String table = table("id int8 primary key, v int8");
    client().run("insert into " + table + " values (1, 0)");
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED);
        DrivenTransaction other = another().begin(Isolation.READ_COMMITTED)) {
      transaction.savepoint(1);
      transaction.run("update " + table + " set v = 1");
      refused("55P03", other.startWithin(0, 20, "update " + table + " set v = v + 10"));
      transaction.rollbackTo(1);
      // A transaction that waited before may wait until the end of the one that rolled back.
      assertEquals(1, other.run("update " + table + " set v = v + 10"));
      other.commit();
    }
    assertEquals(List.of("10"), client().query("select v from " + table));
  }

  @Test
  @NeedsCapability({SAVEPOINTS, DDL_IN_TRANSACTION})
  default void shouldUndoDefinitions() {
    String table = freshName();
    try (DrivenTransaction transaction = client().begin(Isolation.READ_COMMITTED)) {
      transaction.savepoint(1);
      transaction.run("create table " + table + " (id int8)");
      // Prepared without the transaction's definitions, so it is looked at within it.
      transaction.rollbackTo(1);
      transaction.run("create table " + table + " (id int8, v int8)");
      transaction.commit();
    }
    client().run("insert into " + table + " values (1, 2)");
    assertEquals(List.of("1|2"), client().query("select * from " + table));
  }
}
