package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.VectorBatch;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// Cost of the store's basic operations: 1M rows of an 8-byte key, an 8-byte number and an 80-byte text, on one thread unless said
/// otherwise.
///
/// Figures of one thread are per second of its CPU time, so that what else runs on the machine disturbs them little; those of several
/// threads and those that wait for the disk are per second of real time.
///
/// Arguments: directory (default: a temporary one), rows (default 1000000).
final class StoreBenchmark {
  private static final int BATCH = 1000;
  private final Store store;
  private final TableStore table;
  private final int rows;

  private StoreBenchmark(Store store, TableStore table, int rows) {
    this.store = store;
    this.table = table;
    this.rows = rows;
  }

  public static void main(String[] arguments) throws Exception {
    Path directory =
        arguments.length > 0 ? Path.of(arguments[0]) : Files.createTempDirectory("store-benchmark");
    int rows = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000_000;
    try {
      long start = System.nanoTime();
      Store store = StoreFactory.open(new StoreConfig(directory, 4L << 30));
      System.out.printf("open empty: %.0f ms%n", millis(start));
      IndexDefinition key =
          new IndexDefinition(store.nextObjectId(), "pkey", List.of(0), List.of(false), true);
      TableStore table =
          CatalogTool.createTable(
              store,
              new TableDefinition(
                  store.nextObjectId(),
                  List.of(ColumnKind.INTEGER, ColumnKind.INTEGER, ColumnKind.VARLENA),
                  List.of(true, true, false),
                  List.of(key)));
      new StoreBenchmark(store, table, rows).run();
      start = System.nanoTime();
      store.close();
      System.out.printf("close: %.0f ms%n", millis(start));
      start = System.nanoTime();
      store = StoreFactory.open(new StoreConfig(directory, 4L << 30));
      System.out.printf(
          "recovery of %d rows: %.0f ms%n",
          store.table(table.definition().tableId()).rowCount(), millis(start));
      store.close();
    } finally {
      if (arguments.length == 0) {
        delete(directory);
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

  /// CPU time of this thread.
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static double cpuMillis(long start) {
    return (cpuNanos() - start) / 1e6;
  }

  private static double millis(long start) {
    return (System.nanoTime() - start) / 1e6;
  }

  private void run() throws Exception {
    load();
    for (int round = 0; round < 3; round++) {
      scan("scan int8 + sum", new int[] {1});
      scan("scan 2 × int8 + sum", new int[] {0, 1});
      scan("scan text", new int[] {2});
      pointGets();
      indexScan();
    }
    updateAlone();
    updates(false, 2);
    updatesStored(1);
    updatesStored(64);
    scan("scan int8 + sum after updates", new int[] {1});
    scanBesideWriter();
    System.out.printf(
        "pages %d, native memory %d MB%n",
        table.pageCount(), ((MemoryStore) store).pool().reservedBytes() >> 20);
  }

  private void load() {
    long start = cpuNanos();
    try (VectorBatch batch = Rows.batch(0L, 0L, "t".repeat(80))) {
      for (int from = 0; from < rows; from += BATCH) {
        StoreTransaction transaction = store.begin(false, false);
        transaction.beginStatement();
        for (int i = from; i < Math.min(rows, from + BATCH); i++) {
          batch.columns[0].words[0] = i;
          batch.columns[1].words[0] = i % 1000;
          table.insert(transaction, batch, 0);
        }
        Rows.commit(transaction, false);
      }
    }
    double seconds = cpuMillis(start) / 1e3;
    System.out.printf("insert: %.2f M rows/s%n", rows / seconds / 1e6);
  }

  private void scan(String what, int[] columns) {
    int repeat = 20;
    long sum = 0;
    long start = cpuNanos();
    for (int i = 0; i < repeat; i++) {
      StoreTransaction reader = store.begin(true, false);
      try (RowCursor cursor =
              table.scan(reader.beginStatement(), 0, table.pageCount(), columns, false);
          VectorBatch batch = new VectorBatch(columns.length)) {
        while (cursor.next(batch)) {
          long[] words = batch.columns[0].words;
          for (int r = 0; r < batch.size; r++) {
            sum += words[r];
          }
        }
      }
      reader.abort();
    }
    System.out.printf(
        "%s: %.0f M rows/s (sum %d)%n",
        what, (double) rows * repeat / (cpuMillis(start) * 1e3), sum);
  }

  private void pointGets() {
    int count = 1_000_000;
    Random random = new Random(42);
    long sum = 0;
    StoreTransaction reader = store.begin(true, false);
    ReadView view = reader.beginStatement();
    int[] columns = {0, 1, 2};
    long start = cpuNanos();
    try (VectorBatch batch = new VectorBatch(3)) {
      for (int i = 0; i < count; i++) {
        try (RowCursor cursor =
            table.indexScan(view, 0, KeyRange.equal(random.nextInt(rows)), false, columns, false)) {
          cursor.next(batch);
          sum += batch.columns[1].words[0];
        }
      }
    }
    reader.abort();
    System.out.printf("point get: %.0f ns (sum %d)%n", cpuMillis(start) * 1e6 / count, sum);
  }

  private void indexScan() {
    long count = 0;
    StoreTransaction reader = store.begin(true, false);
    long start = cpuNanos();
    try (RowCursor cursor =
            table.indexScan(
                reader.beginStatement(), 0, KeyRange.ALL, false, new int[] {0, 1}, false);
        VectorBatch batch = new VectorBatch(2)) {
      while (cursor.next(batch)) {
        count += batch.size;
      }
    }
    reader.abort();
    System.out.printf("index scan: %.1f M rows/s%n", count / (cpuMillis(start) * 1e3));
  }

  private long findRow(StoreTransaction transaction, ReadView view, long id, VectorBatch batch) {
    try (RowCursor cursor =
        table.indexScan(view, 0, KeyRange.equal(id), false, new int[] {0, 1, 2}, true)) {
      if (!cursor.next(batch)) {
        throw new IllegalStateException(
            "row %d is missing in transaction %d".formatted(id, transaction.id()));
      }
      return batch.rowIds[0];
    }
  }

  /// One update of a random row by its key per transaction.
  private void update(Random random, VectorBatch batch, boolean stored, Runnable done) {
    StoreTransaction transaction = store.begin(false, false);
    ReadView view = transaction.beginStatement();
    try {
      long rowId = findRow(transaction, view, random.nextInt(rows), batch);
      batch.columns[1].words[0]++;
      table.update(transaction, rowId, batch, 0);
      transaction.commit(stored, failure -> done.run());
    } catch (RowConflict e) {
      transaction.abort();
      done.run();
    }
  }

  private void updateAlone() {
    int count = 500_000;
    Random random = new Random(1);
    long start = cpuNanos();
    try (VectorBatch batch = new VectorBatch(3)) {
      for (int i = 0; i < count; i++) {
        update(random, batch, false, () -> {});
      }
    }
    System.out.printf("update available: %.0f k tx/s%n", count / cpuMillis(start));
  }

  private void updates(boolean stored, int threads) throws InterruptedException {
    int count = 500_000;
    long start = System.nanoTime();
    CountDownLatch ended = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) {
      Random random = new Random(t);
      new Thread(
              () -> {
                try (VectorBatch batch = new VectorBatch(3)) {
                  for (int i = 0; i < count; i++) {
                    update(random, batch, stored, () -> {});
                  }
                }
                ended.countDown();
              })
          .start();
    }
    ended.await();
    System.out.printf(
        "update available, %d threads: %.0f k tx/s%n", threads, count * threads / millis(start));
  }

  /// One thread keeps `depth` commits waiting for the disk.
  private void updatesStored(int depth) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
    Semaphore waiting = new Semaphore(depth);
    Random random = new Random(7);
    long count = 0;
    long start = System.nanoTime();
    try (VectorBatch batch = new VectorBatch(3)) {
      while (System.nanoTime() < end) {
        waiting.acquire();
        update(random, batch, true, waiting::release);
        count++;
      }
    }
    waiting.acquire(depth);
    System.out.printf("update stored, %d waiting: %.1f k tx/s%n", depth, count / millis(start));
  }

  private void scanBesideWriter() throws InterruptedException {
    Thread writer =
        new Thread(() -> {
          Random random = new Random(3);
          try (VectorBatch batch = new VectorBatch(3)) {
            while (!Thread.currentThread().isInterrupted()) {
              update(random, batch, false, () -> {});
            }
          }
        });
    writer.start();
    scan("scan int8 + sum beside a writer", new int[] {1});
    writer.interrupt();
    writer.join();
  }
}
