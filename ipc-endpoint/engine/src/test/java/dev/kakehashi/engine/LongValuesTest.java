package dev.kakehashi.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.TestEngine.Running;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.Transaction;
import dev.kakehashi.engine.api.TransactionOptions.Isolation;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Values that are computed for the rows of a batch take a bounded memory, however long they are, and are the same as those that are computed for all at once.
final class LongValuesTest {
  private static final int ROWS = 3000;

  @TempDir Path directory;
  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory);
    engine.run("create table t (id int primary key, v text)");
    engine.run("insert into t select i, 'v' || i % 10 from generate_series(1, 3000) i");
    engine.run("create sequence s");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /// Most native memory that heaps hold while a statement runs, more than before.
  private long peakBytes(String sql) {
    Transaction transaction = engine.begin(Isolation.READ_COMMITTED);
    long before = VarHeap.heldBytes();
    long most = before;
    Running running = engine.start(transaction, sql, ExecuteOptions.of(true, 0, 0, 0));
    while (!running.done.isDone()) {
      most = Math.max(most, VarHeap.heldBytes());
      Thread.onSpinWait();
    }
    running.await();
    engine.commit(transaction);
    return most - before;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select sum(length(repeat(v, 100000))) from t",
        "select count(*) from t where length(repeat(v, 100000)) > 5",
        "select count(*) from t a join (values ('v1')) b(v) on length(repeat(a.v || b.v, 50000)) > 5",
        "select sum(length(r)) from (select repeat(v, 100000) r, nextval('s') from t offset 0) q",
        "select sum(length(w)) from (values (repeat(repeat('x', 200000) || ' ', 1000))) x(l), regexp_split_to_table(l, ' ') w"
      })
  void shouldTakeLittleMemoryForManyLongValues(String sql) {
    // Of two tasks, each with a batch that is computed and one that it comes from; a value may be a
    // heap's last block.
    long bound =
        2 * 3 * VectorBatch.COMPUTED_BYTES + (256L << 20) * (sql.contains("split") ? 2 : 0);
    long peak = peakBytes(sql);
    assertTrue(peak < bound, sql + ": " + peak + " bytes");
  }

  /// Changes keep the record of what they write, so they are of values that are computed and not kept.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "update t set v = length(repeat(v, 100000))::text",
        "insert into g select id, v from t"
      })
  void shouldTakeLittleMemoryForWhatAChangeComputes(String sql) {
    engine.run(
        "create table g (id int primary key, v text, l int generated always as (length(repeat(v, 100000))) stored)");
    long peak = peakBytes(sql);
    assertTrue(peak < 6 * VectorBatch.COMPUTED_BYTES, sql + ": " + peak + " bytes");
    assertEquals(
        List.of(ROWS + "|200000|200000"),
        engine.query(
            sql.startsWith("update")
                ? "select count(*), min(v::int), max(v::int) from t"
                : "select count(*), min(l), max(l) from g"));
  }

  @Test
  void shouldChangeRowsWithLongValuesAsThoseWithShortOnes() {
    engine.run("update t set v = repeat(v, case when id % 100 = 0 then 100000 else 1 end)");
    assertEquals(
        List.of("30|2970"),
        engine.query(
            "select count(*) filter (where length(v) = 200000), count(*) filter (where length(v) = 2) from t"));
    assertEquals(
        List.of("100|200001", "101|3", "102|3"),
        engine.query(
            "update t set v = v || '!' where id between 1 and 102 and id >= 100 returning id, length(v)"));
    assertEquals(
        "22012",
        assertThrows(
                EngineException.class,
                () -> engine.run("update t set v = repeat(v, 1000 / (id - 2500))"))
            .code()
            .sqlstate());
    assertEquals(List.of("30"), engine.query("select count(*) from t where length(v) >= 200000"));
  }

  @Test
  void shouldComputeWhatItComputesForRowsOfOrdinaryLength() {
    assertEquals(
        List.of(ROWS + "|" + 2L * 200_000 * ROWS),
        engine.query("select count(*), sum(length(repeat(v, 200000))) from t"));
    assertEquals(
        List.of("300"),
        engine.query("select count(*) from t where repeat(v, 50000) = repeat('v3', 50000)"));
    // One long value among short ones, wherever it stands.
    assertEquals(
        IntStream.rangeClosed(1, ROWS)
            .mapToObj(i -> i + "|" + (i % 700 == 0 ? 20_000_000 : 2))
            .toList(),
        engine.query(
            "select id, length(repeat(v, case when id % 700 = 0 then 10000000 else 1 end)) from t order by id"));
  }

  @Test
  void shouldTakeEachValueOfASequenceOnce() {
    assertEquals(
        IntStream.rangeClosed(1, 2000).mapToObj(i -> i + "|50000").toList(),
        engine.query(
            "select nextval('s'), length(repeat('x', 50000)) from generate_series(1, 2000)"));
  }

  @Test
  void shouldAskAVolatileConditionOnceForEachRow() {
    int chosen =
        Integer.parseInt(
            engine
                .query(
                    "select count(*) from t where random() < 0.5 and length(repeat(v, 20000)) > 5")
                .getFirst());
    // Seven standard deviations about the mean; a quarter of the rows if it were asked twice.
    assertTrue(Math.abs(chosen - ROWS / 2) < 7 * 27.4, "rows chosen: " + chosen);
  }

  @Test
  void shouldHandOnTheRowsBeforeOneThatFails() {
    String sql =
        "select id, length(repeat(v, 100000)), 1 / (id - 1500) from t where id between 1 and 3000";
    Transaction transaction = engine.begin(Isolation.READ_COMMITTED);
    Running running = engine.start(transaction, sql, ExecuteOptions.of(true, 0, 0, 0));
    assertEquals("22012", assertThrows(EngineException.class, running::await).code().sqlstate());
    engine.rollback(transaction);
    assertEquals(
        List.of("1499|200000|-1"), engine.query(sql + " limit 1 offset 1498"), "in order of id");
  }

  @Test
  void shouldNotKeepTheRowsOfALongSeries() {
    assertEquals(
        List.of("1", "2", "3"), engine.query("select generate_series(1, 1000000000000) limit 3"));
    assertEquals(
        List.of("1|1", "1|2"),
        engine.query(
            "select 1, i from (values (1)) v(x), generate_series(1, 1000000000000) i limit 2"));
    assertEquals(
        List.of("7|1", "7|2", "7|3"),
        engine.query(
            "select x, generate_series(1, 1000000000000) from (values (7), (8)) v(x) limit 3"));
    assertEquals(
        List.of("4000"),
        engine.query(
            "select count(*) from (select x, generate_series(1, 2000) from (values (7), (8)) v(x)) q"));
  }

  @Test
  void shouldStillJoinWhatStandsAboveALongSeries() {
    List<String> plan =
        engine.query(
            "explain select d, (select count(*) from t o where length(o.v) = d) from (select generate_series(1, 2000) d) s");
    assertTrue(plan.stream().noneMatch(line -> line.contains("Correlated Join")), plan.toString());
  }

  @Test
  void shouldGiveTheRowsOfASeriesForEachRowInTurn() {
    for (int count : new int[] {3, 2000}) {
      assertEquals(
          IntStream.of(7, 8)
              .boxed()
              .flatMap(x -> IntStream.rangeClosed(1, count).mapToObj(i -> x + "|" + i))
              .toList(),
          engine.query("select x, generate_series(1, " + count + ") from (values (7), (8)) v(x)"));
    }
  }
}
