package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// FOR KEY SHARE, FOR SHARE, FOR NO KEY UPDATE and FOR UPDATE between transactions.
@Timeout(120)
final class RowLockStrengthTest {
  private static final @Nullable Object[][] NO_PARAMETERS = {{}};
  private static final List<String> STRENGTHS =
      List.of("key share", "share", "no key update", "update");

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table p (id int primary key, n int, u int unique, x int)");
    engine.run("create unique index on p (x) where n > 100");
    engine.run("create table c (id int primary key, pid int references p)");
    engine.run("insert into p values (1, 1, 1, 1), (2, 2, 2, 2)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private EngineTransaction begin() {
    return engine.begin(Isolation.READ_COMMITTED);
  }

  private TestEngine.Running start(EngineTransaction transaction, String sql) {
    return engine.start(transaction, engine.prepare(sql), NO_PARAMETERS, Integer.MAX_VALUE, 0);
  }

  private static String lock(String strength) {
    return "select id from p where id = 1 for " + strength;
  }

  private String stateOf(Runnable statement) {
    try {
      statement.run();
      return "";
    } catch (EngineException refused) {
      return refused.code().sqlstate();
    }
  }

  /// How strongly others can lock the row with identifier 1.
  private List<Boolean> free() {
    return STRENGTHS.stream()
        .map(strength -> {
          boolean free = stateOf(() -> engine.run(lock(strength) + " nowait")).isEmpty();
          assertEquals(
              free ? List.of("1") : List.of(), engine.query(lock(strength) + " skip locked"));
          return free;
        })
        .toList();
  }

  private static final List<Boolean> AFTER_KEY_SHARE = List.of(true, true, true, false);
  private static final List<Boolean> AFTER_SHARE = List.of(true, true, false, false);
  private static final List<Boolean> AFTER_NO_KEY_UPDATE = List.of(true, false, false, false);
  private static final List<Boolean> AFTER_UPDATE = List.of(false, false, false, false);
  private static final List<Boolean> FREE = List.of(true, true, true, true);

  private void assertAfter(List<Boolean> expected, String... statements) {
    EngineTransaction holder = begin();
    for (String sql : statements) {
      engine.run(holder, sql);
    }
    assertEquals(expected, free(), String.join("; ", statements));
    engine.rollback(holder);
    assertEquals(FREE, free());
  }

  @Test
  void shouldConflictAsInPostgresql() {
    assertAfter(AFTER_KEY_SHARE, lock("key share"));
    assertAfter(AFTER_SHARE, lock("share"));
    assertAfter(AFTER_NO_KEY_UPDATE, lock("no key update"));
    assertAfter(AFTER_UPDATE, lock("update"));
    assertAfter(AFTER_SHARE, lock("share"), lock("key share"));
    assertAfter(AFTER_UPDATE, lock("key share"), lock("update"), lock("share"));
  }

  @Test
  void shouldLockByWhatIsChanged() {
    assertAfter(AFTER_NO_KEY_UPDATE, "update p set n = 5 where id = 1");
    assertAfter(AFTER_NO_KEY_UPDATE, "update p set id = 1, u = 1 where id = 1");
    // Nothing can reference what is unique among some rows.
    assertAfter(AFTER_NO_KEY_UPDATE, "update p set x = 7 where id = 1");
    assertAfter(AFTER_UPDATE, "update p set u = 7 where id = 1");
    assertAfter(AFTER_UPDATE, "update p set u = 7 where id = 1", "update p set u = 1 where id = 1");
    assertAfter(AFTER_UPDATE, "update p set id = 7 where id = 1");
    assertAfter(AFTER_UPDATE, "delete from p where id = 1");
    assertAfter(
        AFTER_NO_KEY_UPDATE, "insert into p values (1) on conflict (id) do update set n = 3");
    String select = "insert into p values (1) on conflict (id) do select";
    assertAfter(FREE, select + " returning id");
    assertAfter(AFTER_KEY_SHARE, select + " for key share returning id");
    assertAfter(AFTER_SHARE, select + " for share returning id");
    assertAfter(AFTER_NO_KEY_UPDATE, select + " for no key update returning id");
    assertAfter(AFTER_UPDATE, select + " for update returning id");
    assertAfter(AFTER_UPDATE, select + " for update where p.n > 100 returning id");
    assertAfter(AFTER_KEY_SHARE, "insert into c values (1, 1)");
    assertAfter(
        AFTER_NO_KEY_UPDATE, "insert into c values (1, 1)", "update p set n = 5 where id = 1");
  }

