package dev.kakehashi.engine.embedded.query;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.embedded.EngineCheck;
import dev.kakehashi.engine.embedded.TestEngine;
import dev.kakehashi.engine.store.CheckReport;
import dev.kakehashi.engine.store.api.StoreConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Partial indexes: which queries use them, what is left of them after a restart, and building them beside writers. Cases of one client are
/// in `partial-indexes.sql`, unique ones under several clients are in [UniqueKeyStressTest].
final class PartialIndexTest {
  private static final int CLIENTS = 3;
  private static final int ROWS = 300;

  @TempDir Path directory;

  private static String plan(TestEngine engine, String query) {
    return String.join("\n", engine.query("explain " + query));
  }

  private static void assertUsed(boolean used, TestEngine engine, String query) {
    String plan = plan(engine, query);
    assertEquals(used, plan.contains("t_live"), plan);
  }

  private CheckReport check() {
    CheckReport found = new CheckReport();
    EngineCheck.run(new StoreConfig(directory, 1L << 28), found);
    return found;
  }

  @Test
  void shouldBeUsedByQueriesThatImplyThePredicate() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int, gone date, kind text, n int)");
      engine.run(
          "create index t_live on t (k) where gone is null and kind = 'a' and n is not null");
      assertUsed(
          true, engine, "select * from t where k = 1 and gone is null and kind = 'a' and n = 5");
      assertUsed(
          true, engine, "select k from t where n > 5 and 'a' = kind and gone is null and k = 1");
      assertUsed(
          true,
          engine,
          "update t set k = 2 where k = 1 and gone is null and kind = 'a' and n is not null");
      assertUsed(false, engine, "select * from t where k = 1 and gone is null and kind = 'a'");
      assertUsed(
          false, engine, "select * from t where k = 1 and gone is null and kind = 'b' and n = 5");
      assertUsed(
          false,
          engine,
          "select * from t where k = 1 and (gone is null or n = 1) and kind = 'a' and n = 5");
      assertUsed(false, engine, "select * from t where k = 1");
    }
  }

  @Test
  void shouldBeUsedByQueriesWhoseValuesImplyThePredicate() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int, n int, kind text)");
      engine.run("create index t_live on t (k) where n > 5 and kind <> 'none'");
      assertUsed(true, engine, "select * from t where k = 1 and n > 6 and kind = 'a'");
      assertUsed(true, engine, "select * from t where k = 1 and 6 <= n and kind > 'none'");
      assertUsed(true, engine, "select * from t where k = 1 and n = 8 and kind < 'm'");
      assertUsed(false, engine, "select * from t where k = 1 and n >= 5 and kind = 'a'");
      assertUsed(false, engine, "select * from t where k = 1 and n > 6 and kind >= 'none'");
      assertUsed(false, engine, "select * from t where k = 1 and n < 9 and kind = 'a'");
    }
  }

  @Test
  void shouldNotOrderRowsThatItHasNot() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int not null, live boolean)");
      engine.run("create index t_live on t (k) where live");
      engine.run("insert into t select g, g % 2 = 0 from generate_series(1, 100) g");
      assertEquals(List.of("1", "2"), engine.query("select k from t order by k limit 2"));
      assertUsed(true, engine, "select k from t where live order by k limit 2");
      assertEquals(
          List.of("2", "4"), engine.query("select k from t where live order by k limit 2"));
    }
  }

  @Test
  void shouldBeTheSameAfterARestart() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (gone int, k int, kind text, n numeric)");
      engine.run("create unique index t_live on t (k) where kind = 'a' and n >= 1.5");
      engine.run("alter table t drop column gone");
      engine.run("insert into t select g, 'a', 2 from generate_series(1, 1000) g");
      engine.run("insert into t select g, 'b', 2 from generate_series(1, 1000) g");
      engine.run("insert into t select g, 'a', 1 from generate_series(1, 1000) g");
      engine.run("delete from t where k > 900 and kind = 'a'");
      EngineTransaction prepared = engine.begin(Isolation.READ_COMMITTED);
      engine.run(prepared, "insert into t values (2000, 'a', 2), (2000, 'b', 2)");
      engine.run(prepared, "update t set kind = 'a' where kind = 'b' and k = 950");
      TestEngine.awaitEnd(done -> engine.session.prepare(prepared, "1", done));
    }
    CheckReport found = check();
    assertEquals(List.of(), found.problems);
    assertTrue(
        found.checked.stream().anyMatch(each -> each.contains("index \"t_live\": 902 entries")),
        found.checked.toString());
    try (TestEngine engine = new TestEngine(directory)) {
      assertState("23505", () -> engine.run("insert into t values (5, 'a', 1.5)"));
      engine.run("insert into t values (5, 'a', 1.4), (901, 'a', 1.5)");
      assertState("23505", () -> engine.run("update t set n = 2 where k = 5"));
      assertEquals(
          List.of("5"), engine.query("select k from t where k = 5 and kind = 'a' and n >= 1.5"));
      // The extension asks by which columns rows are found cheaply.
      assertEquals(
          List.of(),
          engine.query(
              "SELECT \"column_name\" FROM \"kakehashi_catalog\".\"indexes\" WHERE \"table_schema\" = $1"
                  + " AND \"table_name\" = $2 AND \"key_position\" = 1 AND NOT \"is_partial\"",
              "public",
              "t"));
      assertEquals(
          List.of("t"),
          engine.query(
              "select is_partial from kakehashi_catalog.indexes where index_name = 't_live'"));
    }
  }

  @Test
  void shouldBeBuiltBesideWriters() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of PartialIndexTest: " + seed);
    try (TestEngine engine = new TestEngine(directory);
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      engine.run("create table t (id int primary key, k int, live boolean)");
      engine.run("insert into t select g, g, g % 2 = 0 from generate_series(1, " + ROWS + ") g");
      AtomicBoolean stop = new AtomicBoolean();
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Random random = new Random(seed + i);
        TestEngine.Other client = engine.other();
        running.add(clients.submit(() -> change(client, random, stop)));
      }
      try {
        for (int i = 0; i < 10; i++) {
          built(engine, "create index t_live_%d on t (k) where live".formatted(i));
          built(engine, "create unique index t_key_%d on t (id) where live".formatted(i));
        }
      } finally {
        stop.set(true);
      }
      for (Future<Void> each : running) {
        each.get(120, TimeUnit.SECONDS);
      }
      assertEquals(
          engine.query("select count(*) from t where live and k + 0 between 10 and 200"),
          engine.query("select count(*) from t where live and k between 10 and 200"));
    }
    assertEquals(List.of(), check().problems, "seed " + seed);
  }

  /// Until it does not give way to a writer.
  private static void built(TestEngine engine, String definition) {
    while (true) {
      try {
        engine.run(definition);
        return;
      } catch (EngineException conflict) {
        if (!conflict.code().sqlstate().startsWith("40")) {
          throw conflict;
        }
      }
    }
  }

  private static Void change(TestEngine.Other client, Random random, AtomicBoolean stop) {
    while (!stop.get()) {
      int id = 1 + random.nextInt(ROWS);
      try {
        client.query(
            switch (random.nextInt(3)) {
              case 0 -> "update t set live = not live where id = " + id;
              case 1 -> "update t set k = %d where id = %d".formatted(random.nextInt(ROWS), id);
              default -> "update t set k = k + 1, live = k % 2 = 0 where id = " + id;
            });
      } catch (EngineException conflict) {
        if (!conflict.code().sqlstate().startsWith("40")) {
          throw conflict;
        }
      }
    }
    return null;
  }
}
