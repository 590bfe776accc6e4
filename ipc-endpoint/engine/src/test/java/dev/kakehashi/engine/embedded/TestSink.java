package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A reader of results in this process: a bounded number of buffers, which it may release at will.
public final class TestSink implements ResultSink {
  private static final int BATCH_BYTES = 64 << 10;

  private final List<Statement.Column> columns;
  private final int maxBuffers;
  private final List<byte[]> staged = new ArrayList<>();
  private final List<Runnable> waiting = new ArrayList<>();
  private int inUse;

  /// @param maxBuffers buffers that may be staged and not yet released
  TestSink(List<Statement.Column> columns, int maxBuffers) {
    this.columns = columns;
    this.maxBuffers = maxBuffers;
  }

  @Override
  public synchronized @Nullable Buffer acquire(int minBytes) {
    if (inUse >= maxBuffers) {
      return null;
    }
    inUse++;
    Arena arena = Arena.ofAuto();
    MemorySegment memory = arena.allocate(Math.max(BATCH_BYTES, minBytes), 8);
    memory.fill((byte) 0xA5);
    return new Buffer() {
      @Override
      public MemorySegment memory() {
        return memory;
      }

      @Override
      public void stage(int batchBytes, int rowCount) {
        synchronized (TestSink.this) {
          staged.add(memory.asSlice(0, batchBytes).toArray(ValueLayout.JAVA_BYTE));
        }
      }

      @Override
      public void discard() {
        synchronized (TestSink.this) {
          inUse--;
        }
      }
    };
  }

  @Override
  public void whenWritable(Runnable wake) {
    synchronized (this) {
      if (inUse >= maxBuffers) {
        waiting.add(wake);
        return;
      }
    }
    wake.run();
  }

  @Override
  public int maxBatchBytes() {
    return 16 << 20;
  }

  /// Number of writers that wait for [#release()].
  synchronized int waiters() {
    return waiting.size();
  }

  /// Lets the writer go on.
  void release() {
    List<Runnable> wake;
    synchronized (this) {
      inUse = 0;
      wake = List.copyOf(waiting);
      waiting.clear();
    }
    wake.forEach(Runnable::run);
  }

  /// All rows staged so far, columns as PostgreSQL prints them, separated by `|`; null is `NULL`.
  public synchronized List<String> rows() {
    List<String> rows = new ArrayList<>();
    for (byte[] batch : staged) {
      decode(batch, rows);
    }
    return rows;
  }

  private void decode(byte[] bytes, List<String> rows) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment batch = arena.allocate(bytes.length, 8);
      MemorySegment.copy(bytes, 0, batch, ValueLayout.JAVA_BYTE, 0, bytes.length);
      int rowCount = batch.get(ValueLayout.JAVA_INT, RowBatchLayout.ROW_COUNT_OFFSET);
      int columnCount = batch.get(ValueLayout.JAVA_INT, RowBatchLayout.COLUMN_COUNT_OFFSET);
      int stride = batch.get(ValueLayout.JAVA_INT, RowBatchLayout.ROW_STRIDE_OFFSET);
      int rowsOffset = batch.get(ValueLayout.JAVA_INT, RowBatchLayout.ROWS_OFFSET_OFFSET);
      if (columnCount != columns.size()) {
        throw new AssertionError("batch has " + columnCount + " columns, not " + columns.size());
      }
      for (int r = 0; r < rowCount; r++) {
        long row = rowsOffset + (long) r * stride;
        StringBuilder text = new StringBuilder();
        for (int c = 0; c < columnCount; c++) {
          text.append(c == 0 ? "" : "|").append(value(batch, row, c, columnCount));
        }
        rows.add(text.toString());
      }
    }
  }

  private String value(MemorySegment batch, long row, int column, int columnCount) {
    long nulls = batch.get(ValueLayout.JAVA_LONG, row + 8L * (column >>> 6));
    long word =
        batch.get(
            ValueLayout.JAVA_LONG, row + RowBatchLayout.bitmapBytes(columnCount) + 8L * column);
    if ((nulls >>> (column & 63) & 1) != 0) {
      return "NULL";
    }
    int oid = columns.get(column).typeOid();
    long value = Types.kind(oid).byReference() ? batch.address() + word : word;
    return Values.toText(oid, value);
  }
}
