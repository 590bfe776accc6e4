package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.error.EngineException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// COPY ... FROM in the transaction of its caller.
class LoadTest {
  private final MemoryFiles files = new MemoryFiles();
  private TestEngine test;

  @BeforeEach
  void open(@TempDir Path directory) {
    test = new TestEngine(directory);
    test.engine.bulkAccess(files);
  }

  @AfterEach
  void close() {
    test.close();
  }

  private String load(String sql) {
    return test.query(sql).getFirst();
  }

  @Test
  void shouldLoadRowsAndSayHowMany() {
    test.run("create table t (a int primary key, b text)");
    files.put("in:x", "1|one", "2|NULL", "3|three");
    TestEngine.Result result = test.run("copy t from 'in:x'");
    assertEquals(3, result.count());
    assertEquals(List.of("3|3|0|0|NULL|NULL"), result.rows());
    assertEquals(List.of("1|one", "2|NULL", "3|three"), test.query("select * from t order by a"));
  }

  @Test
  void shouldCompleteRowsAsInsertDoes() {
    test.run(
        "create table t (id int generated always as identity, a int, d text default 'x' || 'y',"
            + " g int generated always as (a * 2) stored)");
    files.put("in:x", "5", "6", "7");
    assertEquals("3|3|0|0|NULL|NULL", load("copy t (a) from 'in:x'"));
    assertEquals(
        List.of("1|5|xy|10", "2|6|xy|12", "3|7|xy|14"), test.query("select * from t order by id"));
    files.put("in:y", "30|9");
    load("copy t from 'in:y' (columns (id, a))");
    assertEquals(List.of("30|9|xy|18"), test.query("select * from t where id = 30"));
  }

  @Test
  void shouldFilterByConditionOnCompleteRows() {
    test.run("create table t (a int, b int default 3)");
    files.put("in:x", "1", "2", "3", "4");
    assertEquals(
        "4|2|0|2|NULL|NULL", load("copy t (a) from 'in:x' where a >= b and a is not null"));
    assertEquals(List.of("3|3", "4|3"), test.query("select * from t order by a"));
  }

