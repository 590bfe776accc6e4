package dev.kakehashi.engine.exec.result;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.BatchConsumer;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Writes rows into result buffers as row batches (PROTOCOL.md §6), one writer per task. Used for one result after another.
///
/// Rows grow up from the header, values down from the end of the buffer, so that nothing has to be known about their sizes in advance:
///
/// ```
///  0        32                                                     bytes
///  | header | row 0 | row 1 | ...  →        free        ←  | values |
/// ```
public final class ResultWriter implements BatchConsumer {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfLong UNALIGNED = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private static final int RESERVED_OFFSET = RowBatchLayout.HEADER_BYTES - 8;

  private static final int LONGEST_BY_WORDS = 128;

  private static final int FEW_ROWS = 8;

  /// In a batch of rows without columns, which take no room.
  private static final int MOST_EMPTY_ROWS = 1 << 16;

  /// Room asked for at first: the sink may answer with its inline area.
  private static final int FIRST_BYTES = 256;

  private final ColumnKind[] kinds;
  private final boolean anyReference;
  private final int bitmapBytes;
  private final int stride;

  /// Null: closed.
  private @Nullable ResultSink sink;

  private ResultSink.@Nullable Buffer buffer;
  private MemorySegment memory = MemorySegment.NULL;
  private int capacity;
  private int rowCount;
  private int rowsEnd;
  private int heapStart;
  private long written;

  /// Live rows of the current batch that are written already.
  private int position;

  /// Bytes that each live row of the current batch takes, if there are by-reference columns.
  private long[] rowBytes = new long[0];

  public ResultWriter(int[] typeOids) {
    this.kinds = MaterializedRows.kinds(typeOids);
    boolean references = false;
    for (ColumnKind kind : kinds) {
      references |= kind.byReference();
    }
    this.anyReference = references;
    this.bitmapBytes = RowBatchLayout.bitmapBytes(kinds.length);
    this.stride = RowBatchLayout.rowStride(kinds.length);
  }

  public ResultWriter(ResultSink sink, int[] typeOids) {
    this(typeOids);
    this.sink = sink;
  }

  /// Begins a result.
  public void open(ResultSink newSink) {
    sink = newSink;
    written = 0;
    position = 0;
  }

  /// Lets go of the sink, and gives back what is still held.
  public void close() {
    abandon();
    sink = null;
  }

  @Override
  public boolean accept(VectorBatch batch) {
    int live = batch.liveRows();
    if (anyReference && position == 0) {
      measure(batch, live);
    }
    while (position < live) {
      int fit = buffer == null ? 0 : fitting(live);
      if (fit == 0) {
        if (buffer != null && rowCount > 0) {
          stage();
        }
        if (!acquire()) {
          return false;
        }
        continue;
      }
      write(batch, fit);
      position += fit;
      written += fit;
    }
    position = 0;
    return true;
  }

  @Override
  public boolean finish() {
    if (buffer != null) {
      if (rowCount > 0) {
        stage();
      } else {
        abandon();
      }
    }
    return true;
  }

  @Override
  public void endBeforeFailure() {
    finish();
  }

  @Override
  public void abandon() {
    if (buffer != null) {
      buffer.discard();
      buffer = null;
      memory = MemorySegment.NULL;
    }
  }

  @Override
  public long rows() {
    return written;
  }

