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

/// The same random programs over heap tables and over foreign tables with the same rows: the same rows, in the same order where there is
/// one, the same errors, the same tables afterwards. One object is one run. A program has a seed of its own, by which it runs alone.
final class ComparedPrograms {
  private static final int MAX_SHOWN = 40;

  /// Seed of the data; the same for every run, so that a program's seed is all that it needs.
  private static final long DATA_SEED = 20261121;

  /// Pairs of sessions: while PostgreSQL plans for one, the engine works for the other.
  private static final int WORKERS = 2;

  /// How an engine other than the embedded one says what it lacks; that is no difference.
  private static final String REFUSED =
      "  foreign: " + Answer.ERROR + "0A000\nERROR: engine \"pgwire\" has no ";

  private final long seed;
  private final int programs;
  private final List<Long> seeds = new CopyOnWriteArrayList<>();
  private final AtomicInteger failing = new AtomicInteger();

  /// Programs with a statement for which the engine lacks a capability.
  private final AtomicInteger refused = new AtomicInteger();

  private final Lock changes = new ReentrantLock();

  /// @param seed of the first program; the next ones have those that follow
  ComparedPrograms(long seed, int programs) {
    this.seed = seed;
    this.programs = programs;
  }

  /// Fails if a program behaves differently; such programs are printed.
  ///
  /// @param cluster a new one
  void assertNoDifferences(Cluster cluster) throws SQLException {
    for (String sql : Tables.onEngine()) {
      cluster.onEngine(sql);
    }
    try (Connection connection = cluster.connect()) {
      Sql.execute(connection, Tables.onPostgres().toArray(String[]::new));
    }
    fill(cluster);
    compareAll(cluster);
    assertEquals(List.of(), seeds, "programs with differences; they are printed above");
    assertTrue(
        failing.get() <= programs / 4 + 1,
        failing + " of " + programs + " programs fail, and so prove little");
    cluster.endpoint().awaitQuiet(0);
  }

  private static void fill(Cluster cluster) throws SQLException {
    for (String schema : List.of("heap", "remote")) {
      try (Side side = new Side(cluster, schema, DATA_SEED)) {
        side.fill();
      }
    }
  }

  private void compareAll(Cluster cluster) {
    var next = new AtomicLong(seed);
    var workers = new ArrayList<CompletableFuture<Void>>();
    for (int i = 0; i < WORKERS; i++) {
      workers.add(
          CompletableFuture.runAsync(() -> {
            try (Side heap = new Side(cluster, "heap", DATA_SEED);
                Side remote = new Side(cluster, "remote", DATA_SEED)) {
              for (long mine = next.getAndIncrement();
                  mine < seed + programs && seeds.size() < MAX_SHOWN;
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
    if (difference.contains(REFUSED)) {
      refused.incrementAndGet();
    } else if (!difference.isEmpty()) {
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