  @Test
  void shouldLoadManyRowsInParallelAsTheyAre() {
    test.run("create table t (a int primary key, b text, c float8, check (a >= 0))");
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      lines.add(i + "|text " + i + "|" + i / 8.0);
    }
    files.put("in:x", lines);
    assertEquals("20000|20000|0|0|NULL|NULL", load("copy t from 'in:x'"));
    assertEquals(
        List.of("20000|199990000|20000"),
        test.query(
            "select count(*), sum(a), count(*) filter (where b = 'text ' || a and c = a / 8.0) from t"));
  }

  @Test
  void shouldUndoAllWhenOneRowIsRefused() {
    test.run("create table t (a int primary key, b int not null)");
    test.run("insert into t values (7, 7)");
    EngineTransaction transaction = test.begin(BeginOptions.Isolation.READ_COMMITTED);
    test.run(transaction, "insert into t values (1, 1)");
    transaction.savepoint(1, failure -> {});
    files.put("in:x", "2|2", "3|3", "7|8", "4|4");
    EngineException refused =
        assertThrows(EngineException.class, () -> test.run(transaction, "copy t from 'in:x'"));
    assertEquals("23505", refused.code().sqlstate());
    assertEquals("line 3", refused.detail());
    transaction.rollbackToSavepoint(1, failure -> {});
    assertEquals(List.of("1", "7"), test.run(transaction, "select a from t order by a").rows());
    test.rollback(transaction);
    files.put("in:y", "2|2", "3|NULL");
    assertState("23502", () -> load("copy t from 'in:y'"));
    files.put("in:z", "2|2", "x|2");
    assertState("22P02", () -> load("copy t from 'in:z'"));
    assertEquals(List.of("7|7"), test.query("select * from t"));
  }

  @Test
  void shouldRejectRowsThatAreRefusedAndLoadTheOthers() {
    test.run("create table p (k int primary key)");
    test.run("insert into p values (1), (2)");
    test.run(
        "create table t (a int primary key, b int not null check (b < 100), p int references p)");
    test.run("insert into t values (3, 3, 1)");
    files.put(
        "in:x",
        "1|1|1",
        "2|NULL|1",
        "3|3|1",
        "x|1|1",
        "5|500|1",
        "6|6|9",
        "7|7|2",
        "1|2|2",
        "8|8|NULL",
        "9|0|1");
    assertEquals(
        "10|3|6|1|in:rejected.csv|NULL", load("copy t from 'in:x' (on_error ignore) where a <> 9"));
    assertEquals(
        List.of("2: 23502", "3: 23505", "4: 22P02", "5: 23514", "6: 23503", "8: 23505"),
        files.rejected);
    assertEquals(
        List.of("1|1|1", "3|3|1", "7|7|2", "8|8|NULL"), test.query("select * from t order by a"));
  }

  @Test
  void shouldRejectOneRowOutOfEachBatchOfMany() {
    test.run("create table t (a int primary key, b int check (b <> 5), c int default 1)");
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      lines.add(i % 977 == 3 ? "1|1" : i + "|" + (i % 1000 == 7 ? 5 : 6));
    }
    files.put("in:x", lines);
    assertEquals(
        "5000|4989|11|0|in:rejected.csv|NULL",
        load("copy t (a, b) from 'in:x' (on_error ignore, step_rows 1500, part_rows 3000)"));
    assertEquals(List.of("4989"), test.query("select count(*) from t where c = 1"));
  }

  @Test
  void shouldEndWhenThereAreTooManyRejectedRows() {
    test.run("create table t (a int primary key)");
    files.put("in:x", "1", "1", "2", "2", "3");
    assertState("23505", () -> load("copy t from 'in:x' (on_error ignore, reject_limit 1)"));
    assertEquals(List.of("0"), test.query("select count(*) from t"));
  }

  @Test
  void shouldLookAtReferencesToItselfWhenAllRowsAreThere() {
    test.run("create table t (a int primary key, up int references t)");
    files.put("in:x", "1|2", "2|3", "3|1");
    load("copy t from 'in:x'");
    assertEquals(List.of("3"), test.query("select count(*) from t"));
    files.put("in:y", "4|4", "5|6", "6|5", "7|8", "9|1");
    assertState("23503", () -> load("copy t from 'in:y'"));
    assertEquals("5|2|3|0|in:rejected.csv|NULL", load("copy t from 'in:y' (on_error ignore)"));
    assertEquals(List.of("2: 23503", "3: 23503", "4: 23503"), files.rejected);
  }

  @Test
  void shouldLookAtDeferrableKeysWhenAllRowsAreThere() {
    test.run("create table t (a int unique deferrable, b int)");
    files.put("in:x", "1|1", "2|2", "1|3");
    assertState("23505", () -> load("copy t from 'in:x'"));
    assertEquals("3|2|1|0|in:rejected.csv|NULL", load("copy t from 'in:x' (on_error ignore)"));
    assertEquals(List.of("1|1", "2|2"), test.query("select * from t order by a"));
  }

  @Test
  void shouldKeepPartialUniqueIndexes() {
    test.run("create table t (a int, b bool)");
    test.run("create unique index on t (a) where b");
    files.put("in:x", "1|t", "1|f", "1|f", "1|t");
    assertState("23505", () -> load("copy t from 'in:x'"));
    assertEquals("4|3|1|0|in:rejected.csv|NULL", load("copy t from 'in:x' (on_error ignore)"));
  }

  @Test
  void shouldWaitForOtherTransactionAndGoOn() {
    test.run("create table t (a int primary key)");
    EngineTransaction other = test.begin(BeginOptions.Isolation.READ_COMMITTED);
    test.run(other, "insert into t values (2)");
    files.put("in:x", "1", "2", "3");
    EngineTransaction own = test.begin(BeginOptions.Isolation.READ_COMMITTED);
    TestEngine.Running running = test.start(own, "copy t from 'in:x'", ExecuteOptions.DEFAULT);
    while (test.query("select count(*) from kakehashi_catalog.waits").equals(List.of("0"))) {
      assertFalse(running.done.isDone());
    }
    test.rollback(other);
    assertEquals(3, running.await().count());
    test.commit(own);
    assertEquals(List.of("1", "2", "3"), test.query("select a from t order by a"));
  }

  @Test
  void shouldRefuseWhatPostgresRefuses() {
    test.run("create table t (a int, g int generated always as (a) stored)");
    test.run("create view v as select 1 as one");
    files.put("in:x", "1");
    assertState("42809", () -> load("copy v from 'in:x'"));
    assertState("42P10", () -> load("copy t (a, g) from 'in:x'"));
    assertState("42P10", () -> load("copy t from 'in:x' where g = 1"));
    assertState("42701", () -> load("copy t (a, a) from 'in:x'"));
    assertState("42703", () -> load("copy t (z) from 'in:x'"));
    assertState("42P01", () -> load("copy none from 'in:x'"));
    assertState("0A000", () -> load("copy t from 'in:x' where a in (select 1)"));
    assertState("42803", () -> load("copy t from 'in:x' where count(*) > 1"));
    assertState("42601", () -> load("copy t from 'in:x' (nonsense)"));
    assertState("58P01", () -> load("copy t from 'in:none'"));
    assertState("0A000", () -> load("copy t from stdin"));
  }

  @Test
  void shouldNeedPrivilegesOfTableAndLocation() {
    test.run("create table t (a int, b int)");
    test.run("create role loader login");
    files.put("in:x", "1");
    TestEngine.Other loader = test.other("loader");
    assertState("42501", () -> loader.run("copy t (a) from 'in:x'"));
    test.run("grant insert (a) on t to loader");
    assertState("42501", () -> loader.run("copy t (a) from 'in:x'"));
    test.run("grant pg_read_server_files to loader");
    assertEquals(1, loader.run("copy t (a) from 'in:x'").count());
    assertState("42501", () -> loader.run("copy t from 'in:x'"));
    assertState("42501", () -> loader.run("copy t (a) from 'in:x' where b is null"));
  }

  @Test
  void shouldNameTheLaterLineOfAKeyThatIsThereTwice() {
    test.run("create table t (a int primary key, b int unique)");
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 6; round++) {
      List<String> lines = new ArrayList<>();
      for (int i = 0; i < 3000; i++) {
        lines.add(2 * i + "|" + i);
      }
      int earlier = random.nextInt(2999);
      int later = earlier + 1 + random.nextInt(2999 - earlier);
      boolean ofFiles = random.nextBoolean();
      if (!ofFiles) {
        test.run("insert into t values (-" + (round + 1) + ", " + later + ")");
      } else if (random.nextBoolean()) {
        lines.set(later, 2 * earlier + "|" + later);
      } else {
        lines.set(later, 2 * later + "|" + earlier);
      }
      files.put("in:x", lines);
      // Rows that the condition leaves out come between, or none.
      String where =
          List.of(
                  "",
                  " where a % 14 <> 6 or a = "
                      + 2 * later
                      + " or b in (%d, %d) or a = %d".formatted(earlier, later, 2 * earlier))
              .get(random.nextInt(2));
      EngineException refused =
          assertThrows(
              EngineException.class,
              () -> load("copy t from 'in:x' (part_rows 700, step_rows 130)" + where));
      assertEquals("23505", refused.code().sqlstate(), () -> "seed " + seed);
      assertEquals("line " + (later + 1), refused.detail(), () -> "seed " + seed);
      test.run("delete from t");
    }
  }

  @Test
  void shouldComputeDefaultsThatValuesStandFor() {
    test.run(
        "create table t (a int primary key, b text default 'none', c int default 7 check (c <> 3),"
            + " d int generated always as (c + 1) stored, e int)");
    files.put("in:x", "1|x|DEFAULT|1", "2|DEFAULT|2|NULL", "3|DEFAULT|DEFAULT|3", "4|NULL|NULL|4");
    assertEquals(
        "4|3|0|1|NULL|NULL",
        load("copy t from 'in:x' where c = 7 or b is distinct from 'x' and a <> 4"));
    assertEquals(
        List.of("1|x|7|8|1", "2|none|2|3|NULL", "3|none|7|8|3"),
        test.query("select * from t order by a"));
    files.put("in:y", "5|x|1|1", "6|x|1|DEFAULT", "7|DEFAULT|DEFAULT|1", "8|DEFAULT|3|1");
    EngineException none = assertThrows(EngineException.class, () -> load("copy t from 'in:y'"));
    assertEquals("22P04", none.code().sqlstate());
    assertEquals("line 2", none.detail());
    assertEquals(
        "4|2|2|0|in:rejected.csv|NULL", load("copy t from 'in:y' (on_error ignore, batch_rows 2)"));
    assertEquals(List.of("2: 22P04", "4: 23514"), files.rejected);
    test.run("create sequence s");
    test.run("create table u (a int default nextval('s'), b int)");
    files.put(
        "in:z",
        IntStream.range(0, 3000).mapToObj(i -> (i % 3 == 0 ? "DEFAULT" : "-1") + "|" + i).toList());
    load("copy u from 'in:z'");
    assertEquals(
        List.of("1000|1000|1000"),
        test.query("select count(*), count(distinct a), max(a) from u where b % 3 = 0 and a > 0"));
    assertEquals(List.of("2000"), test.query("select count(*) from u where a = -1 and b % 3 <> 0"));
  }

  @Test
  void shouldLetFilesLeaveOutWhatTheConditionExcludes() {
    test.run("create table t (a int, b bigint, c date)");
    files.put(
        "in:x", IntStream.range(0, 1000).mapToObj(i -> i + "|" + 2 * i + "|2024-01-01").toList());
    String options = "copy t from 'in:x' (part_rows 100, prune 1%s) where ";
    List<String> conditions =
        List.of(
            "a >= 730",
            "730 <= a and c is not null",
            "b > 1458.0::int and (a > 0 or b is null)",
            "a between 730 and 5000000000");
    for (String condition : conditions) {
      for (String batches : List.of("", ", batch_rows 30", ", on_error ignore")) {
        files.excluded.set(0);
        assertEquals(
            "1000|270|0|730|NULL|NULL", load(options.formatted(batches) + condition), condition);
        assertEquals(7, files.excluded.get(), condition);
      }
    }
    files.excluded.set(0);
    for (String condition :
        List.of("a >= 730 or b < 0", "a + 0 >= 730", "not (a < 730)", "a >= 730.0", "a <> 3")) {
      String loaded = load(options.formatted("") + condition);
      assertTrue(loaded.startsWith("1000|270|0|730") || condition.equals("a <> 3"), condition);
    }
    assertEquals(
        List.of(String.valueOf(12 * 270 + 4 * 270 + 999)), test.query("select count(*) from t"));
  }

  @Test
  void shouldEndWhenCanceled() throws InterruptedException {
    test.run("create table t (a int primary key)");
    files.put("in:x", IntStream.range(0, 5000).mapToObj(String::valueOf).toList());
    EngineTransaction own = test.begin(BeginOptions.Isolation.READ_COMMITTED);
    CountDownLatch reading = new CountDownLatch(1);
    CompletableFuture<Boolean> canceled = new CompletableFuture<>();
    files.beforeBatch =
        () -> {
          reading.countDown();
          canceled.join();
        };
    TestEngine.Running running = test.start(own, "copy t from 'in:x'", ExecuteOptions.DEFAULT);
    reading.await();
    Objects.requireNonNull(running.execution).cancel();
    canceled.complete(true);
    assertState("57014", running::await);
    assertEquals(List.of("0"), test.run(own, "select count(*) from t").rows());
    test.rollback(own);
  }
}
