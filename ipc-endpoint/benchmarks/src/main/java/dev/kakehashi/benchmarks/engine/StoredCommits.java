package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.benchmarks.SingleRowInserts;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import java.util.concurrent.ExecutionException;
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
    return new SingleRowInserts(options, "events", NEXT_EVENT).rate(clients, forSeconds);
  }
}
