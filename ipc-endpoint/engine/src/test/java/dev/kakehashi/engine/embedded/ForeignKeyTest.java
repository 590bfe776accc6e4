package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.StoreFactory;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// FOREIGN KEY between transactions, across restarts, and in the catalogue. Its effects in statements are in `foreign-keys.sql`.
final class ForeignKeyTest {
  private static final long MEMORY_BYTES = 1L << 28;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table p (id int primary key, n int default 0)");
    engine.run("create table c (id int primary key, pid int references p)");
    engine.run("insert into p values (1), (2), (3)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void restart() {
    engine.close();
    engine = new TestEngine(directory);
  }

  private static @Nullable EngineException failure(TestEngine.Running running) {
    try {
      running.await();
      return null;
    } catch (EngineException refused) {
      return refused;
    }
  }

  /// Outcome of a statement that waits for another transaction, after that one has committed. The statement's own transaction is rolled
  /// back.
  private String outcomeAfter(EngineTransaction other, EngineTransaction transaction, String sql) {
    TestEngine.Running waiting = start(transaction, sql);
    assertFalse(waiting.done.isDone());
    engine.commit(other);
    EngineException refused = failure(waiting);
    engine.rollback(transaction);
    return refused == null ? "nothing" : refused.code().sqlstate();
  }

  private TestEngine.Running start(EngineTransaction transaction, String sql) {
    return engine.start(
        transaction, engine.prepare(sql), new @Nullable Object[][] {{}}, Integer.MAX_VALUE, 0);
  }

  @Test
  void shouldSayWhatPostgresSays() {
    EngineException missing =
        assertThrows(EngineException.class, () -> engine.run("insert into c values (1, 9)"));
    assertEquals(
        "insert or update on table \"c\" violates foreign key constraint \"c_pid_fkey\"",
        missing.getMessage());
    assertEquals("Key (pid)=(9) is not present in table \"p\".", missing.detail());
    engine.run("insert into c values (1, 1)");
    EngineException referenced =
        assertThrows(EngineException.class, () -> engine.run("delete from p where id = 1"));
    assertEquals(
        "update or delete on table \"p\" violates foreign key constraint \"c_pid_fkey\" on table \"c\"",
        referenced.getMessage());
    assertEquals("Key (id)=(1) is still referenced from table \"c\".", referenced.detail());
    EngineException dependent =
        assertThrows(EngineException.class, () -> engine.run("drop table p"));
    assertEquals("constraint c_pid_fkey on table c depends on table p", dependent.detail());
  }

  @Test
  void shouldRefuseCascadesThatCouldMakeValuesThatAColumnDoesNotHold() {
    engine.run("create table t (v varchar(5) unique, n numeric unique)");
    String refused = "create table u (a %s references t (%s) on update cascade)";
    assertState("0A000", () -> engine.run(refused.formatted("varchar(4)", "v")));
    assertState("0A000", () -> engine.run(refused.formatted("numeric(4, 1)", "n")));
    engine.run(refused.formatted("varchar(6)", "v"));
    assertState("0A000", () -> engine.run("alter table t alter column v type text"));
  }

  @Test
  void shouldShowThemInTheCatalogue() {
    engine.run("create table d (x int, y int, unique (x, y))");
    engine.run(
        "create table e (a int, b int, constraint named foreign key (b, a) references d (x, y)"
            + " on delete set null on update cascade deferrable)");
    assertEquals(
        List.of(
            "public|c|c_pid_fkey|pid|1|public|p|id|NO ACTION|NO ACTION|NONE|f|f|t",
            "public|e|named|b|1|public|d|x|CASCADE|SET NULL|NONE|t|f|t",
            "public|e|named|a|2|public|d|y|CASCADE|SET NULL|NONE|t|f|t"),
        engine.query(
            "select * from kakehashi_catalog.foreign_keys order by table_name, key_position"));
  }

  @ParameterizedTest
  @EnumSource(
      value = Isolation.class,
      names = {"READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE"})
  void shouldMakeADeletionWaitForWhoReferences(Isolation isolation) {
    EngineTransaction child = engine.begin(isolation);
    engine.run(child, "insert into c values (1, 1)");
    EngineTransaction parent = engine.begin(isolation);
    assertEquals("23503", outcomeAfter(child, parent, "delete from p where id = 1"));
    assertEquals(List.of("1"), engine.query("select count(*) from p where id = 1"));
  }

