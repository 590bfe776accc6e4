package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableDefinition.IndexDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// Cost of taking back the UPDATE of an indexed column of many rows, in time and in the heap.
///
/// Arguments: directory, rows. The table is `(id int8 PRIMARY KEY, val int8)` with an index on val, the update `SET val = -val`.
final class RollbackBenchmark {
  private static final int BATCH = 100_000;
  private static final long MEMORY_BYTES = 16L << 30;

  private RollbackBenchmark() {}

  public static void main(String[] arguments) {
    int rows = Integer.parseInt(arguments[1]);
    try (Store store = StoreFactory.open(new StoreConfig(Path.of(arguments[0]), MEMORY_BYTES))) {
      TableStore table = CatalogTool.createTable(store, definition(store));
      long[] rowIds = fill(store, table, rows);
      StoreTransaction transaction = store.begin(false, false);
      long mark = transaction.mark();
      long begun = System.nanoTime();
      transaction.beginStatement();
      try (VectorBatch batch = Rows.batch(0L, 0L)) {
        for (int id = 0; id < rows; id++) {
          batch.columns[0].words[0] = id;
          batch.columns[1].words[0] = -id;
          table.update(transaction, rowIds[id], batch, 0);
        }
      }
      long updated = System.nanoTime();
      long before = heapBytes();
      long from = System.nanoTime();
      transaction.rollbackTo(mark);
      long undone = System.nanoTime();
      System.out.printf(
          Locale.ROOT,
          "update %.0f ms, heap then %d MB; rollback %.0f ms, heap %.1f bytes a row more%n",
          (updated - begun) / 1e6,
          before >> 20,
          (undone - from) / 1e6,
          (double) (heapBytes() - before) / rows);
      transaction.abort();
    }
  }

  private static TableDefinition definition(Store store) {
    return new TableDefinition(
        store.nextObjectId(),
        List.of(ColumnKind.INTEGER, ColumnKind.INTEGER),
        List.of(true, true),
        List.of(
            new IndexDefinition(store.nextObjectId(), "pkey", List.of(0), List.of(false), true),
            new IndexDefinition(store.nextObjectId(), "val", List.of(1), List.of(false), false)));
  }

  private static long[] fill(Store store, TableStore table, int rows) {
    long[] rowIds = new long[rows];
    for (int from = 0; from < rows; from += BATCH) {
      StoreTransaction transaction = store.begin(false, false);
      transaction.beginStatement();
      try (VectorBatch batch = Rows.batch(0L, 0L)) {
        for (int id = from; id < Math.min(rows, from + BATCH); id++) {
          batch.columns[0].words[0] = id;
          batch.columns[1].words[0] = id;
          rowIds[id] = table.insert(transaction, batch, 0);
        }
      }
      Rows.commit(transaction);
    }
    return rowIds;
  }

  private static long heapBytes() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
