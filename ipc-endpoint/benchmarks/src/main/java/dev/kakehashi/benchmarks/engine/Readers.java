package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// Scans of a table alone and while another client changes its rows one by one, each change stored. Readers and writer share the processors: what a
/// writer takes of them, and how fast its disk lets it write, is in the figure, so heap's own is beside it.
///
/// @param seconds length of one measurement
record Readers(AttachOptions options, Heap heap, Turns turns, int seconds) {
  private static final String SUM = "SELECT sum(val) FROM numbers";

  /// Scans and changes, per second, and what the processors worked meanwhile, in seconds of each second.
  private record Rates(double scans, double changes, double worked) {}

  /// A measurement that gives rates.
  private interface Measurement {
    Rates run() throws Exception;
  }

  /// What one side has done, turn by turn.
  private static final class Side {
    final List<Double> alone = new ArrayList<>();
    final List<Double> beside = new ArrayList<>();
    final List<Double> changes = new ArrayList<>();

    /// Processor time of one, in seconds.
    final List<Double> scanSeconds = new ArrayList<>();

    final List<Double> changeSeconds = new ArrayList<>();

    void add(Rates scansAlone, Rates besideWriter) {
      alone.add(scansAlone.scans);
      beside.add(besideWriter.scans);
      changes.add(besideWriter.changes);
      double scan = scansAlone.worked / scansAlone.scans;
      scanSeconds.add(scan);
      // A scan is taken to cost beside the writer what it costs alone.
      changeSeconds.add((besideWriter.worked - besideWriter.scans * scan) / besideWriter.changes);
    }

    double kept() {
      return Turns.median(beside) / Turns.median(alone);
    }
  }

  void run(Session session, long rows) throws Exception {
    var ofHeap = new Side();
    var ofEngine = new Side();
    try (PreparedStatement sum = session.prepare(SUM)) {
      for (int i = 0; i < turns.warmUps() + turns.repetitions(); i++) {
        Rates heapAlone = working(() -> new Rates(heapScans(), 0, 0));
        Rates heapBeside = working(() -> heapScansBesideWriter(rows));
        Rates engineAlone = working(() -> new Rates(scans(session, sum), 0, 0));
        Rates engineBeside = working(() -> scansBesideWriter(session, sum, rows));
        if (i >= turns.warmUps()) {
          ofHeap.add(heapAlone, heapBeside);
          ofEngine.add(engineAlone, engineBeside);
        }
      }
    }
    Report.kept("speed of readers that a writer leaves", ofHeap.kept(), ofEngine.kept(), 0.7);
    Report.rates("scans alone", Turns.median(ofHeap.alone), Turns.median(ofEngine.alone));
    Report.rates("scans beside it", Turns.median(ofHeap.beside), Turns.median(ofEngine.beside));
    Report.rates(
        "its changes, each stored", Turns.median(ofHeap.changes), Turns.median(ofEngine.changes));
    Report.costs(
        "processor time of a scan",
        Turns.median(ofHeap.scanSeconds),
        Turns.median(ofEngine.scanSeconds));
    Report.costs(
        "processor time of a change",
        Turns.median(ofHeap.changeSeconds),
        Turns.median(ofEngine.changeSeconds));
  }

  /// Adds what all processors worked: it is nobody else's on a quiet machine.
  private static Rates working(Measurement measurement) throws Exception {
    double before = ProcessorTime.seconds();
    long began = System.nanoTime();
    Rates rates = measurement.run();
    double seconds = (System.nanoTime() - began) / 1e9;
    return new Rates(rates.scans, rates.changes, (ProcessorTime.seconds() - before) / seconds);
  }

  private double heapScans() throws Exception {
    return heap.rate(SUM + ";\n", 1, seconds);
  }

  private Rates heapScansBesideWriter(long rows) throws Exception {
    String update =
        "\\set id random(1, %d)\nUPDATE numbers SET val = val + 1 WHERE id = :id;\n"
            .formatted(rows);
    return beside(() -> heap.rate(update, 1, seconds), this::heapScans);
  }

  /// Runs both at the same time.
  private static Rates beside(Callable<Double> writer, Callable<Double> reader) throws Exception {
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<Double> changes = threads.submit(writer);
      double scans = reader.call();
      return new Rates(scans, changes.get(), 0);
    }
  }

  private Rates scansBesideWriter(Session session, PreparedStatement sum, long rows)
      throws Exception {
    var stop = new AtomicBoolean();
    return beside(
        () -> write(stop, rows),
        () -> {
          try {
            return scans(session, sum);
          } finally {
            stop.set(true);
          }
        });
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

  /// @return changes per second
  private double write(AtomicBoolean stop, long rows) {
    long began = System.nanoTime();
    long changes = 0;
    try (Session session = Session.attach(options);
        PreparedStatement update =
            session.prepare("UPDATE numbers SET val = val + 1 WHERE id = $1")) {
      Parameters key = update.parameters();
      while (!stop.get()) {
        long id = ThreadLocalRandom.current().nextLong(rows) + 1;
        key.reset();
        key.writer().addRow();
        key.writer().setLong(0, id);
        long changed = session.update(update, key);
        if (changed != 1) {
          throw new IllegalStateException("no row with id " + id);
        }
        changes++;
      }
    }
    return changes * 1e9 / (System.nanoTime() - began);
  }
}
