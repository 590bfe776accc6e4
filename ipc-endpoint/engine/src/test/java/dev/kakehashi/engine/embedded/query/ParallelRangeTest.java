package dev.kakehashi.engine.embedded.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Ranges of indexes that tasks share give what one task gives.
final class ParallelRangeTest {
  private static final int ROWS = 100_000;
  private static final int WORKERS = 4;

  /// Keys that rows are moved to lie below, most of them free.
  private static final int KEYS = 10 * ROWS;

  /// The bounds are parameters: of those nobody knows when the statement is planned that they bound most of the table, whose pages would be
  /// read then.
  private static final List<String> STATEMENTS =
      List.of(
          "select count(*), sum(v), min(t), max(id) from r where id between $1::int8 and $2::int8",
          "select count(*), sum(v) from r where id > $1::int8 and id < $2::int8 and v % 3 = 1",
          "select g, count(*), sum(id) from r where id between $1::int8 and $2::int8 group by g order by g",
          // a key in two columns, the second of them descending, and with nulls
          "select count(*), sum(id), count(v) from r where g = 1 and v between $1::int8 and $2::int8",
          "select count(*), sum(id) from r where g = 2 and v >= $1::int8",
          "select count(*), sum(id) from r where g = 3",
          // texts, by the prefix that all of them share
          "select count(*), sum(id) from r where t between 'a common prefix of all texts ' || $1::int8 and 'a common prefix of all texts ' || $2::int8",
          "select count(*), sum(a.v + b.v) from r a join s b on b.id = a.v where a.id between $1::int8 and $2::int8",
          "select count(*), count(b.id) from r a left join s b on b.id = a.v and b.v > 10 where a.id between $1::int8 and $2::int8",
          "select count(b.id), count(a.id) from s b left join r a on a.v = b.id and a.id between $1::int8 and $2::int8",
          "select count(*), sum(x) from (select id as x from r where id between $1::int8 and $2::int8 union all select v from s) u",
          "select id, v, t from r where id between $1::int8 and $2::int8 order by v nulls first, id limit 50",
          "select count(distinct v) from r where id between $1::int8 and $2::int8",
          "select id from r where id between $1::int8 and $2::int8 order by id limit 20",
          "select id from r where id between $1::int8 and $2::int8 order by id desc limit 20",
          "select max(id), min(id) from r where id between $1::int8 and $2::int8",
          "select count(*) from r a where id between $1::int8 and $2::int8 and exists (select 1 from s b where b.id = a.v)");

  @TempDir Path home;

  private final long seed = Long.getLong("kakehashi.seed", System.nanoTime());

  @Test
  void shouldGiveWhatOneTaskGives() {
    System.out.println("seed of ParallelRangeTest: " + seed);
    Random random = new Random(seed);
    try (TestEngine many = engine("many", WORKERS);
        TestEngine one = engine("one", 1)) {
      for (int round = 0; round < 6; round++) {
        for (String statement : STATEMENTS) {
          // The first round has all rows.
          long low = round == 0 ? 0 : random.nextInt(ROWS);
          long high = round == 0 ? ROWS : low + random.nextInt(ROWS) - 1000;
          Object[] bounds = bounds(statement, low, high);
          assertEquals(
              one.query(statement, bounds),
              many.query(statement, bounds),
              () -> statement + " with " + Arrays.toString(bounds) + ", seed " + seed);
        }
        // Few rows are expected, so that it begins on the thread that asks.
        String bounded = "select count(*), sum(v) from r where id between $1 and $2 and g <> 1";
        long low = round == 0 ? 0 : random.nextInt(ROWS);
        assertEquals(one.query(bounded, low, ROWS), many.query(bounded, low, ROWS));
      }
    }
  }

  /// As many as the statement has parameters.
  private static Object[] bounds(String statement, long low, long high) {
    if (statement.contains("$2")) {
      return new Object[] {low, high};
    }
    return statement.contains("$1") ? new Object[] {low} : new Object[0];
  }

