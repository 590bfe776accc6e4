package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// A row batch (PROTOCOL.md §6) that is filled column by column.
///
/// Call protocol: [#begin], then for each column words at `wordAt(column)`, one every `stride()` bytes, [#setNull] and heap values by
/// [#heap]; [#dropRow] for rows that are refused, [#finish()]. The array may be another after each call that grows the heap. Its memory is
/// reserved from the statement. Not thread-safe.
public final class BatchFill implements AutoCloseable {
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int VARLENA_HEADER_BYTES = 4;
  private static final int FIRST_BYTES = 1 << 16;
  private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

  private final BulkContext context;
  private final int columns;
  private final int bitmapBytes;
  private final int stride;
  private byte[] bytes = {};
  private int rows;
  private int heapAt;
  private int heapEnd;

  public BatchFill(int columns, BulkContext context) {
    this.columns = columns;
    this.context = context;
    this.bitmapBytes = RowBatchLayout.bitmapBytes(columns);
    this.stride = RowBatchLayout.rowStride(columns);
  }

  /// Forgets what there was, and begins rows of zero words, none of them null.
  ///
  /// @throws EngineException LIMIT_EXCEEDED, OUT_OF_MEMORY
  public void begin(int count) {
    long end = RowBatchLayout.HEADER_BYTES + (long) count * stride;
    rows = count;
    heapEnd = 0;
    room(end, 0);
    Arrays.fill(bytes, 0, (int) end, (byte) 0);
    heapAt = (int) end;
    heapEnd = heapAt;
  }

  private void room(long end, int kept) {
    if (end <= bytes.length) {
      return;
    }
    if (end > MAX_BYTES) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "rows of more than " + MAX_BYTES + " bytes");
    }
    int wanted = (int) Math.min(MAX_BYTES, Math.max(Math.max(end, FIRST_BYTES), 2L * bytes.length));
    context.reserveMemory(wanted);
    byte[] old = bytes;
    bytes = new byte[wanted];
    System.arraycopy(old, 0, bytes, 0, kept);
    context.releaseMemory(old.length);
  }

  /// The batch.
  public byte[] bytes() {
    return bytes;
  }

  public int rows() {
    return rows;
  }

  /// Bytes from a word to the same column's in the next row.
  public int stride() {
    return stride;
  }

  /// Where the word of a column is in row 0.
  public int wordAt(int column) {
    return RowBatchLayout.HEADER_BYTES + bitmapBytes + 8 * column;
  }

  public void setWord(int row, int column, long word) {
    LONGS.set(bytes, wordAt(column) + row * stride, word);
  }

  /// Sets a null, and its word to 0.
  public void setNull(int row, int column) {
    int at = RowBatchLayout.HEADER_BYTES + row * stride + (column >>> 6 << 3);
    LONGS.set(bytes, at, (long) LONGS.get(bytes, at) | 1L << (column & 63));
    LONGS.set(bytes, wordAt(column) + row * stride, 0L);
  }

  /// Sets what is null of a column.
  ///
  /// @param present 0: null
  public void setNulls(int column, byte[] present, int from, int count) {
    for (int i = 0; i < count; i++) {
      if (present[from + i] == 0) {
        setNull(i, column);
      }
    }
  }

  /// Room for a value on the heap, whose length is rounded up by zeros.
  ///
  /// @return where it begins
  public int heap(int length) {
    int at = heapEnd;
    long end = at + ((length + 7L) & ~7L);
    room(end, heapEnd);
    LONGS.set(bytes, (int) end - 8, 0L);
    heapEnd = (int) end;
    return at;
  }

  /// Room for a varlena, whose header is written.
  ///
  /// @return where its header begins; the payload is 4 bytes after
  public int varlena(int payload) {
    if (payload > (Integer.MAX_VALUE >>> 2) - VARLENA_HEADER_BYTES) {
      throw new EngineException(ErrorCode.LIMIT_EXCEEDED, "value of " + payload + " bytes");
    }
    int at = heap(VARLENA_HEADER_BYTES + payload);
    INTS.set(bytes, at, (VARLENA_HEADER_BYTES + payload) << 2);
    return at;
  }

  /// Puts a varlena.
  ///
  /// @return its offset, for the word
  public int varlena(byte[] from, int start, int length) {
    int at = varlena(length);
    System.arraycopy(from, start, bytes, at + VARLENA_HEADER_BYTES, length);
    return at;
  }

  /// Leaves out the rows that have failed; the others move up in their order.
  public void drop(RowFailures failures) {
    int kept = 0;
    for (int row = 0; row < rows; row++) {
      if (failures.of(row) == null) {
        if (kept != row) {
          int from = RowBatchLayout.HEADER_BYTES + row * stride;
          System.arraycopy(bytes, from, bytes, RowBatchLayout.HEADER_BYTES + kept * stride, stride);
        }
        kept++;
      }
    }
    rows = kept;
  }

  /// Writes the header.
  ///
  /// @return the batch, until the next [#begin]
  public MemorySegment finish() {
    INTS.set(bytes, RowBatchLayout.BATCH_BYTES_OFFSET, heapEnd);
    INTS.set(bytes, RowBatchLayout.ROW_COUNT_OFFSET, rows);
    INTS.set(bytes, RowBatchLayout.COLUMN_COUNT_OFFSET, columns);
    INTS.set(bytes, RowBatchLayout.ROW_STRIDE_OFFSET, stride);
    INTS.set(bytes, RowBatchLayout.ROWS_OFFSET_OFFSET, RowBatchLayout.HEADER_BYTES);
    INTS.set(bytes, RowBatchLayout.HEAP_OFFSET_OFFSET, heapAt);
    return MemorySegment.ofArray(bytes).asSlice(0, heapEnd);
  }

  /// Gives its memory back.
  @Override
  public void close() {
    context.releaseMemory(bytes.length);
    bytes = new byte[0];
    rows = 0;
    heapEnd = 0;
  }
}
