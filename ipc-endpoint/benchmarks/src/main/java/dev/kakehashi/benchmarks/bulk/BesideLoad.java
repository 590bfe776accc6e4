package dev.kakehashi.benchmarks.bulk;

import dev.kakehashi.benchmarks.engine.Numbers;
import dev.kakehashi.benchmarks.rest.BenchmarkTable;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Parameters;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/// Selects by key, and stored commits of one row, alone and while a load runs.
record BesideLoad(AttachOptions options, BulkCopies copies) {
  private static final long LONGEST_NANOS = 60_000_000_000L;
  private static final long ALONE_NANOS = 5_000_000_000L;
  private static final int KEYS = 100_000;
  private static final String CSV = "format csv, header true";
  private static final double MOST = 1.5;

  /// Statements of one kind, until told to stop.
  @FunctionalInterface
  private interface Work {
    Histogram run(BooleanSupplier going);
  }

  void run() throws InterruptedException, ExecutionException {
    copies.session().execute(Numbers.definition("watched"));
    copies.session().execute(Numbers.definition("events"));
    Numbers.load(copies.session(), "watched", 1, KEYS);
    compare("select by key beside a CSV load, p50", this::selects, CSV);
    compare("stored commit beside a CSV load, p50", this::commits, CSV);
    String batches = CSV + ", batch_rows 100000";
    compare("select by key beside a load in batches, p50", this::selects, batches);
    compare("stored commit beside a load in batches, p50", this::commits, batches);
  }

  private void compare(String what, Work work, String load)
      throws InterruptedException, ExecutionException {
    alone(work); // compilers
    Histogram alone = alone(work);
    Histogram beside = beside(work, load);
    double before = alone.getValueAtPercentile(50) / 1e3;
    double during = beside.getValueAtPercentile(50) / 1e3;
    BulkReport.atMost(
        what, BenchmarkTable.micros(before), BenchmarkTable.micros(during), during / before, MOST);
    BulkReport.part(
        "mean",
        BenchmarkTable.micros(alone.getMean() / 1e3),
        BenchmarkTable.micros(beside.getMean() / 1e3),
        beside.getMean() / alone.getMean());
    double p99 = alone.getValueAtPercentile(99) / 1e3;
    double p99During = beside.getValueAtPercentile(99) / 1e3;
    BulkReport.part(
        "p99", BenchmarkTable.micros(p99), BenchmarkTable.micros(p99During), p99During / p99);
  }

  private static Histogram alone(Work work) {
    long end = System.nanoTime() + ALONE_NANOS;
    return work.run(() -> System.nanoTime() < end);
  }

  private Histogram beside(Work work, String load) throws InterruptedException, ExecutionException {
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      Future<Double> loading = thread.submit(() -> copies.load("rows.csv", load));
      Histogram taken = work.run(() -> !loading.isDone());
      loading.get();
      return taken;
    }
  }

  private Histogram selects(BooleanSupplier going) {
    Histogram nanos = new Histogram(LONGEST_NANOS, 3);
    try (Session session = Session.attach(options);
        PreparedStatement select = session.prepare("SELECT grp FROM watched WHERE id = $1")) {
      Parameters key = select.parameters();
      long id = 0;
      while (going.getAsBoolean()) {
        id = (id + 997) % KEYS;
        long began = System.nanoTime();
        key.reset();
        key.writer().addRow();
        key.writer().setLong(0, id + 1);
        int found = Numbers.drain(session.query(select, key));
        nanos.recordValue(System.nanoTime() - began);
        if (found != 1) {
          throw new IllegalStateException("no row with id " + (id + 1));
        }
      }
    }
    return nanos;
  }

  private Histogram commits(BooleanSupplier going) {
    Histogram nanos = new Histogram(LONGEST_NANOS, 3);
    try (Session session = Session.attach(options);
        PreparedStatement insert = session.prepare("INSERT INTO events VALUES ($1, $2, $3)")) {
      session.execute("TRUNCATE events");
      Parameters row = insert.parameters();
      long id = 0;
      while (going.getAsBoolean()) {
        id++;
        long began = System.nanoTime();
        row.reset();
        row.writer().addRow();
        row.writer().setLong(0, id);
        row.writer().setLong(1, id % 10);
        row.writer().setLong(2, id % 1000);
        session.update(insert, row);
        nanos.recordValue(System.nanoTime() - began);
      }
    }
    return nanos;
  }
}
