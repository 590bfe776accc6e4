package dev.kakehashi.benchmarks.bulk;

import static dev.kakehashi.benchmarks.bulk.BulkReport.seconds;
import static dev.kakehashi.benchmarks.rest.BenchmarkTable.megabytes;

import dev.kakehashi.benchmarks.engine.Heap;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A file that is larger than the endpoint's heap by far, in and out, in one transaction; and what lives in the heap meanwhile.
///
/// @param endpoint its process
/// @param files directory of the location
record LargeFiles(Heap heap, BulkCopies copies, long endpoint, Path files) {
  private static final int SAMPLES = 8;
  private static final double MOST_MORE_MEGABYTES = 128;

  void run(long rows) throws IOException, InterruptedException, ExecutionException {
    Path csv = files.resolve("large.csv");
    heap.run("COPY (%s) TO '%s' CSV HEADER".formatted(BulkTable.query(1, rows), csv));
    copies.session().execute("TRUNCATE copies");
    copies.session().execute(BulkTable.definition("large"));
    long before = live();
    long bytes = Files.size(csv);
    report(
        "load of CSV",
        bytes,
        before,
        () -> copies.load("large", "large.csv", "format csv, header true", rows));
    Files.delete(csv);
    for (String format : List.of("csv", "parquet", "arrow")) {
      String file = "large." + format;
      report(
          "dump as " + format,
          bytes,
          before,
          () -> copies.dump("large", file, "format " + format, rows));
      if (!format.equals("csv")) {
        copies.session().execute("TRUNCATE large");
        report(
            "load of " + format,
            bytes,
            before,
            () -> copies.load("large", file, "format " + format, rows));
      }
      Files.delete(files.resolve(file));
    }
    copies.session().execute("DROP TABLE large");
  }

  /// Looks at the heap while it works.
  private void report(String what, long bytes, long before, Callable<Double> work)
      throws IOException, InterruptedException, ExecutionException {
    List<Long> lives = new ArrayList<>();
    double seconds;
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      Future<Double> working = thread.submit(work);
      while (true) {
        try {
          // Each look stops the endpoint for a full collection: few of them, later and later.
          seconds = working.get(lives.size() + 1L, TimeUnit.SECONDS);
          break;
        } catch (TimeoutException e) {
          if (lives.size() < SAMPLES) {
            lives.add(live());
          }
        }
      }
    }
    lives.add(live());
    long most = lives.stream().mapToLong(Long::longValue).max().orElseThrow();
    BulkReport.atMost(
        "%s, %s of CSV at -Xmx1g; more in the heap, MB".formatted(what, megabytes((double) bytes)),
        megabytes((double) before),
        megabytes((double) most),
        (most - before) / 1e6,
        MOST_MORE_MEGABYTES);
    BulkReport.note("time", seconds(seconds));
  }

  /// Bytes that live in the endpoint's heap, after a full collection.
  private long live() throws IOException, InterruptedException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    Process process =
        new ProcessBuilder(
                jcmd.toString(), Long.toString(endpoint), "GC.class_histogram", "-parallel=1")
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(said);
    }
    String total =
        said.lines()
            .filter(line -> line.startsWith("Total "))
            .findFirst()
            .orElseThrow(() -> new IOException(said));
    return Long.parseLong(total.strip().split(" +", -1)[2]);
  }
}
