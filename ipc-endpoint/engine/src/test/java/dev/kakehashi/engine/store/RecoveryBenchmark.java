package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.durable.DataDirectory;
import dev.kakehashi.engine.store.log.DurableLog;
import dev.kakehashi.engine.store.log.SegmentedLog;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.ScratchMemory;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/// How long does a store take to recover? The log has its messages about the steps.
///
/// Arguments: directory, rows, shape, and `floor` for what no recovery can do without: reading, checking and merging the entries of the
/// image, and touching as much memory as the rows take, by a thread for each processor; or `again` for several recoveries by one JVM, which
/// says what its compilers and interpreter cost the first. The directory is filled if it is not there, and stays. Each run of this program
/// is one recovery by a new JVM, as a start is. Shapes: `ascending` is `(id int8 PRIMARY KEY, grp int4, val int4)` in the order of the
/// keys; `random` has its keys in no order, an 80-byte text, and indexes of both other columns.
final class RecoveryBenchmark {
  private static final int BATCH = 10_000;
  private static final long MEMORY_BYTES = 16L << 30;
  private static final long TOUCHED_BYTES = 1L << 30;
  private static final int UNITS = 64;
  private static final int AGAIN = 4;

  private RecoveryBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    long rows = Long.parseLong(arguments[1]);
    boolean random = "random".equals(arguments[2]);
    if (!Files.exists(directory)) {
      Files.createDirectories(directory);
      fill(directory, rows, random);
    }
    if (arguments.length > 3 && "floor".equals(arguments[3])) {
      read(directory);
      return;
    }
    int times = arguments.length > 3 && "again".equals(arguments[3]) ? AGAIN : 1;
    for (int i = 0; i < times; i++) {
      long start = System.nanoTime();
      try (Store store = StoreFactory.open(new StoreConfig(directory, MEMORY_BYTES))) {
        System.out.printf(
            Locale.ROOT,
            "opened in %.0f ms, %d MB%n",
            (System.nanoTime() - start) / 1e6,
            store.usage().reservedBytes() >> 20);
      }
    }
  }

  private static void read(Path directory) throws Exception {
    try (DurableLog log =
        SegmentedLog.open(DataDirectory.log(directory), DataDirectory.database(directory))) {
      long[] last = {0, 0};
      log.lastKey(StoreKeys.of(StoreKeys.ROW), StoreKeys.of(StoreKeys.ROW + 1))
          .map(ByteBuffer::wrap)
          .ifPresent(key -> {
            last[0] = key.getLong(1);
            last[1] = key.getLong(9);
          });
      long step = ((last[1] >>> Page.SLOT_BITS) / UNITS + 1) << Page.SLOT_BITS;
      AtomicInteger next = new AtomicInteger();
      LongAdder entries = new LongAdder();
      long start = System.nanoTime();
      onAllProcessors(() -> {
        long[] count = {0};
        for (int unit = next.getAndIncrement(); unit < UNITS; unit = next.getAndIncrement()) {
          log.read(
              StoreKeys.row(last[0], unit * step),
              StoreKeys.row(last[0], (unit + 1) * step),
              (key, value) -> count[0]++);
        }
        entries.add(count[0]);
      });
      System.out.printf(
          Locale.ROOT,
          "read %d entries in %.0f ms%n",
          entries.sum(),
          (System.nanoTime() - start) / 1e6);
    }
    AtomicInteger turn = new AtomicInteger();
    long start = System.nanoTime();
    try (ScratchMemory memory = new ScratchMemory(TOUCHED_BYTES)) {
      onAllProcessors(() -> {
        long share = TOUCHED_BYTES / UNITS;
        for (int unit = turn.getAndIncrement(); unit < UNITS; unit = turn.getAndIncrement()) {
          for (long at = unit * share; at < (unit + 1) * share; at += 4096) {
            Native.putLong(memory.address() + at, at);
          }
        }
      });
      System.out.printf(
          Locale.ROOT,
          "touched %d MB in %.0f ms%n",
          TOUCHED_BYTES >> 20,
          (System.nanoTime() - start) / 1e6);
    }
  }

  private static void onAllProcessors(Runnable work) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      threads.add(Thread.ofPlatform().start(work));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void fill(Path directory, long rows, boolean random) throws Exception {
    try (Store store = StoreFactory.open(new StoreConfig(directory, MEMORY_BYTES))) {
      List<IndexDefinition> indexes =
          random
              ? List.of(
                  index(store, "pkey", 0, true),
                  index(store, "number", 1, false),
                  index(store, "text", 2, false))
              : List.of(index(store, "pkey", 0, true));
      TableStore table =
          CatalogTool.createTable(
              store,
              new TableDefinition(
                  store.nextObjectId(),
                  List.of(
                      ColumnKind.INTEGER,
                      ColumnKind.INTEGER,
                      random ? ColumnKind.VARLENA : ColumnKind.INTEGER),
                  List.of(true, false, false),
                  indexes));
      for (long from = 1; from <= rows; from += BATCH) {
        StoreTransaction transaction = store.begin(false, false);
        transaction.beginStatement();
        for (long i = from; i < Math.min(rows + 1, from + BATCH); i++) {
          long id = random ? i * 0x9E37_79B9_7F4A_7C15L : i;
          try (VectorBatch batch =
              random
                  ? Rows.batch(
                      id,
                      i * 7919 % 100_000,
                      "text %d %s".formatted(id % 1_000_000, "t".repeat(60)))
                  : Rows.batch(id, i % 10, i * 7919 % 100_000)) {
            table.insert(transaction, batch, 0);
          }
        }
        Rows.commit(transaction, false);
      }
    }
  }

  private static IndexDefinition index(Store store, String name, int column, boolean unique) {
    return new IndexDefinition(store.nextObjectId(), name, List.of(column), List.of(false), unique);
  }
}
