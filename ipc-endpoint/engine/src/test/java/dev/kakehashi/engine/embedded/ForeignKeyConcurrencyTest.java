package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Random transactions of several clients insert, move and delete rows that reference each other, at all isolation levels: whatever they
/// do, and whenever one looks, no row references what is not there.
///
/// Without the locks of referenced rows this test finds orphans within some hundred transactions.
final class ForeignKeyConcurrencyTest {
  private static final int CLIENTS = 4;
  private static final int TRANSACTIONS = 150;
  private static final int KEYS = 6;
  private static final List<Isolation> LEVELS = List.of(Isolation.values());

  /// SQLSTATEs with which a transaction may end; any other one is a fault.
  static final Set<String> EXPECTED = Set.of("40001", "40P01", "23503", "23505");

  private final LongAdder commits = new LongAdder();
  private final LongAdder refused = new LongAdder();

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"", "deferrable initially deferred"})
  void shouldNeverLeaveAnOrphan(String timing) throws InterruptedException {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of ForeignKeyConcurrencyTest: " + seed);
    try (TestEngine engine = new TestEngine(directory);
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
      define(engine, timing);
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
      assertEquals(List.of("0|0|0"), orphans(engine, null), "orphans, seed " + seed);
      assertTrue(commits.sum() > TRANSACTIONS, commits + " commits, " + refused + " refused");
    }
  }

  /// Tables of [#step].
  static void define(TestEngine engine, String timing) {
    engine.run("create table p (id int primary key, n int)");
    engine.run("create table c (id int, pid int references p " + timing + ")");
    engine.run("create index on c (pid)");
    engine.run(
        "create table d (pid int references p on delete cascade on update cascade " + timing + ")");
    engine.run(
        "create table e (pid int references p on delete set null on update cascade "
            + timing
            + ")");
  }

  private static List<String> orphans(TestEngine engine, @Nullable EngineTransaction transaction) {
    String count =
        "(select count(*) from %1$s where pid is not null and not exists (select 1 from p where p.id = %1$s.pid))";
    String sql =
        "select "
            + count.formatted("c")
            + ", "
            + count.formatted("d")
            + ", "
            + count.formatted("e");
    return transaction == null ? engine.query(sql) : engine.run(transaction, sql).rows();
  }

  private Void work(TestEngine engine, TestEngine.Other client, Random random) {
    for (int i = 0; i < TRANSACTIONS; i++) {
      Isolation isolation = LEVELS.get(random.nextInt(LEVELS.size()));
      EngineTransaction transaction =
          engine.engine.begin(new BeginOptions(BeginOptions.Kind.OCC, isolation, "client"));
      boolean open = true;
      try {
        for (int steps = 1 + random.nextInt(3); steps > 0; steps--) {
          step(client, transaction, random);
        }
        open = false;
        engine.commit(transaction);
        commits.increment();
      } catch (EngineException failure) {
        if (!EXPECTED.contains(failure.code().sqlstate())) {
          throw failure;
        }
        refused.increment();
      } finally {
        if (open) {
          engine.rollback(transaction);
        }
      }
      if (random.nextInt(10) == 0) {
        assertEquals(List.of("0|0|0"), look(engine), "orphans");
      }
    }
    return null;
  }

  /// In a snapshot of its own.
  private static List<String> look(TestEngine engine) {
    EngineTransaction reader = engine.begin(Isolation.REPEATABLE_READ);
    try {
      return orphans(engine, reader);
    } finally {
      engine.rollback(reader);
    }
  }

  /// Some change of the rows of [#define].
  static void step(TestEngine.Other client, EngineTransaction transaction, Random random) {
    int key = random.nextInt(KEYS);
    int other = random.nextInt(KEYS);
    String child = List.of("c", "d", "e").get(random.nextInt(3));
    String statement =
        switch (random.nextInt(9)) {
          case 0 -> "insert into p values (" + key + ", 0) on conflict (id) do nothing";
          case 1, 2 -> "insert into %s (pid) select id from p where id = %d".formatted(child, key);
          case 3 -> "insert into " + child + " (pid) values (" + key + ")";
          case 4 -> "delete from p where id = " + key;
          case 5 -> "update p set id = " + other + " where id = " + key;
          case 6 -> "update p set n = n + 1 where id = " + key;
          case 7 -> "update %s set pid = %d where pid = %d".formatted(child, other, key);
          default -> "delete from " + child + " where pid = " + key;
        };
    client.run(transaction, statement);
  }
}