  @ParameterizedTest
  @EnumSource(
      value = Isolation.class,
      names = {"READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE"})
  void shouldMakeWhoReferencesWaitForADeletion(Isolation isolation) {
    EngineTransaction parent = engine.begin(isolation);
    engine.run(parent, "delete from p where id = 1");
    EngineTransaction child = engine.begin(isolation);
    assertEquals(
        isolation == Isolation.READ_COMMITTED ? "23503" : "40001",
        outcomeAfter(parent, child, "insert into c values (1, 1)"));
  }

  @Test
  void shouldLetReferencesAndOtherChangesOfARowPassEachOther() {
    EngineTransaction one = engine.begin(Isolation.REPEATABLE_READ);
    EngineTransaction two = engine.begin(Isolation.REPEATABLE_READ);
    EngineTransaction three = engine.begin(Isolation.REPEATABLE_READ);
    engine.run(one, "insert into c values (1, 1)");
    engine.run(two, "insert into c values (2, 1)");
    engine.run(three, "update p set n = 1 where id = 1");
    engine.run(two, "insert into c values (3, 1)");
    engine.commit(one);
    engine.commit(three);
    engine.run(two, "insert into c values (4, 1)");
    engine.commit(two);
    assertEquals(List.of("4"), engine.query("select count(*) from c"));
  }

  @Test
  void shouldCascadeToRowsThatAreNewerThanTheSnapshotOrFail() {
    engine.run("create table d (pid int references p on delete cascade)");
    EngineTransaction old = engine.begin(Isolation.REPEATABLE_READ);
    engine.run(old, "select * from p");
    engine.run("insert into d values (1)");
    assertState("40001", () -> engine.run(old, "delete from p where id = 1"));
    engine.rollback(old);
    EngineTransaction committed = engine.begin(Isolation.READ_COMMITTED);
    engine.run(committed, "select * from p");
    engine.run("insert into d values (2)");
    engine.run(committed, "delete from p where id in (1, 2)");
    engine.commit(committed);
    assertEquals(List.of("0"), engine.query("select count(*) from d"));
  }

  @Test
  void shouldLetGoOfWhatASavepointTakesBackAndOfAllAtTheEnd() {
    EngineTransaction child = engine.begin(Isolation.READ_COMMITTED);
    engine.run(child, "insert into c values (3, 3)");
    TestEngine.awaitEnd(done -> child.savepoint(1, done));
    engine.run(child, "insert into c values (1, 1)");
    assertState("55P03", () -> engine.run("select * from p where id = 1 for update nowait"));
    TestEngine.awaitEnd(done -> child.rollbackToSavepoint(1, done));
    assertEquals(1, engine.run("delete from p where id = 1").count());
    assertState("55P03", () -> engine.run("select * from p where id = 3 for update nowait"));
    engine.run(child, "insert into c values (2, 2)");
    engine.rollback(child);
    assertEquals(2, engine.run("delete from p where id in (2, 3)").count());
  }

  @Test
  void shouldLockRowByRowHoweverManyTheyAre() {
    String rows =
        "with recursive s(i) as (values (10) union all select i + 1 from s where i < 9000) ";
    engine.run(rows + "insert into p select i, 0 from s");
    EngineTransaction child = engine.begin(Isolation.READ_COMMITTED);
    engine.run(child, rows + "insert into c select i, i from s");
    EngineTransaction parent = engine.begin(Isolation.READ_COMMITTED);
    engine.run(parent, "delete from p where id = 2");
    TestEngine.Running deletion = start(parent, "delete from p where id = 8999");
    assertFalse(deletion.done.isDone());
    engine.rollback(child);
    assertEquals(1, deletion.await().count());
    engine.commit(parent);
    engine.run("insert into c values (1, 9000)");
    assertState("23503", () -> engine.run("delete from p where id = 9000"));
  }