  @Test
  void shouldReferenceARowWhoseOtherColumnsAreBeingChanged() {
    EngineTransaction parent = begin();
    engine.run(parent, "update p set n = 5 where id = 1");
    EngineTransaction child = begin();
    engine.run(child, "insert into c values (1, 1)");
    engine.commit(parent);
    EngineTransaction deleting = begin();
    TestEngine.Running deletion = start(deleting, "delete from p where id = 1");
    assertFalse(deletion.done.isDone());
    engine.commit(child);
    assertEquals("23503", stateOf(deletion::await));
    engine.rollback(deleting);
  }

  @Test
  void shouldWaitToReferenceARowThatIsLockedForUpdate() {
    EngineTransaction parent = begin();
    engine.run(parent, lock("update"));
    EngineTransaction child = begin();
    TestEngine.Running insertion = start(child, "insert into c values (1, 1)");
    assertFalse(insertion.done.isDone());
    engine.run(parent, "delete from p where id = 1");
    engine.commit(parent);
    assertEquals("23503", stateOf(insertion::await));
    engine.rollback(child);
  }

  @Test
  void shouldWaitForAllWhoShareARow() {
    EngineTransaction first = begin();
    EngineTransaction second = begin();
    engine.run(first, lock("share"));
    engine.run(second, lock("share"));
    EngineTransaction changer = begin();
    TestEngine.Running update = start(changer, "update p set n = n + 10 where id = 1");
    assertFalse(update.done.isDone());
    assertEquals(List.of("2"), engine.query("select count(*) from kakehashi_catalog.waits"));
    engine.commit(first);
    Await.untilEquals(
        "waits", List.of("1"), () -> engine.query("select count(*) from kakehashi_catalog.waits"));
    assertFalse(update.done.isDone());
    engine.commit(second);
    assertEquals(1, update.await().count());
    engine.commit(changer);
  }

  @Test
  void shouldFindADeadlockWithAnyOfThoseWhoShareARow() {
    for (int victim = 0; victim < 2; victim++) {
      EngineTransaction first = begin();
      EngineTransaction second = begin();
      EngineTransaction changer = begin();
      engine.run(changer, "select id from p where id = 2 for update");
      engine.run(first, lock("share"));
      engine.run(second, lock("share"));
      EngineTransaction waiter = victim == 0 ? first : second;
      TestEngine.Running update = start(changer, "update p set n = 0 where id = 1");
      assertFalse(update.done.isDone());
      assertEquals("40P01", stateOf(() -> engine.run(waiter, "update p set n = 0 where id = 2")));
      engine.rollback(waiter);
      engine.rollback(victim == 0 ? second : first);
      assertEquals(1, update.await().count());
      engine.rollback(changer);
    }
  }

  @Test
  void shouldFindTheDeadlockOfTwoWhoShareAndWantToChange() {
    EngineTransaction first = begin();
    EngineTransaction second = begin();
    engine.run(first, lock("share"));
    engine.run(second, lock("share"));
    TestEngine.Running update = start(first, "update p set n = 0 where id = 1");
    assertFalse(update.done.isDone());
    assertEquals("40P01", stateOf(() -> engine.run(second, "update p set n = 0 where id = 1")));
    engine.rollback(second);
    assertEquals(1, update.await().count());
    engine.commit(first);
  }

