package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.testing.KilledProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Values of sequences: never the same twice, whatever becomes of transactions, threads and processes.
final class SequenceTest {
  private static final int KILLS = Integer.getInteger("kakehashi.kills", 10) / 5;
  private static final int MOST_ACKNOWLEDGED_BEFORE_KILL = 200;

  @TempDir Path directory;

  @Test
  void shouldNotGiveBackValuesButUndoDefinitionsAndRestarts() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create sequence s");
      EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
      assertEquals(List.of("1"), engine.run(transaction, "select nextval('s')").rows());
      engine.run(transaction, "create sequence mine start 7");
      assertEquals(List.of("7"), engine.run(transaction, "select nextval('mine')").rows());
      engine.rollback(transaction);
      assertEquals(List.of("2"), engine.query("select nextval('s')"));
      assertState("42P01", () -> engine.query("select nextval('mine')"));
      EngineTransaction restarting = engine.begin(Isolation.READ_COMMITTED);
      engine.run(restarting, "alter sequence s restart with 100");
      assertEquals(List.of("100"), engine.run(restarting, "select nextval('s')").rows());
      engine.rollback(restarting);
      assertEquals(List.of("3"), engine.query("select nextval('s')"));
      EngineTransaction reader =
          engine.engine.begin(
              new BeginOptions(BeginOptions.Kind.RTX, Isolation.REPEATABLE_READ, "reader"));
      assertState("25006", () -> engine.run(reader, "select nextval('s')"));
      engine.rollback(reader);
      assertState("55000", () -> engine.other().query("select currval('s')"));
      assertEquals(
          List.of("s|1|3"),
          engine.query(
              "select sequence_name, increment_by, last_value from kakehashi_catalog.sequences"));
    }
    try (TestEngine engine = new TestEngine(directory)) {
      assertTrue(Long.parseLong(engine.query("select nextval('s')").getFirst()) > 3);
    }
  }

  @Test
  void shouldKeepWhatATransactionTakesAfterItsOwnRestart() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (id serial primary key, n int)");
      engine.run("insert into t (n) values (1), (2)");
      EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
      engine.run(transaction, "truncate t restart identity");
      engine.run(transaction, "insert into t (n) values (10), (20), (30)");
      engine.commit(transaction);
      assertEquals(List.of("1", "2", "3"), engine.query("select id from t order by id"));
    }
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("insert into t (n) values (40)");
      assertEquals(List.of("4"), engine.query("select count(*) from t"));
    }
  }

  private static void assertState(String sqlstate, org.junit.jupiter.api.function.Executable call) {
    assertEquals(sqlstate, assertThrows(EngineException.class, call).code().sqlstate());
  }

  @Test
  void shouldGiveEveryClientItsOwnValues() throws Exception {
    int threads = 4;
    int values = 200;
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create sequence s cache 10");
      Set<String> seen = ConcurrentHashMap.newKeySet();
      List<Thread> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        TestEngine.Other client = engine.other();
        Thread thread =
            new Thread(() -> {
              for (int v = 0; v < values; v++) {
                seen.addAll(client.query("select nextval('s')"));
              }
            });
        running.add(thread);
        thread.start();
      }
      for (Thread thread : running) {
        thread.join();
      }
      assertEquals(threads * values, seen.size());
      assertEquals(
          List.of(String.valueOf(threads * values + 1)), engine.query("select nextval('s')"));
    }
  }

  @Test
  @Timeout(3600)
  void shouldNotRepeatAValueOfAStoredCommitAfterAKill() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int round = 0; round < KILLS; round++) {
      boolean byQueries = round % 2 == 1;
      List<String> acknowledged =
          KilledProcess.run(
              Taker.class,
              1 + random.nextInt(MOST_ACKNOWLEDGED_BEFORE_KILL),
              directory.toString(),
              String.valueOf(byQueries));
      try (TestEngine engine = new TestEngine(directory)) {
        String last = acknowledged.getLast();
        if (byQueries) {
          long next = Long.parseLong(engine.query("select nextval('plain')").getFirst());
          assertTrue(next > Long.parseLong(last), () -> next + " after " + last);
        } else {
          assertEquals(List.of("1"), engine.query("select count(*) from taken where id = " + last));
        }
        // The key would refuse a value that was given before.
        engine.run("insert into taken default values");
      }
    }
  }

  /// The process that is killed.
  static final class Taker {
    private Taker() {}

    public static void main(String[] arguments) {
      try (TestEngine engine = new TestEngine(Path.of(arguments[0]))) {
        if (engine
            .query("select 1 from kakehashi_catalog.tables where table_name = 'taken'")
            .isEmpty()) {
          engine.run(
              "create table taken (id bigint generated always as identity primary key, n int)");
          engine.run("create sequence plain");
        }
        // In the second case nothing else makes the log flush, and every value has a record of its
        // own.
        String sql =
            Boolean.parseBoolean(arguments[1])
                ? "select setval('plain', nextval('plain'))"
                : "insert into taken (n) values (1) returning id";
        while (true) {
          KilledProcess.acknowledge(stored(engine, sql));
        }
      }
    }

    private static String stored(TestEngine engine, String sql) {
      EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
      String value = engine.run(transaction, sql).rows().getFirst();
      CompletableFuture<Boolean> done = new CompletableFuture<>();
      transaction.commit(
          EngineTransaction.CommitResponse.STORED, failure -> done.complete(failure == null));
      assertTrue(TestEngine.await(done));
      return value;
    }
  }
}
