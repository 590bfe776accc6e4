package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.testsupport.Await;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Plans that wait for their next execution, in the cache or pushed out of it, hold no native memory, and nothing of who ran them.
@SuppressWarnings("NullAway.Init") // set before each test
class IdleMemoryTest {
  /// More than the cache of [TestEngine] holds.
  private static final int TEXTS = 105;

  /// Every operator, with values that need memory of their own.
  private static final List<String> STATEMENTS =
      List.of(
          "select id, name || 'x' from t where upper(name) like 'N%%' and id > %d",
          "select name, count(*), max(name), sum(price), string_agg(name, ',') from t where id > %d group by name",
          "select count(distinct name) from t where id > %d",
          "select name, price from t where id > %d order by name desc, price limit 10 offset 2",
          "select a.name, b.name from t a join t b on a.price = b.price where a.id > %d",
          "select a.name from t a left join t b on a.name < b.name and b.id < 3 where a.id > %d",
          "select name from t where id > %d union select 'other'",
          "select name from t where id > %d except select name from t where id < 5",
          "select (select max(name) from t where id > %d), 'a' || name from t where id = 7",
          "update t set name = name || '' where id = %d",
          "delete from t where name = 'nobody' and id = %d");

  @TempDir private Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    long before = VarHeap.heldBytes();
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, name text, price numeric(10,2))");
    StringJoiner rows = new StringJoiner(", ");
    for (int i = 0; i < 200; i++) {
      rows.add("(" + i + ", 'name " + i % 20 + "', " + i + ".25)");
    }
    engine.run("insert into t values " + rows);
    // Otherwise statistics are collected in the background, which takes native memory.
    engine.run("analyze t");
    // They may have begun before that.
    awaitHeldAtMost(before);
  }

  private static void awaitHeldAtMost(long bytes) {
    Await.until(
        "no native memory is held before the test begins", () -> VarHeap.heldBytes() <= bytes);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void shouldHoldNoNativeMemoryBetweenExecutions() {
    long before = VarHeap.heldBytes();
    for (String statement : STATEMENTS) {
      engine.run(statement.formatted(1));
      engine.run(statement.formatted(1));
      assertEquals(before, VarHeap.heldBytes(), statement);
    }
  }

  @Test
  void shouldHoldNoNativeMemoryOfPlansThatWerePushedOutOfTheCache() {
    long before = VarHeap.heldBytes();
    for (int i = 0; i < TEXTS; i++) {
      engine.run(STATEMENTS.get(i % STATEMENTS.size()).formatted(i));
    }
    assertEquals(before, VarHeap.heldBytes());
  }

  /// A plan that the catalogue has left behind is run by nobody any more: were its idle instances to keep who ran them last, with the plans
  /// of their sessions, the ends of a chain without end would be reachable.
  @Test
  void shouldLetGoOfTransactionsAndStatementsBetweenExecutions() throws InterruptedException {
    for (String sql : STATEMENTS) {
      ReferenceQueue<Object> collected = new ReferenceQueue<>();
      List<WeakReference<Object>> run = runByOther(sql.formatted(1), collected);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      for (int left = run.size(); left > 0; ) {
        System.gc();
        left -= collected.remove(100) == null ? 0 : 1;
        assertTrue(System.nanoTime() < deadline, "still reachable after: " + sql);
      }
    }
  }

  private List<WeakReference<Object>> runByOther(String sql, ReferenceQueue<Object> collected) {
    TestEngine.Other other = engine.other();
    Statement statement = other.prepare(sql);
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    engine.execute(transaction, statement, new @Nullable Object[][] {{}});
    engine.commit(transaction);
    return List.of(
        new WeakReference<>(other, collected),
        new WeakReference<>(statement, collected),
        new WeakReference<>(transaction, collected));
  }

  @Test
  void shouldHoldNoNativeMemoryAfterAFailure() {
    long before = VarHeap.heldBytes();
    EngineException e =
        assertThrows(
            EngineException.class,
            () -> engine.run("select name || 'x', price / (id - 100) from t order by 1"));
    assertTrue(e.getMessage() != null, e::toString);
    assertEquals(before, VarHeap.heldBytes());
  }
}