  @Test
  void shouldShareLargeRangesAndLeaveSmallOnesToOneTask() {
    try (TestEngine engine = engine("many", WORKERS)) {
      assertEquals(
          WORKERS, tasks(engine, "select sum(v) from r where id between $1 and $2", 1, 90_000));
      assertEquals(WORKERS, tasks(engine, "select sum(id) from r where g = 3"));
      assertEquals(
          WORKERS,
          tasks(
              engine,
              "select g, count(*) from r where id between $1 and $2 group by g",
              1,
              90_000));
      assertEquals(1, tasks(engine, "select sum(v) from r where id between 1 and 3000"));
      // The bounds say more than what was expected of parameters.
      assertEquals(1, tasks(engine, "select sum(v) from r where id between $1 and $2", 10, 20));
      assertEquals(1, tasks(engine, "select sum(v) from r where id between $1 and $2", 20, 10));
      assertEquals(1, tasks(engine, "select sum(v) from r where id between $1 and $2", 20, null));
      assertEquals(1, tasks(engine, "select sum(v) from r where id = 7"));
      // Statements that need an order, or are to end early.
      assertEquals(
          1,
          tasks(
              engine,
              "select v from r where id between $1 and $2 order by id limit 10",
              1,
              90_000));
      assertEquals(
          1, tasks(engine, "select v from r where id between $1 and $2 limit 10", 1, 90_000));
      assertEquals(
          1,
          tasks(
              engine,
              "select v from r where id between $1 and $2 order by id desc limit 10",
              1,
              90_000));
      assertEquals(
          1, tasks(engine, "select v from r where id between $1 and $2 for update", 1, 90_000));
    }
  }

  /// How often the scan of the index was begun.
  private static int tasks(TestEngine engine, String sql, @Nullable Object... parameters) {
    String plan =
        String.join(
            "\n", engine.query("explain (analyze, costs off, timing off) " + sql, parameters));
    int scan = plan.indexOf("Index Scan");
    assertTrue(scan >= 0, plan);
    String loops = plan.substring(plan.indexOf("loops=", scan) + "loops=".length());
    return Integer.parseInt(loops.substring(0, loops.indexOf(')')));
  }

