package dev.kakehashi.pgtests.difference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/// The same random statements over heap tables and over foreign tables with the same rows: the same rows, in the same order where there is
/// one, the same errors, the same tables afterwards.
///
/// Every run takes the same programs unless told otherwise: a difference is a matter of the change that is tested. A program has a seed of its own, by which it runs alone: `-Dkakehashi.seed=<seed> -Dkakehashi.queries=1`.
class ForeignDifferenceTest {
  private static final int PROGRAMS = Integer.getInteger("kakehashi.queries", 1_500);
  private static final int MAX_SHOWN = 40;

  /// Of the data; the same for every run, so that a program's seed is all that it needs.
  private static final long DATA_SEED = 20261121;

  /// Pairs of sessions: while PostgreSQL plans for one, the engine works for the other.
  private static final int WORKERS = 2;

  private final List<Long> seeds = new CopyOnWriteArrayList<>();
  private final AtomicInteger failing = new AtomicInteger();
  private final Lock changes = new ReentrantLock();

  @Test
  void shouldBehaveLikeHeapTables() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261121);
    System.out.println(
        "ForeignDifferenceTest: -Dkakehashi.seed=" + seed + " -Dkakehashi.queries=" + PROGRAMS);
    try (Cluster cluster = Cluster.start("difference")) {
      for (String sql : Tables.onEngine()) {
        cluster.onEngine(sql);
      }
      try (Connection connection = cluster.connect()) {
        Sql.execute(connection, Tables.onPostgres().toArray(String[]::new));
      }
      fill(cluster);
      compareAll(cluster, seed);
      cluster.endpoint().awaitQuiet(0);
    }
    assertEquals(List.of(), seeds, "programs with differences; they are printed above");
    assertTrue(
        failing.get() <= PROGRAMS / 4 + 1,
        failing + " of " + PROGRAMS + " programs fail, and so prove little");
  }

  private static void fill(Cluster cluster) throws SQLException {
    for (String schema : List.of("heap", "remote")) {
      try (Side side = new Side(cluster, schema, DATA_SEED)) {
        side.fill();
      }
    }
  }

  private void compareAll(Cluster cluster, long seed) {
    var next = new AtomicLong(seed);
    var workers = new ArrayList<CompletableFuture<Void>>();
    for (int i = 0; i < WORKERS; i++) {
      workers.add(
          CompletableFuture.runAsync(() -> {
            try (Side heap = new Side(cluster, "heap", DATA_SEED);
                Side remote = new Side(cluster, "remote", DATA_SEED)) {
              for (long mine = next.getAndIncrement();
                  mine < seed + PROGRAMS && seeds.size() < MAX_SHOWN;
                  mine = next.getAndIncrement()) {
                compare(Program.of(mine), heap, remote);
              }
            } catch (SQLException e) {
              throw new IllegalStateException(e);
            }
          }));
    }
    workers.forEach(CompletableFuture::join);
  }

  private void compare(Program program, Side heap, Side remote) throws SQLException {
    if (!program.changing()) {
      report(program, heap.run(program), remote.run(program));
      return;
    }
    // They all change one table.
    changes.lock();
    try {
      report(program, heap.run(program), remote.run(program));
    } finally {
      changes.unlock();
    }
  }

  private void report(Program program, Answer expected, Answer actual) {
    if (expected.failed()) {
      failing.incrementAndGet();
    }
    String difference = expected.difference(actual);
    if (!difference.isEmpty()) {
      seeds.add(program.seed());
      System.out.println(
          "-Dkakehashi.seed="
              + program.seed()
              + " -Dkakehashi.queries=1\n"
              + program
              + "\n"
              + difference);
    }
  }
}
