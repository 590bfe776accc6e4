package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// Turns row batches of files into vectors, some rows at a time. Values of a batch outside of the heap are not copied: vectors show them
/// where they are. Confined to its task.
final class SourceRows {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
  private static final int HEADER_BYTES = 4;
  private static final int FIXED_BYTES = 16;

  private final ColumnKind[] kinds;
  private final int bitmapBytes;
  private final int stride;
  private final RowBatchReader header = new RowBatchReader();

  /// By word of the bitmaps, columns that are null in one of the rows.
  private final long[] anyNull;

  private MemorySegment batch = MemorySegment.NULL;
  private long heapOffset;
  private long batchBytes;

  /// Address of the batch; 0: its values are copied.
  private long address;

  private int rowCount;
  private int next;

  SourceRows(int[] typeOids) {
    this.kinds = MaterializedRows.kinds(typeOids);
    this.bitmapBytes = RowBatchLayout.bitmapBytes(kinds.length);
    this.stride = RowBatchLayout.rowStride(kinds.length);
    this.anyNull = new long[bitmapBytes / Long.BYTES];
  }

  /// Begins a row batch, which is there until all its rows have been taken.
  ///
  /// @throws EngineException INTERNAL_ERROR if it is none of such columns
  void begin(MemorySegment rows) {
    header.wrap(rows);
    if (header.columnCount() != kinds.length) {
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR,
          "rows of files have " + header.columnCount() + " columns instead of " + kinds.length);
    }
    batch = rows;
    batchBytes = header.batchBytes();
    heapOffset = rows.get(INT, RowBatchLayout.HEAP_OFFSET_OFFSET);
    address = rows.isNative() && (rows.address() & 7) == 0 ? rows.address() : 0;
    rowCount = header.rowCount();
    next = 0;
  }

  /// Rows of the batch.
  int rowCount() {
    return rowCount;
  }

  /// Rows that have been taken.
  int taken() {
    return next;
  }

  boolean isEmpty() {
    return next == rowCount;
  }

  /// Takes rows back.
  ///
  /// @param taken rows that have been taken then
  void back(int taken) {
    next = taken;
  }

  /// The batch is needed no longer.
  void end() {
    batch = MemorySegment.NULL;
    rowCount = 0;
    next = 0;
  }

  /// Puts the next rows into a batch.
  ///
  /// @param most rows at most, at least 1
  void fill(VectorBatch to, int most) {
    to.reset();
    int count = Math.min(Math.min(most, rowCount - next), VectorBatch.CAPACITY);
    long first = RowBatchLayout.HEADER_BYTES + (long) next * stride;
    collectNulls(first, count);
    for (int c = 0; c < kinds.length; c++) {
      if ((anyNull[c >>> 6] >>> (c & 63) & 1) != 0) {
        readNulls(first, count, c, to.columns[c]);
      }
      if (kinds[c].byReference()) {
        readValues(first, count, c, to);
      } else {
        readWords(first, count, c, to.columns[c]);
      }
    }
    to.size = count;
    next += count;
  }

  private void collectNulls(long first, int count) {
    for (int w = 0; w < anyNull.length; w++) {
      long any = 0;
      long at = first + 8L * w;
      for (int k = 0; k < count; k++) {
        any |= batch.get(LONG, at);
        at += stride;
      }
      anyNull[w] = any;
    }
  }

  private void readNulls(long first, int count, int column, ColumnVector to) {
    long at = first + 8L * (column >>> 6);
    for (int k = 0; k < count; k++) {
      if ((batch.get(LONG, at) >>> (column & 63) & 1) != 0) {
        to.setNull(k);
      }
      at += stride;
    }
  }

  private void readWords(long first, int count, int column, ColumnVector to) {
    long at = first + bitmapBytes + 8L * column;
    long[] words = to.words;
    for (int k = 0; k < count; k++) {
      words[k] = batch.get(LONG, at);
      at += stride;
    }
    clearNulls(count, to);
  }

  private static void clearNulls(int count, ColumnVector to) {
    for (int k = 0; to.hasNulls && k < count; k++) {
      if (to.isNull(k)) {
        to.words[k] = 0;
      }
    }
  }

  private void readValues(long first, int count, int column, VectorBatch to) {
    ColumnKind kind = kinds[column];
    boolean fixed = kind == ColumnKind.UUID || kind == ColumnKind.INTERVAL;
    long last = batchBytes - (fixed ? FIXED_BYTES : HEADER_BYTES);
    ColumnVector vector = to.columns[column];
    long at = first + bitmapBytes + 8L * column;
    for (int k = 0; k < count; k++) {
      if (!vector.isNull(k)) {
        long offset = batch.get(LONG, at);
        if (offset < heapOffset || offset > last) {
          throw new EngineException(
              ErrorCode.INTERNAL_ERROR, "a value of a file leaves its row batch");
        }
        vector.words[k] = address != 0 ? address + offset : copy(offset, fixed, to.heap);
      }
      at += stride;
    }
  }

  private long copy(long offset, boolean fixed, VarHeap heap) {
    int bytes = fixed ? FIXED_BYTES : batch.get(INT, offset) >>> 2;
    if (bytes < HEADER_BYTES || bytes > batchBytes - offset) {
      throw new EngineException(ErrorCode.INTERNAL_ERROR, "a value of a file leaves its row batch");
    }
    long to = heap.allocate(bytes);
    MemorySegment.copy(batch, offset, VarHeap.MEMORY, to, bytes);
    return to;
  }
}
