package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Transactions that insert one row and are stored when they are reported.
///
/// @param seconds length of one measurement
/// @param warmUpSeconds before the first one of a number of clients
record StoredCommits(
    AttachOptions options, Heap heap, Repetitions turns, int seconds, int warmUpSeconds) {
  private static final String TABLE = "CREATE TABLE events (id int8 PRIMARY KEY, val int4)";
  private static final String INSERT =
      "\\set v random(1, 1000)\nINSERT INTO events VALUES (nextval('event'), :v);\n";
  private static final AtomicLong NEXT_EVENT = new AtomicLong(1);

  void run(Session session) throws Exception {
    session.execute(TABLE);
    heap.run(TABLE, "CREATE SEQUENCE event CACHE 1000");
    measure("single-row transaction, stored, 1 client", 1, 1);
    measure("single-row transaction, stored, 8 clients", 8, 1.5);
  }

  private void measure(String what, int clients, double goal) throws Exception {
    double warmHeap = heap.rate(INSERT, clients, warmUpSeconds);
    double warmEngine = inserts(clients, warmUpSeconds);
    if (Math.min(warmHeap, warmEngine) <= 0) {
      throw new IllegalStateException("no transaction was committed");
    }
    Repetitions.Medians medians =
        new Repetitions(0, turns.repetitions())
            .compare(() -> heap.rate(INSERT, clients, seconds), () -> inserts(clients, seconds));
    Report.speed(
        what,
        Report.perSecond(medians.heap()),
        Report.perSecond(medians.engine()),
        medians.engine() / medians.heap(),
        goal);
  }

  private double inserts(int clients, int forSeconds)
      throws InterruptedException, ExecutionException {
    long began = System.nanoTime();
    long end = began + TimeUnit.SECONDS.toNanos(forSeconds);
    try (ExecutorService threads = Executors.newFixedThreadPool(clients)) {
      List<Future<Long>> counts = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        counts.add(threads.submit(() -> insertUntil(end)));
      }
      long sum = 0;
      for (Future<Long> count : counts) {
        sum += count.get();
      }
      return sum * 1e9 / (System.nanoTime() - began);
    }
  }

  private long insertUntil(long end) {
    long count = 0;
    try (Session session = Session.attach(options);
        PreparedStatement insert = session.prepare("INSERT INTO events VALUES ($1, $2)")) {
      Parameters row = insert.parameters();
      while (System.nanoTime() < end) {
        row.reset();
        row.writer().addRow();
        row.writer().setLong(0, NEXT_EVENT.getAndIncrement());
        row.writer().setLong(1, count % 1000);
        count += session.update(insert, row);
      }
    }
    return count;
  }
}
