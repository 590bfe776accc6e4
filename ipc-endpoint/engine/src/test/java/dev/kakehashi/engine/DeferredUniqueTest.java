package dev.kakehashi.engine;

import static dev.kakehashi.engine.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.Transaction;
import dev.kakehashi.engine.api.TransactionOptions;
import dev.kakehashi.engine.api.TransactionOptions.Isolation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Deferrable unique keys of several clients. What one client sees is in `deferred-unique.sql`.
final class DeferredUniqueTest {
  private static final int CLIENTS = 4;
  private static final int TRANSACTIONS = 150;
  private static final int KEYS = 8;

  /// What a transaction may end with; anything else is a fault.
  private static final Set<String> EXPECTED = Set.of("40001", "40P01", "23505");

  private static final List<Isolation> LEVELS = List.of(Isolation.values());

  @TempDir Path directory;

  private final LongAdder commits = new LongAdder();
  private final LongAdder duplicates = new LongAdder();

  @Test
  void shouldLetOneOfTwoHaveAKey() throws Exception {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int unique deferrable initially deferred)");
      Transaction one = engine.begin(Isolation.READ_COMMITTED);
      Transaction two = engine.begin(Isolation.READ_COMMITTED);
      engine.run(one, "insert into t values (1)");
      engine.run(two, "insert into t values (1)");
      CompletableFuture<Boolean> first = engine.startCommit(one);
      CompletableFuture<Boolean> second = engine.startCommit(two);
      int ended = 0;
      for (CompletableFuture<Boolean> each : List.of(first, second)) {
        try {
          assertTrue(each.get(60, TimeUnit.SECONDS));
          ended++;
        } catch (ExecutionException refused) {
          EngineException cause =
              assertInstanceOf(EngineException.class, refused.getCause(), "the refusal");
          String state = cause.code().sqlstate();
          assertTrue(EXPECTED.contains(state), state);
        }
      }
      assertEquals(1, ended);
      assertEquals(List.of("1"), engine.query("select k from t"));
    }
  }

  @Test
  void shouldWaitForWhoHasTheKeyAtTheEndOfItsStatement() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int unique deferrable)");
      Transaction one = engine.begin(Isolation.READ_COMMITTED);
      engine.run(one, "insert into t values (1)");
      Transaction two = engine.begin(Isolation.READ_COMMITTED);
      TestEngine.Running waiting =
          engine.start(
              two,
              engine.prepare("insert into t values (1)"),
              new Object[][] {{}},
              Integer.MAX_VALUE,
              0);
      engine.rollback(one);
      assertEquals(1, waiting.await().count());
      engine.commit(two);
      assertState("23505", () -> engine.run("insert into t values (1)"));
    }
  }

  @Test
  void shouldKeepTheConstraintThroughARestart() {
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("create table t (k int primary key deferrable initially deferred, v int)");
      engine.run("insert into t select g, g from generate_series(1, 1000) g");
      engine.run("update t set k = k + 1");
    }
    try (TestEngine engine = new TestEngine(directory)) {
      engine.run("update t set k = 2003 - k");
      assertState("23505", () -> engine.run("update t set k = 5 where v < 3"));
      assertState("23505", () -> engine.run("insert into t values (1005, 0)"));
      assertEquals(List.of("1000|1000"), engine.query("select count(*), count(distinct k) from t"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"deferrable", "deferrable initially deferred"})
  void shouldNeverCommitTwoRowsWithOneKey(String timing) throws InterruptedException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of DeferredUniqueTest: " + seed);
    try (TestEngine engine = new TestEngine(directory);
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      engine.run("create table t (id int, k int unique " + timing + ")");
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Random random = new Random(seed + i);
        TestEngine.Other client = engine.other();
        running.add(clients.submit(() -> work(engine, client, random)));
      }
      try {
        for (Future<Void> each : running) {
          each.get(300, TimeUnit.SECONDS);
        }
      } catch (ExecutionException | TimeoutException failed) {
        clients.shutdownNow();
        throw new AssertionError("seed " + seed, failed);
      }
      assertEquals(
          List.of(),
          engine.query("select k from t where k is not null group by k having count(*) > 1"),
          "duplicates, seed " + seed);
      assertTrue(commits.sum() > TRANSACTIONS / 2, commits + " commits");
      assertTrue(duplicates.sum() > 0, "no duplicates were refused, seed " + seed);
    }
  }

  private Void work(TestEngine engine, TestEngine.Other client, Random random) {
    for (int i = 0; i < TRANSACTIONS; i++) {
      Transaction transaction =
          engine.engine.begin(
              new TransactionOptions(
                  TransactionOptions.Kind.OCC,
                  LEVELS.get(random.nextInt(LEVELS.size())),
                  "client"));
      boolean open = true;
      try {
        for (int steps = 1 + random.nextInt(3); steps > 0; steps--) {
          client.run(transaction, statement(random));
        }
        open = false;
        engine.commit(transaction);
        commits.increment();
      } catch (EngineException refused) {
        String state = refused.code().sqlstate();
        if (!EXPECTED.contains(state)) {
          throw refused;
        }
        if (state.equals("23505")) {
          duplicates.increment();
        }
      } finally {
        if (open) {
          engine.rollback(transaction);
        }
      }
    }
    return null;
  }

  private static String statement(Random random) {
    int key = random.nextInt(KEYS);
    int other = random.nextInt(KEYS);
    return switch (random.nextInt(5)) {
      case 0 -> "insert into t values (1, " + key + ")";
      case 1 -> "delete from t where k = " + key;
      case 2 -> "update t set k = " + other + " where k = " + key;
      case 3 ->
          "update t set k = %d + %d - k where k in (%d, %d)".formatted(key, other, key, other);
      default -> "update t set id = id + 1 where k = " + key;
    };
  }
}
