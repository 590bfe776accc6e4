package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Joins with so many rows on both sides that tasks share each step give what one task gives.
final class ParallelJoinTest {
  private static final int ROWS = 150_000;

  private static final List<String> STATEMENTS =
      List.of(
          "select count(*), sum(a.id * b.id % 1009), min(b.t), max(a.t) from a join b on a.k = b.k",
          "select count(*), count(a.id), count(b.id), sum(a.id), sum(b.id) from a full join b on a.k = b.k",
          "select count(*), count(a.id), sum(length(b.t)) from a right join b on a.t = b.t",
          "select count(*), sum(id) from a where not exists (select 1 from b where b.t = a.t)",
          "select count(*), sum(id) from b where k in (select k from a)");

  private static final long PLENTY = 256L << 20;

  /// Each task's share of the rows is larger; those that find room may have ended before others find none.
  private static final long TOO_LITTLE = 12L << 20;

  @TempDir Path home;

  @Test
  void shouldGiveWhatOneTaskGives() {
    try (TestEngine many = engine("many", 4, PLENTY);
        TestEngine one = engine("one", 1, PLENTY)) {
      for (String sql : STATEMENTS) {
        List<String> expected = one.query(sql);
        for (int i = 0; i < 2; i++) {
          assertEquals(expected, many.query(sql), sql);
        }
      }
    }
  }

  @Test
  void shouldGiveWhatOneTaskGivesFromFiles() {
    try (TestEngine many = engine("many", 4, TOO_LITTLE);
        TestEngine one = engine("one", 1, PLENTY)) {
      for (String sql : STATEMENTS) {
        assertEquals(one.query(sql), many.query(sql), sql);
      }
      assertTrue(many.engine.tempSpace().writtenBytes() > 0);
    }
  }

  /// Whatever the tasks are at when the time is over: collecting, hashing, linking, probing.
  @Test
  void shouldEndInEachStep() {
    long held = VarHeap.heldBytes();
    try (TestEngine many = engine("many", 4, PLENTY)) {
      String sql = STATEMENTS.getFirst();
      List<String> expected = many.query(sql);
      long longest = TimeUnit.MILLISECONDS.toNanos(200);
      int late = 0;
      for (long nanos = longest / 40; nanos <= longest; nanos += longest / 40) {
        try {
          assertEquals(expected, many.queryWithin(nanos, sql));
        } catch (EngineException e) {
          assertEquals(ErrorCode.QUERY_CANCELED, e.code(), e.toString());
          late++;
        }
      }
      assertTrue(late > 0, "no statement took as long as 5 ms");
      assertEquals(expected, many.query(sql));
      TestEngine.awaitHeld(held);
    }
  }

  private TestEngine engine(String name, int workers, long statementBytes) {
    TestEngine engine =
        new TestEngine(home.resolve(name), workers, 1L << 30, statementBytes, 1L << 30);
    for (String table : List.of("a", "b")) {
      engine.run("create table " + table + " (id int8 primary key, k int8, t text)");
      engine.run(
          "insert into "
              + table
              + " with recursive s(i) as (select 1::int8 union all select i + 1 from s where i < "
              + ROWS
              + ") select i, case when i % 11 = 0 then null else i * 7 % 120011 end, 'text ' || i * 3 % 140009 from s"
              + ("b".equals(table) ? " where i % 13 <> 0" : ""));
    }
    return engine;
  }
}
