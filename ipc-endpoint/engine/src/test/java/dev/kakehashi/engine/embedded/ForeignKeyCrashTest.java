package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.CheckReport;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.testing.KilledProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A process whose clients change rows that reference each other is killed again and again: the check finds no orphan.
final class ForeignKeyCrashTest {
  /// `-Dkakehashi.kills=200` makes a night of it.
  private static final int ROUNDS = Math.max(1, Integer.getInteger("kakehashi.kills", 20) / 10);

  private static final int CLIENTS = 2;
  private static final int MOST_ACKNOWLEDGED_BEFORE_KILL = 200;

  @TempDir Path directory;

  @Test
  @Timeout(3600)
  void shouldHaveNoOrphansAfterAKill() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed of ForeignKeyCrashTest: " + seed);
    Random random = new Random(seed);
    try (TestEngine engine = new TestEngine(directory)) {
      ForeignKeyConcurrencyTest.define(
          engine, random.nextBoolean() ? "" : "deferrable initially deferred");
    }
    for (int round = 0; round < ROUNDS; round++) {
      KilledProcess.run(
          Changer.class,
          1 + random.nextInt(MOST_ACKNOWLEDGED_BEFORE_KILL),
          directory.toString(),
          String.valueOf(random.nextLong()));
      CheckReport found = new CheckReport();
      EngineCheck.run(new StoreConfig(directory, 1L << 28), found);
      assertEquals(List.of(), found.problems, "seed " + seed);
    }
  }

  /// The process that is killed.
  static final class Changer {
    private Changer() {}

    public static void main(String[] arguments) throws InterruptedException {
      long seed = Long.parseLong(arguments[1]);
      try (TestEngine engine = new TestEngine(Path.of(arguments[0]))) {
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          Random random = new Random(seed + i);
          TestEngine.Other client = engine.other();
          clients.add(Thread.ofPlatform().start(() -> change(engine, client, random)));
        }
        for (Thread client : clients) {
          client.join();
        }
      }
    }

    /// Until the process is killed, or something unexpected ends the client.
    private static void change(TestEngine engine, TestEngine.Other client, Random random) {
      for (int i = 0; ; i++) {
        EngineTransaction transaction = engine.begin(Isolation.REPEATABLE_READ);
        try {
          for (int steps = 1 + random.nextInt(3); steps > 0; steps--) {
            ForeignKeyConcurrencyTest.step(client, transaction, random);
          }
        } catch (EngineException failure) {
          if (!ForeignKeyConcurrencyTest.EXPECTED.contains(failure.code().sqlstate())) {
            throw failure;
          }
          engine.rollback(transaction);
          continue;
        }
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        transaction.commit(
            EngineTransaction.CommitResponse.STORED, failure -> done.complete(failure == null));
        if (TestEngine.await(done)) {
          KilledProcess.acknowledge(i);
        }
      }
    }
  }
}
