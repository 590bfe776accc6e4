package dev.kakehashi.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.vector.VarHeap;
import java.nio.file.Path;
import java.util.List;
import java.util.StringJoiner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Plans that wait for their next execution, in the cache or pushed out of it, hold no native memory.
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
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, name text, price numeric(10,2))");
    StringJoiner rows = new StringJoiner(", ");
    for (int i = 0; i < 200; i++) {
      rows.add("(" + i + ", 'name " + i % 20 + "', " + i + ".25)");
    }
    engine.run("insert into t values " + rows);
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
