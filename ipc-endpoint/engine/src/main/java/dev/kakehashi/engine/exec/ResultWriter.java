package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/// Writes rows into result buffers as row batches (PROTOCOL.md §6), one writer per task.
///
/// Rows grow up from the header, values down from the end of the buffer, so that nothing has to be known about their sizes in advance:
///
/// ```
///  0        32                                                     bytes
///  | header | row 0 | row 1 | ...  →        free        ←  | values |
/// ```
final class ResultWriter implements BatchConsumer {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private static final int RESERVED_OFFSET = RowBatchLayout.HEADER_BYTES - 8;

  /// Room asked for at first: the sink may answer with its inline area.
  private static final int FIRST_BYTES = 256;

  private final ResultSink sink;
  private final ColumnKind[] kinds;
  private final boolean anyReference;
  private final int bitmapBytes;
  private final int stride;
  private ResultSink.@Nullable Buffer buffer;
  private MemorySegment memory = MemorySegment.NULL;
  private int capacity;
  private int rowCount;
  private int rowsEnd;
  private int heapStart;
  private long written;

  /// Live rows of the current batch that are written already.
  private int position;

  ResultWriter(ResultSink sink, int[] typeOids) {
    this.sink = sink;
    this.kinds = MaterializedRows.kinds(typeOids);
    boolean references = false;
    for (ColumnKind kind : kinds) {
      references |= kind.byReference();
    }
    this.anyReference = references;
    this.bitmapBytes = RowBatchLayout.bitmapBytes(kinds.length);
    this.stride = RowBatchLayout.rowStride(kinds.length);
  }

  @Override
  public boolean accept(VectorBatch batch) {
    int live = batch.liveRows();
    while (position < live) {
      int fit = buffer == null ? 0 : fitting(batch, live);
      if (fit == 0) {
        if (buffer != null && rowCount > 0) {
          stage();
        }
        if (!acquire(batch)) {
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
  private boolean acquire(VectorBatch batch) {
    if (buffer != null) {
      buffer.discard();
      buffer = null;
    }
    int row = row(batch, position);
    long need = RowBatchLayout.HEADER_BYTES + stride + valueBytes(batch, row);
    if (need > sink.maxBatchBytes()) {
      throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "a row of " + need + " bytes is longer than a result buffer")
          .withDetail("The longest row batch is " + sink.maxBatchBytes() + " bytes.");
    }
    ResultSink.Buffer next = sink.acquire((int) Math.max(need, FIRST_BYTES));
    if (next == null) {
      return false;
    }
    buffer = next;
    memory = next.memory();
    capacity = (int) Math.min(memory.byteSize(), sink.maxBatchBytes()) & ~7;
    rowCount = 0;
    rowsEnd = RowBatchLayout.HEADER_BYTES;
    heapStart = capacity;
    return true;
  }

  /// How many of the next live rows fit into the buffer.
  private int fitting(VectorBatch batch, int live) {
    int left = live - position;
    if (!anyReference) {
      return Math.min(left, (heapStart - rowsEnd) / stride);
    }
    int free = heapStart - rowsEnd;
    int fit = 0;
    while (fit < left) {
      long bytes = stride + valueBytes(batch, row(batch, position + fit));
      if (bytes > free) {
        break;
      }
      free -= (int) bytes;
      fit++;
    }
    return fit;
  }

  private static int row(VectorBatch batch, int k) {
    return batch.selected < 0 ? k : batch.selection[k];
  }

  private long valueBytes(VectorBatch batch, int row) {
    long bytes = 0;
    for (int c = 0; c < kinds.length; c++) {
      if (kinds[c].byReference() && !batch.columns[c].isNull(row)) {
        bytes += align8(MaterializedRows.valueBytes(kinds[c], batch.columns[c].words[row]));
      }
    }
    return bytes;
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
      MemorySegment.copy(VarHeap.MEMORY, word, VarHeap.MEMORY, base + heapStart, bytes);
      VarHeap.MEMORY.set(LONG, at, heapStart);
    }
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
