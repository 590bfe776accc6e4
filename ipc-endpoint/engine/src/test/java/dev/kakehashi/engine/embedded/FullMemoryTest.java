package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A store whose memory is full: what failed gives its memory back, and rows can be deleted.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(120)
final class FullMemoryTest {

  private static final long LIMIT = 12 << 20;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 2, LIMIT);
    engine.run("create table t (id int primary key, v text)");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void reopen(long limit) {
    engine.close();
    engine = new TestEngine(directory, 2, limit);
  }

  private void insert(int from, int to) {
    engine.run(
        "insert into t select i, repeat('x', 200) from generate_series(" + from + "," + to + ") i");
  }

  /// Statistics may still be reading the rows that have gone, so that their memory is not free yet.
  private void insertSoon(int from, int to) {
    Await.until("room for the rows", () -> isInserted(from, to));
  }

  private boolean isInserted(int from, int to) {
    try {
      insert(from, to);
      return true;
    } catch (EngineException full) {
      assertEquals("53200", full.code().sqlstate(), full.getMessage());
      return false;
    }
  }

  private void assertFull(String statement) {
    EngineException full = assertThrows(EngineException.class, () -> engine.run(statement));
    assertEquals("53200", full.code().sqlstate(), full.getMessage());
  }

  /// As full as rows of every size can make it.
  private int fill() {
    int rows = 0;
    for (int step = 4096; step > 0; step /= 8) {
      try {
        while (true) {
          insert(rows + 1, rows + step);
          rows += step;
        }
      } catch (EngineException full) {
        assertEquals("53200", full.code().sqlstate());
      }
    }
    return rows;
  }

  private void assertRows(long count) {
    assertEquals(List.of(Long.toString(count)), engine.query("select count(*) from t"));
    assertEquals(
        List.of(Long.toString(count)),
        engine.query("select count(*) from t where id > 0 and length(v) >= 0"));
  }

  private long memory(String column) {
    return Long.parseLong(
        engine.query("select " + column + " from kakehashi_catalog.memory").getFirst());
  }

  private void awaitUsedBelow(long bytes) {
    Await.until("less than %d bytes are used".formatted(bytes), () -> memory("used_bytes") < bytes);
  }

  @Test
  void shouldGiveBackTheMemoryOfStatementsThatFailed() {
    insert(1, 8_000);
    long used = memory("used_bytes");
    assertFull("insert into t select i, repeat('x', 200) from generate_series(8001, 100000) i");
    assertFull("insert into t select i, '' from generate_series(8001, 1000000) i");
    assertFull("update t set v = v || repeat('y', 1000)");
    engine.run("create table wide (a int, b text)");
    assertFull("insert into wide select i, repeat('z', 20000) from generate_series(1, 3000) i");
    assertRows(8_000);
    // The collector frees what failed statements have taken.
    awaitUsedBelow(used + (2 << 20));
    assertTrue(memory("reserved_bytes") <= LIMIT);
    // A third of the memory serves every size again.
    engine.run("update t set v = repeat('y', 300) where id <= 4000");
    engine.run("insert into wide select i, repeat('z', 20000) from generate_series(1, 100) i");
    engine.run("create index by_value on t (v)");
    engine.run("delete from t where id <= 4000");
    assertRows(4_000);
  }

  @Test
  void shouldDeleteAtTheLimit() {
    int rows = fill();
    assertFull("insert into t select i, repeat('x', 200) from generate_series(1000001, 1004096) i");
    engine.run("delete from t where id <= 4000");
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "select id from t where id between 4001 and 5000 for update");
    engine.run(transaction, "delete from t where id between 4001 and 8000");
    engine.rollback(transaction);
    assertRows(rows - 4000);
    insertSoon(1, 3000);
    assertRows(rows - 1000);
    engine.run("truncate t");
    insertSoon(1, 20_000);
    assertRows(20_000);
  }

  @Test
  void shouldDeleteAfterARestartAtTheLimit() {
    int rows = fill();
    reopen(LIMIT);
    assertRows(rows);
    engine.run("delete from t where id <= 4000");
    assertRows(rows - 4000);
    // With less memory than the rows have.
    reopen(LIMIT / 2);
    assertRows(rows - 4000);
    assertFull("insert into t select i, repeat('x', 200) from generate_series(1, 4000) i");
    engine.run("delete from t where id <= 8000");
    assertRows(rows - 8000);
    engine.run("drop table t");
    // Statistics may still be reading it.
    awaitUsedBelow(LIMIT / 4);
    engine.run("create table t (id int primary key, v text)");
    insert(1, 10_000);
    assertRows(10_000);
  }

  @Test
  void shouldTakeMoreMemoryAtOnce() {
    int rows = fill();
    engine.engine.limits(2 * LIMIT, 256L << 20, 1L << 30, 0);
    assertEquals(2 * LIMIT, memory("limit_bytes"));
    insert(rows + 1, rows + 10_000);
    assertRows(rows + 10_000);
  }
}
