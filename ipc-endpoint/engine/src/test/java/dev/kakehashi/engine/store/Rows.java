package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertNull;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Rows as Java values for tests: Long, Double, String (text) and byte[] (numeric, uuid, interval as raw bytes), and null.
final class Rows {
  private Rows() {}

  /// A batch of one row. The caller closes it.
  static VectorBatch batch(@Nullable Object... values) {
    VectorBatch batch = new VectorBatch(values.length);
    batch.size = 1;
    for (int c = 0; c < values.length; c++) {
      Object value = values[c];
      if (value == null) {
        batch.columns[c].setNull(0);
      } else {
        batch.columns[c].words[0] = word(batch.heap, value);
      }
    }
    return batch;
  }

  static long word(VarHeap heap, Object value) {
    return switch (value) {
      case Long number -> number;
      case Double number -> Double.doubleToRawLongBits(number);
      case String text -> text(heap, text);
      case byte[] raw -> {
        long address = heap.allocate(raw.length);
        Native.copyFromArray(raw, 0, address, raw.length);
        yield address;
      }
      default -> throw new IllegalArgumentException("no word for " + value);
    };
  }

  static long text(VarHeap heap, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    long address = heap.allocate(bytes.length + 4L);
    Native.putInt(address, (bytes.length + 4) << 2);
    Native.copyFromArray(bytes, 0, address + 4, bytes.length);
    return address;
  }

  static String text(long address) {
    byte[] bytes = new byte[VarlenaLengths.bytes(address) - 4];
    Native.copyToArray(address + 4, bytes, 0, bytes.length);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static long insert(TableStore table, StoreTransaction transaction, @Nullable Object... values) {
    try (VectorBatch batch = batch(values)) {
      return table.insert(transaction, batch, 0);
    }
  }

  static boolean update(
      TableStore table, StoreTransaction transaction, long rowId, @Nullable Object... values) {
    try (VectorBatch batch = batch(values)) {
      return table.update(transaction, rowId, batch, 0);
    }
  }

  static void commit(StoreTransaction transaction) {
    commit(transaction, true);
  }

  static void commit(StoreTransaction transaction, boolean stored) {
    CompletableFuture<@Nullable Throwable> result = new CompletableFuture<>();
    transaction.commit(stored, result::complete);
    Throwable failure = result.orTimeout(60, TimeUnit.SECONDS).join();
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
  }

  /// Frees all that nobody can read any more; what was committed is durable before, because nothing else is freed.
  static void collect(Store store) {
    MemoryStore memory = (MemoryStore) store;
    CompletableFuture<@Nullable Throwable> durable = new CompletableFuture<>();
    memory.transactions().committer().whenDurable(Long.MAX_VALUE, 0, durable::complete);
    assertNull(durable.orTimeout(60, TimeUnit.SECONDS).join());
    memory.collector().collect();
  }

  /// A row that was read, with its identifier.
  record Row(long rowId, List<@Nullable Object> values) {}

  /// Everything a cursor delivers; the cursor is closed.
  static List<Row> drain(RowCursor cursor, TableStore table) {
    List<Row> rows = new ArrayList<>();
    List<ColumnKind> kinds = table.definition().columns();
    try (cursor;
        VectorBatch batch = new VectorBatch(kinds.size())) {
      while (cursor.next(batch)) {
        for (int r = 0; r < batch.size; r++) {
          List<@Nullable Object> values = new ArrayList<>();
          for (int c = 0; c < kinds.size(); c++) {
            values.add(
                batch.columns[c].isNull(r) ? null : value(kinds.get(c), batch.columns[c].words[r]));
          }
          rows.add(new Row(batch.rowIds[r], values));
        }
      }
    }
    return rows;
  }

  private static Object value(ColumnKind kind, long word) {
    return switch (kind) {
      case INTEGER -> word;
      case FLOAT4, FLOAT8 -> Double.longBitsToDouble(word);
      case VARLENA, BPCHAR -> text(word);
      case NUMERIC, UUID, INTERVAL -> {
        byte[] bytes = new byte[VarlenaLengths.bytes(kind, word)];
        Native.copyToArray(word, bytes, 0, bytes.length);
        yield Arrays.toString(bytes);
      }
      default -> throw new IllegalArgumentException(kind + " is the kind of no column");
    };
  }

  static int[] allColumns(TableStore table) {
    int[] columns = new int[table.definition().columns().size()];
    Arrays.setAll(columns, c -> c);
    return columns;
  }

  static List<Row> scan(TableStore table, ReadView view) {
    return drain(table.scan(view, 0, table.pageCount(), allColumns(table), true), table);
  }

  static List<Row> indexScan(TableStore table, ReadView view, int index, KeyRange range) {
    return drain(table.indexScan(view, index, range, false, allColumns(table), true), table);
  }

  /// Values of rows, in order.
  static List<List<@Nullable Object>> values(List<Row> rows) {
    return rows.stream().map(Row::values).toList();
  }
}
