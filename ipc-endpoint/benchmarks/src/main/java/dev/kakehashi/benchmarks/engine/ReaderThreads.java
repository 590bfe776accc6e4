package dev.kakehashi.benchmarks.engine;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/// Scans of a table alone and while another client changes its rows one by one, each change stored. Readers and writer share the
/// processors: what a writer takes of them, and how fast its disk lets it write, is in the figure, so heap's own is beside it, what the
/// engine's readers keep beside no more changes than heap's writer made, and what they keep beside a thread that does nothing but write to
/// the disk, as the log does for each change: no writer leaves more that makes as many changes as that thread writes.
///
/// @param seconds length of one measurement
record ReaderThreads(AttachOptions options, Heap heap, Repetitions turns, int seconds) {
  private static final String SUM = "SELECT sum(val) FROM numbers";

  /// Size of the file that is written to; the file is made before.
  private static final int FILE_BYTES = 4 << 20;

  /// About what a change takes in the log.
  private static final int WRITE_BYTES = 128;

  /// Scans and changes, per second, and what the processors worked meanwhile, in seconds of each second.
  private record Rates(double scans, double changes, double worked) {}

  /// A measurement that gives rates.
  private interface Measurement {
    Rates run() throws Exception;
  }

  /// Measurements of one side, turn by turn.
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
      return kept(beside);
    }

    double kept(List<Double> scans) {
      return Repetitions.median(scans) / Repetitions.median(alone);
    }
  }

  void run(Session session, long rows) throws Exception {
    var ofHeap = new Side();
    var ofEngine = new Side();
    var besideAsMany = new ArrayList<Double>();
    var asManyChanges = new ArrayList<Double>();
    var besideWrites = new ArrayList<Double>();
    var writes = new ArrayList<Double>();
    try (PreparedStatement sum = session.prepare(SUM)) {
      for (int i = 0; i < turns.warmUps() + turns.repetitions(); i++) {
        Rates heapAlone = working(() -> new Rates(heapScans(), 0, 0));
        Rates heapBeside = working(() -> heapScansBesideWriter(rows));
        Rates engineAlone = working(() -> new Rates(scans(session, sum), 0, 0));
        Rates engineBeside = working(() -> scansBesideWriter(session, sum, rows, 0));
        Rates asMany = scansBesideWriter(session, sum, rows, heapBeside.changes);
        Rates disk = besideUntil(this::writeToDisk, () -> scans(session, sum));
        if (i >= turns.warmUps()) {
          ofHeap.add(heapAlone, heapBeside);
          ofEngine.add(engineAlone, engineBeside);
          besideAsMany.add(asMany.scans);
          asManyChanges.add(asMany.changes);
          besideWrites.add(disk.scans);
          writes.add(disk.changes);
        }
      }
    }
    Report.kept("speed of readers that a writer leaves", ofHeap.kept(), ofEngine.kept(), 0.7);
    Report.rates(
        "scans alone", Repetitions.median(ofHeap.alone), Repetitions.median(ofEngine.alone));
    Report.rates(
        "scans beside it", Repetitions.median(ofHeap.beside), Repetitions.median(ofEngine.beside));
    Report.rates(
        "its changes, each stored",
        Repetitions.median(ofHeap.changes),
        Repetitions.median(ofEngine.changes));
    Report.fraction(
        "left by as many changes as heap's", ofHeap.kept(), ofEngine.kept(besideAsMany));
    Report.rate("those changes", Repetitions.median(asManyChanges));
    Report.fraction("left by synchronised writes alone", ofEngine.kept(besideWrites));
    Report.rate("such writes", Repetitions.median(writes));
    Report.costs(
        "processor time of a scan",
        Repetitions.median(ofHeap.scanSeconds),
        Repetitions.median(ofEngine.scanSeconds));
    Report.costs(
        "processor time of a change",
        Repetitions.median(ofHeap.changeSeconds),
        Repetitions.median(ofEngine.changeSeconds));
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

  private Rates scansBesideWriter(Session session, PreparedStatement sum, long rows, double rate)
      throws Exception {
    return besideUntil(stop -> write(stop, rows, rate), () -> scans(session, sum));
  }

  /// Runs both at the same time, until the reader has done.
  private static Rates besideUntil(Writer writer, Callable<Double> reader) throws Exception {
    var stop = new AtomicBoolean();
    return beside(
        () -> writer.writeUntil(stop),
        () -> {
          try {
            return reader.call();
          } finally {
            stop.set(true);
          }
        });
  }

  private interface Writer {
    /// @return how often per second
    double writeUntil(AtomicBoolean stop) throws Exception;
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

  /// One pwrite and one fdatasync each time, into blocks that are there.
  private double writeToDisk(AtomicBoolean stop) throws IOException {
    Path file = Files.createTempFile(heap.directory(), "writes", ".tmp");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
      channel.write(ByteBuffer.allocateDirect(FILE_BYTES), 0);
      channel.force(true);
      ByteBuffer bytes = ByteBuffer.allocateDirect(WRITE_BYTES);
      long began = System.nanoTime();
      long writes = 0;
      while (!stop.get()) {
        channel.write(bytes.clear(), writes * WRITE_BYTES % FILE_BYTES);
        channel.force(false);
        writes++;
      }
      return writes * 1e9 / (System.nanoTime() - began);
    }
  }

  /// @param rate of changes per second; 0 for as many as can be had
  /// @return changes per second
  private double write(AtomicBoolean stop, long rows, double rate) {
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
        if (rate > 0) {
          LockSupport.parkNanos(began + Math.round(changes * 1e9 / rate) - System.nanoTime());
        }
      }
    }
    return changes * 1e9 / (System.nanoTime() - began);
  }
}
