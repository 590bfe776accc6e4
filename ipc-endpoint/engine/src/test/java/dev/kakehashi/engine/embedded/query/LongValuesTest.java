package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.EngineCheck;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.embedded.TestEngine.Running;
import dev.kakehashi.engine.store.CheckReport;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Values that are computed for the rows of a batch take a bounded memory, however long they are, and are the same as those that are
/// computed for all at once.
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

  /// @param peakBytes most native memory that heaps held while it ran, more than before
  private record Measured(long peakBytes, List<String> rows) {}

  private Measured measured(String sql) {
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    Measured ran =
        measured(
            () -> engine.start(transaction, sql, ExecuteOptions.of(true, 0, 0, 0)).await().rows());
    engine.commit(transaction);
    return ran;
  }

  /// On another thread, so that what is done before tasks run is measured, too.
  private static Measured measured(Supplier<List<String>> work) {
    long before = VarHeap.heldBytes();
    long most = before;
    CompletableFuture<List<String>> running = CompletableFuture.supplyAsync(work);
    while (!running.isDone()) {
      most = Math.max(most, VarHeap.heldBytes());
      Thread.onSpinWait();
    }
    return new Measured(most - before, running.join());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select sum(length(repeat(v, 100000))) from t",
        "select count(*) from t where length(repeat(v, 100000)) > 5",
        "select count(*) from t a join (values ('v1')) b(v) on length(repeat(a.v || b.v, 50000)) > 5",
        "select count(*) from t where length(repeat(v, 100000)) > random()",
        "select count(*) from t a join (values ('v1')) b(v) on length(repeat(a.v || b.v, 50000)) > random()",
        "select sum(length(r)) from (select repeat(v, 100000) r, nextval('s') from t offset 0) q",
        "select sum(length(w)) from t, lateral (select repeat(i::text, 200000) w from generate_series(1, t.id % 2 + 1) i limit 1) x",
        "select sum(length(w)) from (values (repeat(repeat('x', 200000) || ' ', 1000))) x(l), regexp_split_to_table(l, ' ') w"
      })
  void shouldTakeLittleMemoryForManyLongValues(String sql) {
    // Memory of two tasks, each with a batch that is computed and one that it comes from; a value
    // may be a heap's last block.
    long bound =
        2 * 3 * VectorBatch.COMPUTED_BYTES + (256L << 20) * (sql.contains("split") ? 2 : 0);
    long peak = measured(sql).peakBytes;
    assertTrue(peak < bound, sql + ": " + peak + " bytes");
  }

  /// Changes keep the record of what they write, so they are of values that are computed and not kept.
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '"',
      value = {
        "update t set v = length(repeat(v, 100000))::text; select count(*), min(v::int), max(v::int) from t",
        "insert into g select id, v from t; select count(*), min(l), max(l) from g",
        "merge into t using t s on t.id = s.id when matched then update set v = length(repeat(s.v, 100000))::text;"
            + " select count(*), min(v::int), max(v::int) from t",
        "merge into g using t on t.id = g.id when not matched then insert values (t.id, t.v);"
            + " select count(*), min(l), max(l) from g",
        "merge into c using t on t.id = c.id when not matched then insert values (t.id, length(repeat(t.v, 100000))::text);"
            + " select count(*), min(v::int), max(v::int) from c",
        "insert into c select id, v from t; select count(*), min(length(v)) * 100000, max(length(v)) * 100000 from c",
        "insert into t select id, v from t on conflict (id) do update set v = length(repeat(excluded.v, 100000))::text;"
            + " select count(*), min(v::int), max(v::int) from t"
      })
  void shouldTakeLittleMemoryForWhatAChangeComputes(String sql, String query) {
    engine.run(
        "create table g (id int primary key, v text, l int generated always as (length(repeat(v, 100000))) stored)");
    engine.run("create table c (id int primary key, v text check (length(repeat(v, 50000)) > 5))");
    long peak = measured(sql).peakBytes;
    assertTrue(peak < 6 * VectorBatch.COMPUTED_BYTES, sql + ": " + peak + " bytes");
    assertEquals(List.of(ROWS + "|200000|200000"), engine.query(query));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "insert into r select id, v from t returning length(repeat(v, 100000))",
        "insert into r select id, v from t on conflict do nothing returning length(repeat(v, 100000))",
        "update t set v = v returning length(repeat(v, 100000))",
        "delete from t returning length(repeat(v, 100000))",
        "merge into t using t s on t.id = s.id when matched then update set v = s.v returning length(repeat(t.v, 100000))",
        "merge into t using t s on t.id = s.id when matched then delete returning length(repeat(t.v, 100000))",
        "insert into r select id, v from t returning length(repeat(v, 100000 + (0 * nextval('s'))::int))",
      })
  void shouldTakeLittleMemoryForWhatReturningComputes(String sql) {
    engine.run("create table r (id int primary key, v text)");
    Measured ran = measured(sql);
    assertTrue(
        ran.peakBytes < 6 * VectorBatch.COMPUTED_BYTES, sql + ": " + ran.peakBytes + " bytes");
    assertEquals(Collections.nCopies(ROWS, "200000"), ran.rows);
  }

  /// They wait in a file, from which no more than some megabytes come back at a time.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "with r as (update t set v = v || '!' returning repeat(v, 20000) w) select count(*), min(length(w)), max(length(w)) from r",
        "select count(*), min(length(w)), max(length(w)) from (select repeat(v, 30000) w from t order by id offset 0) r",
      })
  void shouldTakeLittleMemoryForLongValuesThatAreKept(String sql) {
    engine.close();
    engine = new TestEngine(directory, 2, 1L << 30, 32 << 20, 1L << 30);
    Measured ran = measured(sql);
    assertTrue(
        ran.peakBytes < 6 * VectorBatch.COMPUTED_BYTES, sql + ": " + ran.peakBytes + " bytes");
    assertEquals(List.of(ROWS + "|60000|60000"), ran.rows);
  }

  /// The rows of one batch alone, which are references to one value, are more than the statement may have.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "from (select w, id from t, one where id <= 300 order by id offset 0) q",
        "from (select w, row_number() over (order by id) from t, one where id <= 300) q",
        "from (with c as materialized (select w, id from t, one where id <= 300) select * from c) q",
        "from t join (select w, id from t, one where id <= 300 offset 0) q on q.id = t.id",
        "from (values (1)) a(x) join (select w, id from t, one where id <= 300 offset 0) q on q.id <> a.x - 1"
      })
  void shouldWriteToFilesInTheMiddleOfABatchOfLongValues(String from) {
    engine.close();
    engine = new TestEngine(directory, 2, 1L << 30, 32 << 20, 1L << 30);
    engine.run("create table one (w text)");
    engine.run("insert into one values (repeat('long', 125000))");
    Measured ran = measured("select count(*), min(length(w)), max(length(w)) " + from);
    assertTrue(
        ran.peakBytes < 10 * VectorBatch.COMPUTED_BYTES, from + ": " + ran.peakBytes + " bytes");
    assertEquals(List.of("300|500000|500000"), ran.rows);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "alter table t add check (length(repeat(v, 100000)) = 200000)",
        "alter table t add l int generated always as (length(repeat(v, 100000))) stored",
        "alter table t alter v type int using length(repeat(v, 100000))",
        "alter table t add l int default length(repeat('v1', 100000 + (0 * nextval('s'))::int))"
      })
  void shouldTakeLittleMemoryForWhatADefinitionComputes(String sql) {
    long peak = measured(sql).peakBytes;
    assertTrue(peak < 6 * VectorBatch.COMPUTED_BYTES, sql + ": " + peak + " bytes");
    String column = sql.contains("add l") ? "l" : sql.contains("alter v") ? "v" : "200000";
    assertEquals(
        List.of(ROWS + "|200000|200000"),
        engine.query("select count(*), min(%s), max(%s) from t".formatted(column, column)));
  }

  /// The planner looks at a sample of the column's values.
  @Test
  void shouldTakeLittleMemoryToPlanAConditionOnLongValues() {
    engine.run("analyze t");
    Measured ran =
        measured("select count(*) from t where length(repeat('abcdefgh', id + 100000)) > 800008");
    assertTrue(ran.peakBytes < 6 * VectorBatch.COMPUTED_BYTES, ran.peakBytes + " bytes");
    assertEquals(List.of((ROWS - 1) + ""), ran.rows);
  }

  @Test
  void shouldTakeLittleMemoryToCheckRulesWithLongValues() {
    engine.run("alter table t add check (length(repeat(v, 100000)) = 200000)");
    engine.close();
    CheckReport report = new CheckReport();
    Measured ran =
        measured(() -> {
          EngineCheck.run(new StoreConfig(directory, 1L << 30), report);
          return List.of();
        });
    assertTrue(ran.peakBytes < 6 * VectorBatch.COMPUTED_BYTES, ran.peakBytes + " bytes");
    assertEquals(List.of(), report.problems);
    engine = new TestEngine(directory);
  }

  @Test
  void shouldTakeLittleMemoryForManyRowsOfValues() {
    String values = String.join(", ", Collections.nCopies(600, "(repeat(t.v, 100000))"));
    Measured ran =
        measured(
            "select (select sum(length(w)) from (values " + values + ") x(w)) from t where id = 1");
    assertTrue(ran.peakBytes < 6 * VectorBatch.COMPUTED_BYTES, ran.peakBytes + " bytes");
    assertEquals(List.of("120000000"), ran.rows);
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
  void shouldReturnEachValueOfASequenceOnce() {
    engine.run("create table r (id int primary key)");
    assertEquals(
        IntStream.rangeClosed(1, 2000).mapToObj(i -> i + "|" + i + "|50000").toList(),
        engine.query(
            "insert into r select generate_series(1, 2000) returning id, nextval('s'), length(repeat('x', 50000))"));
    assertEquals(
        List.of("2000|4000|100000"),
        engine.query(
            "with m as (merge into r using (select 1) s on true when matched then update set id = -id - length(repeat('x', 100000))"
                + " returning nextval('s') n, length(repeat('x', 100000)) l) select count(*), max(n), max(l) from m"));
  }

  @Test
  void shouldMergeRowsWithLongValuesAsThoseWithShortOnes() {
    engine.run("create sequence n");
    assertEquals(
        List.of("DELETE|1000|1000|2", "INSERT|500|1000|200000", "UPDATE|2000|2000|200000"),
        engine.query(
            "with m as (merge into t using (select i, 'v' || i % 10 v from generate_series(1, 3500) i) s on t.id = s.i"
                + " when matched and i % 3 = 0 then delete"
                + " when matched then update set v = repeat(s.v, case when i % 100 = 1 then 100000 else 1 end)"
                + " when not matched then insert values (s.i, repeat(s.v, case when nextval('n') % 100 = 0 then 100000 else 2 end))"
                + " returning merge_action() a, t.id, t.v)"
                + " select a, count(*), count(distinct id) * case a when 'INSERT' then 2 else 1 end, max(length(v)) from m group by a order by a"));
    assertEquals(
        List.of("25|2475"),
        engine.query(
            "select count(*) filter (where length(v) = 200000), count(*) filter (where length(v) in (2, 4)) from t"));
    assertEquals(List.of("501"), engine.query("select nextval('n')"));
  }

  @Test
  void shouldReportTheFirstRowThatIsRefused() {
    engine.run("create table c (id int primary key, v int not null check (100000 / v <> 1000))");
    engine.run("insert into c values (7, 1)");
    // In the order of rows: 7 is there, 100 violates, 0 fails.
    assertState("23505", "insert into c select i, 50 - i from generate_series(1, 500) i");
    assertState("23514", "insert into c select i, 108 - i from generate_series(8, 500) i");
    assertState("22012", "insert into c select 17 - i, i - 1 from generate_series(1, 500) i");
    assertState(
        "23514", "insert into c select i, nullif(i + 92, 200) from generate_series(8, 500) i");
    assertState("23502", "insert into c select i, nullif(i, 9) from generate_series(8, 500) i");
    assertState(
        "23514",
        "merge into c using (select i, nullif(i + 92, 200) v from generate_series(8, 500) i) s on c.id = s.i"
            + " when not matched then insert values (s.i, s.v)");
    assertEquals(List.of("7|1"), engine.query("select * from c"));
  }

  private void assertState(String state, String sql) {
    TestEngine.assertState(state, () -> engine.run(sql));
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
    assertEquals(
        List.of("750"),
        engine.query(
            "select count(*) from t where nextval('s') % 4 = 0 and length(repeat(v, 20000)) > 5"));
    // Besides those that the thread that receives statements has drawn before it gave this one to a
    // worker.
    int drawn = Integer.parseInt(engine.query("select nextval('s')").getFirst()) - 1;
    assertTrue(drawn >= ROWS && drawn < 2 * ROWS, "values drawn: " + drawn);
  }

  @Test
  void shouldHandOnTheRowsThatPassAVolatileConditionBeforeItFails() {
    String sql =
        "select id from t where id between 1 and 3000 and random() >= 0 and length(repeat(v, 20000)) / (id - 1500) < 0";
    assertEquals(List.of("1499"), engine.query(sql + " limit 1 offset 1498"), "in order of id");
    assertState("22012", sql);
  }

  @Test
  void shouldHandOnTheRowsBeforeOneThatFails() {
    String sql =
        "select id, length(repeat(v, 100000)), 1 / (id - 1500) from t where id between 1 and 3000";
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
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
