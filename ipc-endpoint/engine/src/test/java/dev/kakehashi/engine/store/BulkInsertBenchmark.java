package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.BulkInsert;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.VectorBatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// Cost of the insertion of many rows in one transaction: an 8-byte key, an 8-byte number and an 80-byte text.
///
/// Arguments: rows (default 1000000), rounds (default 3).
final class BulkInsertBenchmark {
  /// Rows that a task takes at a time, as it does parts of a file.
  private static final int CHUNK = 10_000;

  private BulkInsertBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    int rows = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
    int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 3;
    for (int round = 0; round < rounds; round++) {
      for (String keys : List.of("none", "ascending", "random")) {
        for (int tasks = 0; tasks <= 2; tasks++) {
          run(keys, tasks, rows);
        }
      }
    }
  }

  /// @param tasks 0: a row at a time
  private static void run(String keys, int tasks, int rows) throws Exception {
    Path directory = Files.createTempDirectory("bulk-insert-benchmark");
    Store store = StoreFactory.open(new StoreConfig(directory, 4L << 30));
    IndexDefinition key =
        new IndexDefinition(store.nextObjectId(), "pkey", List.of(0), List.of(false), true);
    TableStore table =
        CatalogTool.createTable(
            store,
            new TableDefinition(
                store.nextObjectId(),
                List.of(ColumnKind.INTEGER, ColumnKind.INTEGER, ColumnKind.VARLENA),
                List.of(true, true, false),
                keys.equals("none") ? List.of() : List.of(key)));
    long start = System.nanoTime();
    StoreTransaction transaction = store.begin(false, false);
    transaction.beginStatement();
    boolean random = keys.equals("random");
    double parts = 0;
    if (tasks == 0) {
      insert(rows, 0, 1, random, batch -> table.insert(transaction, batch, 0));
    } else {
      try (BulkInsert insertion = table.bulkInsert(transaction)) {
        List<Thread> threads = new ArrayList<>();
        for (int task = 0; task < tasks; task++) {
          int number = task;
          threads.add(
              Thread.ofPlatform()
                  .start(() -> {
                    try (BulkInsert.Part part = insertion.newPart()) {
                      insert(rows, number, tasks, random, batch -> part.insert(batch, 0));
                    }
                  }));
        }
        for (Thread thread : threads) {
          thread.join();
        }
        parts = (System.nanoTime() - start) / 1e6;
        insertion.finish(BulkInsert.Duplicates.FAIL);
      }
    }
    double inserted = (System.nanoTime() - start) / 1e6;
    start = System.nanoTime();
    Rows.commit(transaction, true);
    System.out.printf(
        "keys %s, tasks %d: insert %.0f ms (parts %.0f), %.2f M rows/s; commit %.0f ms%n",
        keys, tasks, inserted, parts, rows / inserted / 1e3, (System.nanoTime() - start) / 1e6);
    store.close();
    delete(directory);
  }

  private static void insert(
      int rows, int first, int step, boolean random, Consumer<VectorBatch> to) {
    try (VectorBatch batch = Rows.batch(0L, 0L, "t".repeat(80))) {
      for (int chunk = first; (long) chunk * CHUNK < rows; chunk += step) {
        for (int i = chunk * CHUNK; i < Math.min(rows, (chunk + 1) * CHUNK); i++) {
          batch.columns[0].words[0] = random ? i * 0x9E3779B97F4A7C15L : i;
          batch.columns[1].words[0] = i % 1000;
          to.accept(batch);
        }
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
