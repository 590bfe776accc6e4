package dev.kakehashi.benchmarks.bulk;

import static dev.kakehashi.benchmarks.bulk.BulkReport.seconds;
import static dev.kakehashi.benchmarks.rest.BenchmarkTable.megabytes;

import dev.kakehashi.benchmarks.DuckDb;
import dev.kakehashi.benchmarks.engine.Heap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

/// Loads and dumps of the same rows by all sides, each in its turn.
final class CopyTurns {
  private static final String CSV = "format csv, header true";
  private static final String PARQUET = "format parquet";
  private static final String ARROW = "format arrow";

  private final BulkCopies copies;
  private final Heap heap;
  private final DuckDb duck;
  private final Path files;
  private final BulkTimes times = new BulkTimes();

  CopyTurns(BulkCopies copies, Heap heap, DuckDb duck, Path files) {
    this.copies = copies;
    this.heap = heap;
    this.duck = duck;
    this.files = files;
  }

  private Path file(String name) {
    return files.resolve(name);
  }

  /// Rows in the heap, their CSV, the table `orders` of engine and DuckDB with them, and its files in the other formats.
  void prepare() throws IOException, InterruptedException, SQLException {
    heap.run(
        BulkTable.definition("orders"),
        "INSERT INTO orders " + BulkTable.query(1, copies.rows()),
        BulkTable.definition("copies"),
        "VACUUM ANALYZE orders",
        "COPY orders TO '" + file("rows.csv") + "' CSV HEADER");
    copies.session().execute(BulkTable.definition("orders"));
    copies.session().execute(BulkTable.definition("copies"));
    copies.load("orders", "rows.csv", CSV, copies.rows());
    copies.dump("rows.parquet", PARQUET);
    copies.dump("rows.arrow", ARROW);
    duck.run(
        BulkTable.definition("copies"),
        "CREATE TABLE orders AS FROM '" + file("rows.parquet") + "'");
    if (duck.number("SELECT count(*) FROM orders") != copies.rows()) {
      throw new IllegalStateException("DuckDB has not read all rows of the engine's Parquet");
    }
  }

  void run(List<String> wanted, int warmUps, int repetitions) throws Exception {
    wanted.forEach(this::add);
    times.run(warmUps, repetitions);
    for (String row : wanted) {
      report(row);
    }
  }

  private void add(String row) {
    switch (row) {
      case "csv" -> {
        times.add("heap load", this::heapLoad);
        times.add("csv", () -> copies.load("rows.csv", CSV));
      }
      case "parquet" -> {
        times.add("heap load", this::heapLoad);
        times.add("parquet", () -> copies.load("rows.parquet", PARQUET));
        times.add("duck load", this::duckLoad);
      }
      case "arrow" -> {
        times.add("arrow", () -> copies.load("rows.arrow", ARROW));
        times.add("insert", copies::insert);
      }
      case "workers" -> {
        times.add("one", () -> copies.load("rows.csv", batches(1)));
        times.add("two", () -> copies.load("rows.csv", batches(2)));
      }
      case "parquetdump" -> {
        times.add("heap dump", this::heapDump);
        times.add("csv dump", () -> copies.dump("rows2.csv", CSV));
        times.add("parquet dump", () -> copies.dump("rows.parquet", PARQUET));
        times.add("duck dump", this::duckDump);
      }
      case "arrowdump" -> {
        times.add("arrow dump", () -> copies.dump("rows.arrow", ARROW));
        times.add("cp", this::copy);
      }
      default -> {
        // Has no turns.
      }
    }
  }

  private static String batches(int workers) {
    return CSV + ", batch_rows 100000, workers " + workers;
  }

  private double heapLoad() throws IOException, InterruptedException {
    return heap.time("TRUNCATE copies", "COPY copies FROM '" + file("rows.csv") + "' CSV HEADER")
        / 1e3;
  }

  private double heapDump() throws IOException, InterruptedException {
    return heap.time("COPY orders TO '" + file("heap.csv") + "' CSV HEADER") / 1e3;
  }

  private double duckLoad() throws SQLException {
    // Deleted keys stay in DuckDB's index for a time: each turn has a table of its own.
    duck.run("DROP TABLE copies", BulkTable.definition("copies"), "CHECKPOINT");
    return duck.time("INSERT INTO copies FROM '" + file("rows.parquet") + "'");
  }

  private double duckDump() throws SQLException {
    return duck.time(
        "COPY orders TO '" + file("duck.parquet") + "' (FORMAT parquet, COMPRESSION zstd)");
  }

  private double copy() throws IOException, InterruptedException {
    Path copy = file("copy");
    long began = System.nanoTime();
    Process process =
        new ProcessBuilder("cp", file("rows.arrow").toString(), copy.toString())
            .inheritIO()
            .start();
    int status = process.waitFor();
    double seconds = BulkCopies.secondsSince(began);
    if (status != 0) {
      throw new IOException("cp ended with " + status);
    }
    Files.delete(copy);
    return seconds;
  }

  private void report(String row) throws IOException {
    switch (row) {
      case "csv" -> ratio("CSV load, one transaction, stored (heap: CSV)", "heap load", "csv", 0.4);
      case "parquet" -> {
        ratio("Parquet load (heap: CSV)", "heap load", "parquet", 0.3);
        ratio("Parquet load (DuckDB, with primary key)", "duck load", "parquet", 1);
      }
      case "arrow" -> rate("Arrow load (INSERT ... SELECT)", "insert", "arrow", 0.9);
      case "workers" -> rate("CSV load in batches, 2 workers (1 worker)", "one", "two", 1.7);
      case "parquetdump" -> {
        ratio("Parquet dump, zstd (heap: CSV)", "heap dump", "parquet dump", 0.25);
        ratio("Parquet dump, zstd (DuckDB)", "duck dump", "parquet dump", 1.5);
        double theirs = (double) Files.size(file("duck.parquet"));
        double ours = (double) Files.size(file("rows.parquet"));
        BulkReport.atMost(
            "bytes of Parquet (DuckDB)", megabytes(theirs), megabytes(ours), ours / theirs, 1.15);
        double heapCsv = times.median("heap dump");
        double csv = times.median("csv dump");
        BulkReport.part("CSV dump (heap)", seconds(heapCsv), seconds(csv), csv / heapCsv);
      }
      case "arrowdump" -> {
        rate("Arrow dump (cp of the same bytes)", "cp", "arrow dump", 0.5);
        BulkReport.note("of", megabytes((double) Files.size(file("rows.arrow"))));
      }
      default -> {
        // Has no turns.
      }
    }
  }

  /// How much of the other's time.
  private void ratio(String what, String other, String engine, double must) {
    double theirs = times.median(other);
    double ours = times.median(engine);
    BulkReport.atMost(what, seconds(theirs), seconds(ours), ours / theirs, must);
  }

  /// How many times as fast as the other.
  private void rate(String what, String other, String engine, double must) {
    double theirs = times.median(other);
    double ours = times.median(engine);
    BulkReport.atLeast(what, seconds(theirs), seconds(ours), theirs / ours, must);
  }
}