  /// Keys move while they are read, within the ranges of the tasks and from one to another, and leaves split: as of one snapshot each row
  /// is there once.
  @Test
  void shouldReadEachRowOnceBesideWriters() throws Exception {
    System.out.println("seed of ParallelRangeTest: " + seed);
    try (TestEngine engine = engine("many", WORKERS);
        ExecutorService executor = Executors.newFixedThreadPool(2)) {
      String sums = "select count(*), sum(v), count(v) from r where id between 0 and $1";
      String groups =
          "select count(*), sum(rows), sum(v * rows) from (select v, count(*) as rows from r where id between 0 and $1 group by v) g";
      List<String> expectedSums = engine.query(sums, 2_000_000);
      List<String> expectedGroups = engine.query(groups, 2_000_000);
      AtomicBoolean stop = new AtomicBoolean();
      List<Future<Integer>> writers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Random random = new Random(seed + i);
        TestEngine.Other client = engine.other();
        writers.add(executor.submit(() -> move(engine, client, random, stop)));
      }
      try {
        for (int round = 0; round < 20; round++) {
          assertEquals(expectedSums, engine.query(sums, 2_000_000), "seed " + seed);
          assertEquals(expectedGroups, engine.query(groups, 2_000_000), "seed " + seed);
        }
      } finally {
        stop.set(true);
      }
      for (Future<Integer> writer : writers) {
        assertTrue(writer.get(60, TimeUnit.SECONDS) > 0, "nothing was written");
      }
    }
  }

  /// Moves rows to keys near or far.
  private static int move(
      TestEngine engine, TestEngine.Other client, Random random, AtomicBoolean stop) {
    int moved = 0;
    while (!stop.get()) {
      int from = random.nextInt(KEYS);
      int to = random.nextInt(KEYS);
      EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
      try {
        client.run(
            transaction,
            "update r set id = id + %d where id between %d and %d"
                .formatted(to - from, from, from + 50));
        engine.commit(transaction);
        moved++;
      } catch (EngineException e) {
        engine.rollback(transaction);
        if (e.code() != ErrorCode.UNIQUE_VIOLATION && e.code() != ErrorCode.SERIALIZATION_FAILURE) {
          throw e;
        }
      }
    }
    return moved;
  }

  /// Reads of tasks in parts count as reads of their transaction, also where there was no row.
  @Test
  void shouldRefuseToCommitWhenAPartOfTheRangeHasChanged() {
    try (TestEngine engine = engine("many", WORKERS)) {
      for (String change :
          List.of(
              "insert into r values (-5, 0, 1, 'x')",
              "update r set v = v + 1 where id = 70001",
              "delete from r where id = 99999",
              "update r set id = -id where id = 40000")) {
        EngineTransaction reader = engine.begin(Isolation.SERIALIZABLE);
        readRange(engine, reader, 99_999);
        engine.run(reader, "insert into s values ((select max(id) + 1 from s), 0)");
        // Comes after the reader, whose row it has missed: and would have to come before it, too.
        EngineTransaction other = engine.begin(Isolation.SERIALIZABLE);
        engine.run(other, "select max(id) from s");
        engine.run(other, change);
        engine.commit(other);
        TestEngine.assertState("40001", () -> engine.commit(reader));
      }
      EngineTransaction reader = engine.begin(Isolation.SERIALIZABLE);
      readRange(engine, reader, 90_000);
      engine.run(reader, "insert into s values ((select max(id) + 1 from s), 0)");
      engine.run("update r set v = v + 1 where id = 90001");
      engine.commit(reader);
    }
  }

  private static void readRange(TestEngine engine, EngineTransaction reader, long end) {
    Statement statement = engine.prepare("select sum(v) from r where id between -10 and $1");
    assertEquals(1, engine.execute(reader, statement, new Object[][] {{end}}).rows().size());
  }

  @Test
  void shouldEndWhereverTheTasksAre() {
    long held = VarHeap.heldBytes();
    try (TestEngine engine = engine("many", WORKERS)) {
      String sql =
          "select sum(length(repeat(t, 20))), count(distinct t) from (select t from r where g = 1 group by t, v) q";
      List<String> expected = engine.query(sql);
      int late = 0;
      for (int i = 1; i <= 20; i++) {
        try {
          assertEquals(expected, engine.queryWithin(TimeUnit.MILLISECONDS.toNanos(2L * i), sql));
        } catch (EngineException e) {
          assertEquals(ErrorCode.QUERY_CANCELED, e.code(), e.toString());
          late++;
        }
      }
      assertTrue(late > 0, "no statement took as long as 2 ms");
      assertEquals(expected, engine.query(sql));
      TestEngine.awaitHeld(held);
    }
  }

  /// A row that fails ends the statement, whichever task comes to it, and a prepared statement is as good as new afterwards.
  @Test
  void shouldFailOnceAndRunAgain() {
    try (TestEngine engine = engine("many", WORKERS)) {
      Statement statement =
          engine.prepare("select sum(1000 / (id - $1)) from r where id between 1 and $2");
      EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
      for (int failing : new int[] {1, 45_000, 90_000}) {
        TestEngine.assertState(
            "22012",
            () -> engine.execute(transaction, statement, new Object[][] {{failing, 90_000}}));
        assertEquals(
            1,
            engine
                .execute(transaction, statement, new Object[][] {{-failing, 90_000}})
                .rows()
                .size());
      }
      engine.rollback(transaction);
      TestEngine.assertState(
          "22012", () -> engine.query("select sum(v) from r where id between 1 / $1 and 90000", 0));
    }
  }

  private TestEngine engine(String name, int workers) {
    TestEngine engine = new TestEngine(home.resolve(name), workers, 1L << 30, 256L << 20, 1L << 30);
    engine.run("create table r (id int8 primary key, g int4, v int8, t text)");
    engine.run("create index r_gv on r (g, v desc)");
    engine.run("create index r_t on r (t)");
    engine.run("create table s (id int8 primary key, v int8)");
    engine.run(
        "insert into r select i, i % 4, case when i % 11 = 0 then null else i * 7 % 50021 end, "
            + "'a common prefix of all texts ' || i * 3 % 70009 from generate_series(1, "
            + ROWS
            + ") as i");
    engine.run("insert into s select i * 3, i from generate_series(1, 20000) as i");
    engine.run("analyze");
    return engine;
  }
}