  /// Takes a buffer that holds at least the next row.
  private boolean acquire() {
    if (buffer != null) {
      buffer.discard();
      buffer = null;
    }
    ResultSink to = sink;
    if (to == null) {
      throw new IllegalStateException("the writer is closed");
    }
    long need = RowBatchLayout.HEADER_BYTES + (anyReference ? rowBytes[position] : stride);
    if (need > to.maxBatchBytes()) {
      throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "a row of " + need + " bytes is longer than a result buffer")
          .withDetail("The longest row batch is " + to.maxBatchBytes() + " bytes.")
          .withHint("Raise \"max_batch_bytes\" of the endpoint.");
    }
    ResultSink.Buffer next = to.acquire((int) Math.max(need, FIRST_BYTES));
    if (next == null) {
      return false;
    }
    buffer = next;
    memory = next.memory();
    capacity = (int) Math.min(memory.byteSize(), to.maxBatchBytes()) & ~7;
    rowCount = 0;
    rowsEnd = RowBatchLayout.HEADER_BYTES;
    heapStart = capacity;
    return true;
  }

  /// How many of the next live rows fit into the buffer.
  private int fitting(int live) {
    int left = live - position;
    int free = heapStart - rowsEnd;
    if (stride == 0) {
      return Math.min(left, MOST_EMPTY_ROWS - rowCount);
    }
    if (!anyReference) {
      return Math.min(left, free / stride);
    }
    int fit = 0;
    while (fit < left && rowBytes[position + fit] <= free) {
      free -= (int) rowBytes[position + fit];
      fit++;
    }
    return fit;
  }

  private static int row(VectorBatch batch, int k) {
    return batch.selected < 0 ? k : batch.selection[k];
  }

  /// Fills [#rowBytes], column by column: headers of one column's values lie near each other.
  private void measure(VectorBatch batch, int live) {
    if (rowBytes.length < live) {
      // A point select has one row: an array for a whole batch would be most of what it allocates.
      rowBytes = new long[live <= FEW_ROWS ? live : VectorBatch.CAPACITY];
    }
    Arrays.fill(rowBytes, 0, live, stride);
    for (int c = 0; c < kinds.length; c++) {
      if (!kinds[c].byReference()) {
        continue;
      }
      ColumnVector column = batch.columns[c];
      for (int k = 0; k < live; k++) {
        int row = row(batch, k);
        if (!column.isNull(row)) {
          rowBytes[k] += align8(MaterializedRows.valueBytes(kinds[c], column.words[row]));
        }
      }
    }
  }

  private static long align8(int bytes) {
    return (bytes + 7L) & ~7L;
  }

  private void write(VectorBatch batch, int count) {
    long base = memory.address();
    for (int w = 0; w < bitmapBytes; w += 8) {
      long at = base + rowsEnd + w;
      for (int k = 0; k < count; k++, at += stride) {
        VarHeap.MEMORY.set(LONG, at, 0);
      }
    }
    for (int c = 0; c < kinds.length; c++) {
      ColumnVector column = batch.columns[c];
      long at = base + rowsEnd + bitmapBytes + 8L * c;
      if (kinds[c].byReference()) {
        writeValues(batch, column, kinds[c], at, count);
      } else {
        writeWords(batch, column, at, count);
      }
      if (column.hasNulls) {
        writeNulls(batch, column, base + rowsEnd, c, count);
      }
    }
    rowsEnd += count * stride;
    rowCount += count;
  }

  private void writeWords(VectorBatch batch, ColumnVector column, long at, int count) {
    long[] words = column.words;
    if (batch.selected < 0) {
      for (int k = 0; k < count; k++, at += stride) {
        VarHeap.MEMORY.set(LONG, at, words[position + k]);
      }
    } else {
      int[] selection = batch.selection;
      for (int k = 0; k < count; k++, at += stride) {
        VarHeap.MEMORY.set(LONG, at, words[selection[position + k]]);
      }
    }
  }

  private void writeValues(
      VectorBatch batch, ColumnVector column, ColumnKind kind, long at, int count) {
    long base = memory.address();
    for (int k = 0; k < count; k++, at += stride) {
      int row = row(batch, position + k);
      if (column.isNull(row)) {
        VarHeap.MEMORY.set(LONG, at, 0);
        continue;
      }
      long word = column.words[row];
      int bytes = MaterializedRows.valueBytes(kind, word);
      heapStart -= (int) align8(bytes);
      copy(word, base + heapStart, bytes);
      VarHeap.MEMORY.set(LONG, at, heapStart);
    }
  }

  /// Most values are a few words long: a call to copy them costs more than the copy.
  private static void copy(long from, long to, int bytes) {
    if (bytes > LONGEST_BY_WORDS || bytes < Long.BYTES) {
      MemorySegment.copy(VarHeap.MEMORY, from, VarHeap.MEMORY, to, bytes);
      return;
    }
    int last = bytes - Long.BYTES;
    for (int i = 0; i < last; i += Long.BYTES) {
      VarHeap.MEMORY.set(LONG, to + i, VarHeap.MEMORY.get(LONG, from + i));
    }
    // The last word overlaps the one before it: nothing beyond the value is read.
    VarHeap.MEMORY.set(UNALIGNED, to + last, VarHeap.MEMORY.get(UNALIGNED, from + last));
  }

  private void writeNulls(VectorBatch batch, ColumnVector column, long rows, int c, int count) {
    long at = rows + 8L * (c >>> 6);
    long bit = 1L << (c & 63);
    for (int k = 0; k < count; k++, at += stride) {
      if (column.isNull(row(batch, position + k))) {
        VarHeap.MEMORY.set(LONG, at, VarHeap.MEMORY.get(LONG, at) | bit);
        VarHeap.MEMORY.set(LONG, at + bitmapBytes - 8L * (c >>> 6) + 8L * c, 0);
      }
    }
  }

  private void stage() {
    ResultSink.Buffer full = buffer;
    if (full == null) {
      return;
    }
    int batchBytes = heapStart == capacity ? rowsEnd : capacity;
    memory.set(INT, RowBatchLayout.BATCH_BYTES_OFFSET, batchBytes);
    memory.set(INT, RowBatchLayout.ROW_COUNT_OFFSET, rowCount);
    memory.set(INT, RowBatchLayout.COLUMN_COUNT_OFFSET, kinds.length);
    memory.set(INT, RowBatchLayout.ROW_STRIDE_OFFSET, stride);
    memory.set(INT, RowBatchLayout.ROWS_OFFSET_OFFSET, RowBatchLayout.HEADER_BYTES);
    memory.set(INT, RowBatchLayout.HEAP_OFFSET_OFFSET, heapStart == capacity ? rowsEnd : heapStart);
    memory.set(LONG, RESERVED_OFFSET, 0);
    buffer = null;
    memory = MemorySegment.NULL;
    full.stage(batchBytes, rowCount);
    rowCount = 0;
  }
}
