package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.CheckReport;
import dev.kakehashi.engine.store.api.StoreConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Unique keys that not every row has to keep at any time, under clients that change them at random.
public final class UniqueKeyStressTest {
  private static final int CLIENTS = 4;
  private static final int TRANSACTIONS = 150;
  private static final int KEYS = 8;

  /// SQLSTATEs with which a transaction may end; any other one is a fault.
  private static final Set<String> EXPECTED = Set.of("40001", "40P01", "23505");

  private static final List<Isolation> LEVELS = List.of(Isolation.values());

  @TempDir Path directory;

  private final LongAdder commits = new LongAdder();
  private final LongAdder duplicates = new LongAdder();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "alter table t add unique (k) deferrable",
        "alter table t add unique (k) deferrable initially deferred",
        "create unique index on t (k) where live",
        "create unique index on t (k) where live and id >= 0 and k is not null",
        "alter table t add unique nulls not distinct (k)",
        "create unique index on t (k desc nulls last) nulls not distinct where live",
        "alter table t add unique nulls not distinct (k) deferrable initially deferred"
      })
  void shouldNeverCommitTwoRowsWithOneKey(String definition) throws InterruptedException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of UniqueKeyStressTest: " + seed);
    try (TestEngine engine = new TestEngine(directory);
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      engine.run("create table t (id int, k int, live boolean default true)");
      engine.run(definition);
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
      String nulls = definition.contains("not distinct") ? "" : " and k is not null";
      assertEquals(
          List.of(),
          engine.query("select k from t where live" + nulls + " group by k having count(*) > 1"),
          "duplicates, seed " + seed);
      assertTrue(commits.sum() > TRANSACTIONS / 2, commits + " commits");
      assertTrue(duplicates.sum() > 0, "no duplicates were refused, seed " + seed);
    }
    CheckReport found = new CheckReport();
    EngineCheck.run(new StoreConfig(directory, 1L << 28), found);
    assertEquals(List.of(), found.problems, "seed " + seed);
  }

  private Void work(TestEngine engine, TestEngine.Other client, Random random) {
    for (int i = 0; i < TRANSACTIONS; i++) {
      EngineTransaction transaction =
          engine.engine.begin(
              new BeginOptions(
                  BeginOptions.Kind.OCC, LEVELS.get(random.nextInt(LEVELS.size())), "client"));
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
    return switch (random.nextInt(9)) {
      case 6 -> "insert into t values (1, null)";
      case 7 -> "update t set k = null where k = " + key;
      case 8 -> "update t set k = %d where k is null".formatted(key);
      case 0 -> "insert into t values (1, " + key + ")";
      case 1 -> "delete from t where k = " + key;
      case 5 -> "update t set live = not live where k = " + key;
      case 2 -> "update t set k = " + other + " where k = " + key;
      case 3 ->
          "update t set k = %d + %d - k where k in (%d, %d)".formatted(key, other, key, other);
      default -> "update t set id = id + 1 where k = " + key;
    };
  }
}