  @Test
  void shouldLetGoOfLocksOfASavepoint() {
    EngineTransaction holder = begin();
    engine.run(holder, lock("key share"));
    TestEngine.awaitEnd(done -> holder.savepoint(1, done));
    engine.run(holder, lock("share"));
    assertEquals(AFTER_SHARE, free());
    TestEngine.awaitEnd(done -> holder.savepoint(2, done));
    engine.run(holder, "update p set n = 0 where id = 1");
    assertEquals(AFTER_NO_KEY_UPDATE, free());
    TestEngine.awaitEnd(done -> holder.rollbackToSavepoint(2, done));
    assertEquals(AFTER_SHARE, free());
    TestEngine.awaitEnd(done -> holder.rollbackToSavepoint(1, done));
    assertEquals(AFTER_KEY_SHARE, free());
    engine.run(holder, "delete from p where id = 1");
    assertEquals(AFTER_UPDATE, free());
    TestEngine.awaitEnd(done -> holder.rollbackToSavepoint(1, done));
    assertEquals(AFTER_KEY_SHARE, free());
    engine.commit(holder);
    assertEquals(FREE, free());
  }

  @Test
  void shouldKeepLocksThroughTwoPhasesAndARestart() {
    for (int i = 0; i < STRENGTHS.size(); i++) {
      EngineTransaction holder = begin();
      engine.run(holder, lock(STRENGTHS.get(i)));
      TestEngine.awaitEnd(done -> engine.session.prepare(holder, "held", done));
      List<Boolean> expected =
          List.of(AFTER_KEY_SHARE, AFTER_SHARE, AFTER_NO_KEY_UPDATE, AFTER_UPDATE).get(i);
      assertEquals(expected, free());
      engine.close();
      engine = new TestEngine(directory);
      assertEquals(expected, free());
      TestEngine.awaitEnd(done ->
          engine.session.commitPrepared("held", EngineTransaction.CommitResponse.STORED, done));
      assertEquals(FREE, free());
    }
  }

  @Test
  void shouldGoOnInRepeatableReadWhereKeysStayed() {
    EngineTransaction reader = engine.begin(Isolation.REPEATABLE_READ);
    engine.run(reader, "select * from p");
    engine.run("update p set n = 5 where id = 1");
    assertEquals(
        List.of("1"), engine.run(reader, "select n from p where id = 1 for key share").rows());
    EngineException refused =
        assertThrows(EngineException.class, () -> engine.run(reader, lock("share")));
    assertEquals("40001", refused.code().sqlstate());
    engine.rollback(reader);
  }

  @Test
  void shouldLockEachTableAsItsClauseSays() {
    EngineTransaction holder = begin();
    engine.run("insert into c values (5, 1)");
    String join = "select p.id from p join c on c.pid = p.id where p.id = 1 ";
    engine.run(holder, join + "for key share of p for update of c");
    assertEquals(AFTER_KEY_SHARE, free());
    assertTrue(engine.query("select id from c where id = 5 for key share skip locked").isEmpty());
    engine.rollback(holder);
    EngineTransaction all = begin();
    // The strongest holds where several name a table.
    engine.run(all, join + "for share for no key update of p");
    assertEquals(AFTER_NO_KEY_UPDATE, free());
    assertEquals(List.of("5"), engine.query("select id from c where id = 5 for share skip locked"));
    engine.rollback(all);
    EngineTransaction inner = begin();
    engine.run(
        inner, "select id from (select id from p where id = 1 for share) s for no key update");
    assertEquals(AFTER_NO_KEY_UPDATE, free());
    engine.rollback(inner);
  }

  @Test
  void shouldNameTheClauseThatIsRefused() {
    List<List<String>> refused =
        List.of(
            List.of(
                "select distinct id from p for share",
                "FOR SHARE is not allowed with DISTINCT clause"),
            List.of(
                "select count(*) from p for key share",
                "FOR KEY SHARE is not allowed with GROUP BY clause or aggregate functions"),
            List.of(
                "select * from p for no key update of q",
                "relation \"q\" in FOR NO KEY UPDATE clause not found in FROM clause"),
            List.of(
                "select * from c left join p on p.id = c.pid for share of p",
                "FOR SHARE cannot be applied to the nullable side of an outer join"));
    for (List<String> each : refused) {
      EngineException failure =
          assertThrows(EngineException.class, () -> engine.query(each.getFirst()));
      assertEquals(each.getLast(), failure.getMessage());
    }
  }
}