  @Test
  void shouldKeepReferencedRowsForPreparedTransactionsAlsoAfterARestart() {
    EngineTransaction child = engine.begin(Isolation.READ_COMMITTED);
    engine.run(child, "insert into c values (1, 1)");
    TestEngine.awaitEnd(done -> engine.session.prepare(child, "held", done));
    restart();
    EngineTransaction parent = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running deletion = start(parent, "delete from p where id = 1");
    assertFalse(deletion.done.isDone());
    TestEngine.awaitEnd(done ->
        engine.session.commitPrepared("held", EngineTransaction.CommitResponse.STORED, done));
    EngineException refused = failure(deletion);
    assertEquals("23503", refused == null ? "nothing" : refused.code().sqlstate());
    engine.rollback(parent);
  }

  @Test
  void shouldHoldAfterARestartAndBeUndoneWithTheirTransaction() {
    EngineTransaction defining = engine.begin(Isolation.READ_COMMITTED);
    engine.run(defining, "alter table c drop constraint c_pid_fkey");
    engine.run(defining, "insert into c values (1, 99)");
    engine.rollback(defining);
    restart();
    assertState("23503", () -> engine.run("insert into c values (1, 99)"));
    engine.run("insert into c values (1, 1)");
    assertState("23503", () -> engine.run("delete from p where id = 1"));
    assertState("2BP01", () -> engine.run("drop table p"));
  }

  @Test
  void shouldWantBothTablesInTheAreaOfALongTransaction() {
    EngineTransaction both = longTransaction("p", "c");
    engine.run(both, "insert into c values (1, 1)");
    assertState("40001", () -> engine.run("insert into c values (2, 2)"));
    engine.run(both, "delete from p where id = 2");
    engine.commit(both);
    EngineTransaction one = longTransaction("c");
    assertState("25000", () -> engine.run(one, "insert into c values (3, 3)"));
    engine.rollback(one);
    engine.run("create table d (pid int references p)");
    EngineTransaction parent = longTransaction("p");
    // It has to be able to rely on what references the table, which others could change.
    assertState("40001", () -> engine.run("insert into d values (3)"));
    engine.run(parent, "delete from p where id = 3");
    engine.commit(parent);
    assertEquals(List.of("1"), engine.query("select id from p"));
  }

  private EngineTransaction longTransaction(String... writes) {
    return engine.engine.begin(
        new BeginOptions(
            BeginOptions.Kind.LTX,
            Isolation.REPEATABLE_READ,
            "long",
            0,
            0,
            new BeginOptions.Areas(String.join(", ", writes), "", "")));
  }

  @Test
  void shouldBePartOfTheCheckOfADataDirectory() {
    engine.run("insert into c values (1, 1), (2, 1), (3, null)");
    engine.close();
    assertEquals(List.of(), problems());
    deleteFirstRowOfFirstTable();
    List<String> problems = problems();
    assertEquals(1, problems.size(), problems.toString());
    assertEquals(
        "table \"public\".\"c\": foreign key \"c_pid_fkey\": 2 rows reference what is not there",
        problems.getFirst());
    engine = new TestEngine(directory);
  }

  /// In the store, which does not know of foreign keys.
  private void deleteFirstRowOfFirstTable() {
    try (Store store = StoreFactory.open(new StoreConfig(directory, MEMORY_BYTES));
        VectorBatch rows = new VectorBatch(0)) {
      String entry =
          store.catalog().keySet().stream()
              .filter(key -> key.startsWith("table/"))
              .findFirst()
              .orElseThrow();
      TableStore table = store.table(Long.parseLong(entry.substring("table/".length())));
      StoreTransaction transaction = store.begin(false, false);
      try (RowCursor cursor =
          table.scan(transaction.beginStatement(), 0, table.pageCount(), new int[0], true)) {
        cursor.next(rows);
      }
      table.delete(transaction, rows.rowIds[0]);
      CompletableFuture<Boolean> committed = new CompletableFuture<>();
      transaction.commit(true, failure -> committed.complete(failure == null));
      assertEquals(true, TestEngine.await(committed));
    }
  }

  private List<String> problems() {
    List<String> problems = new ArrayList<>();
    EngineCheck.run(
        new StoreConfig(directory, MEMORY_BYTES),
        new CheckListener() {
          @Override
          public void checked(String what) {}

          @Override
          public void problem(String what) {
            problems.add(what);
          }
        });
    return problems;
  }
}
