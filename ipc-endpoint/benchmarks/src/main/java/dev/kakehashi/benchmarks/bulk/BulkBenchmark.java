package dev.kakehashi.benchmarks.bulk;

import dev.kakehashi.benchmarks.DuckDb;
import dev.kakehashi.benchmarks.engine.BenchmarkRows;
import dev.kakehashi.benchmarks.engine.Heap;
import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/// Loads and dumps of the engine's COPY against PostgreSQL's COPY of heap tables, DuckDB and a copy of the file, taking turns in one run.
///
/// `make bench-bulk` runs it, with settings as system properties. Arguments: runtime directory of the endpoint, its process, then the rows
/// of the table that are wanted.
public final class BulkBenchmark {
  private static final List<String> ROWS =
      List.of(
          "csv",
          "parquet",
          "arrow",
          "workers",
          "parquetdump",
          "arrowdump",
          "beside",
          "cancel",
          "large");

  private BulkBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    List<String> wanted = Arrays.asList(arguments).subList(2, arguments.length);
    BenchmarkRows.require(ROWS, wanted);
    run(Path.of(arguments[0]), Long.parseLong(arguments[1]), wanted);
  }

  private static String required(String property) {
    String value = System.getProperty(property);
    if (value == null) {
      throw new IllegalArgumentException("the system property " + property + " is not set");
    }
    return value;
  }

  private static void run(Path runtimeDirectory, long endpoint, List<String> wanted)
      throws Exception {
    AttachOptions options =
        AttachOptions.of(runtimeDirectory)
            .withApplicationName("bulk benchmark")
            .withDirectReads(false);
    long rows = Long.getLong("bench.tableRows", 10_000_000);
    Path files = Path.of(required("bench.files"));
    Heap heap = new Heap("pgbench", files);
    try (Session session = Session.attach(options);
        DuckDb duck = DuckDb.of(files.resolve("duck.db"))) {
      BulkCopies copies = new BulkCopies(session, rows);
      CopyTurns turns = new CopyTurns(copies, heap, duck, files);
      turns.prepare();
      BulkReport.head();
      turns.run(
          wanted,
          Integer.getInteger("bench.warmUps", 1),
          Integer.getInteger("bench.repetitions", 3));
      if (wanted.contains("beside")) {
        new BesideLoad(options, copies).run();
      }
      if (wanted.contains("cancel")) {
        new CopyCancels(copies, Integer.getInteger("bench.cancels", 50)).run();
      }
      if (wanted.contains("large")) {
        new LargeFiles(heap, copies, endpoint, files)
            .run(Long.getLong("bench.largeRows", 8_500_000));
      }
    }
  }
}
