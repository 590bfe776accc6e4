package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// Scans of a table alone and while another client changes its rows one by one, each change stored.
///
/// @param seconds length of one measurement
record Readers(AttachOptions options, Turns turns, int seconds) {
  void run(Session session, long rows) throws Exception {
    try (PreparedStatement sum = session.prepare("SELECT sum(val) FROM numbers")) {
      Turns.Medians medians =
          turns.compare(() -> scans(session, sum), () -> scansBesideWriter(session, sum, rows));
      Report.speed(
          "readers while a writer runs (\"heap\": alone)",
          Report.perSecond(medians.heap()),
          Report.perSecond(medians.engine()),
          medians.engine() / medians.heap(),
          0.7);
    }
  }

  private double scansBesideWriter(Session session, PreparedStatement sum, long rows)
      throws Exception {
    var stop = new AtomicBoolean();
    try (ExecutorService writer = Executors.newSingleThreadExecutor()) {
      Future<?> writing = writer.submit(() -> write(stop, rows));
      double rate;
      try {
        rate = scans(session, sum);
      } finally {
        stop.set(true);
      }
      writing.get();
      return rate;
    }
  }

  private double scans(Session session, PreparedStatement sum) {
    long began = System.nanoTime();
    long end = began + TimeUnit.SECONDS.toNanos(seconds);
    int count = 0;
    while (System.nanoTime() < end) {
      count += Numbers.drain(session.query(sum));
    }
    return count * 1e9 / (System.nanoTime() - began);
  }

  private void write(AtomicBoolean stop, long rows) {
    try (Session session = Session.attach(options);
        PreparedStatement update =
            session.prepare("UPDATE numbers SET val = val + 1 WHERE id = $1")) {
      Parameters key = update.parameters();
      for (long id = 1; !stop.get(); id = id % rows + 1) {
        key.reset();
        key.writer().addRow();
        key.writer().setLong(0, id);
        long changed = session.update(update, key);
        if (changed != 1) {
          throw new IllegalStateException("no row with id " + id);
        }
      }
    }
  }
}
