package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.testing.KilledProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A process that changes the catalogue and rows in the same transactions is killed again and again: each transaction is there as a whole
/// or not at all.
final class DefinitionCrashTest {
  /// `-Dkakehashi.kills=200` makes a night of it.
  private static final int ROUNDS = Integer.getInteger("kakehashi.kills", 8) / 4;

  private static final int MOST_ACKNOWLEDGED_BEFORE_KILL = 40;
  private static final int ROWS = 20;

  @TempDir Path directory;

  @Test
  @Timeout(3600)
  void shouldHaveWholeTransactionsAfterAKill() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    long last = -1;
    for (int round = 0; round < ROUNDS; round++) {
      List<String> acknowledged =
          KilledProcess.run(
              Definer.class,
              1 + random.nextInt(MOST_ACKNOWLEDGED_BEFORE_KILL),
              directory.toString(),
              String.valueOf(random.nextLong()));
      last = Math.max(last, Long.parseLong(acknowledged.getLast()));
      check(last);
    }
  }

  private void check(long acknowledged) {
    try (TestEngine engine = new TestEngine(directory)) {
      long last = Long.parseLong(engine.query("select max(i) from log").getFirst());
      assertTrue(last >= acknowledged, last + " is before " + acknowledged);
      assertEquals(
          Stream.of("log", "t" + Math.max(0, last - 1), "t" + last).distinct().sorted().toList(),
          engine.query(
              "select table_name from kakehashi_catalog.tables where table_schema = 'public' order by 1"));
      String table = "t" + last;
      assertEquals(
          List.of(ROWS + "|" + (ROWS - 1) + "|" + ROWS * last),
          engine.query("select count(*), max(renamed), sum(added) from " + table));
      assertEquals(
          List.of("t" + last + "_added|added", "t" + last + "_pkey|renamed"),
          engine.query(
              "select index_name, column_name from kakehashi_catalog.indexes where table_name = '"
                  + table
                  + "' order by 1"));
      assertEquals(
          List.of(String.valueOf(ROWS)),
          engine.query("select count(*) from " + table + " where added = " + last));
    }
  }

  /// The process that is killed.
  static final class Definer {
    private Definer() {}

    public static void main(String[] arguments) {
      Random random = new Random(Long.parseLong(arguments[1]));
      try (TestEngine engine = new TestEngine(Path.of(arguments[0]))) {
        if (engine
            .query("select 1 from kakehashi_catalog.tables where table_name = 'log'")
            .isEmpty()) {
          engine.run("create table log (i bigint primary key)");
        }
        String last = engine.query("select coalesce(max(i), -1) from log").getFirst();
        for (long i = Long.parseLong(last) + 1; ; i++) {
          EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
          define(engine, transaction, i);
          if (random.nextInt(4) == 0) {
            engine.rollback(transaction);
            i--;
          } else {
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            transaction.commit(
                EngineTransaction.CommitResponse.STORED, failure -> done.complete(failure == null));
            assertTrue(TestEngine.await(done));
            KilledProcess.acknowledge(i);
          }
        }
      }
    }

    private static void define(TestEngine engine, EngineTransaction transaction, long i) {
      String table = "t" + i;
      engine.run(transaction, "create table " + table + " (id int primary key, gone text)");
      for (int row = 0; row < ROWS; row++) {
        engine.run(transaction, "insert into " + table + " values ($1::int, 'x')", row);
      }
      engine.run(
          transaction,
          "alter table " + table + " add column added bigint default " + i + ", drop column gone");
      engine.run(transaction, "create index " + table + "_added on " + table + " (added)");
      engine.run(transaction, "alter table " + table + " rename id to renamed");
      engine.run(transaction, "insert into log values (" + i + ")");
      if (i >= 2) {
        engine.run(transaction, "drop table t" + (i - 2));
      }
    }
  }
}
