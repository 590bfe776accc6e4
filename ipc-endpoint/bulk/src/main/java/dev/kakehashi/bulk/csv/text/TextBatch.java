package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// A row batch that is built in an array, with room for a fixed number of rows before the heap, so that no value moves.
///
/// Call protocol: [#addRow()], then for each column a setter, or [#setNull]; a row that fails is dropped. A batch that [#isFull()] takes no
/// further row; the row that made it full may be as long as a value can be. Not thread-safe.
public final class TextBatch implements AutoCloseable {
  private static final int ROW_BYTES = 1 << 17;
  private static final int HEAP_BYTES = 1 << 18;
  private static final int MAX_ROWS = 4096;

  /// Most bytes of an array of the JVM, less padding.
  private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

  /// PostgreSQL's longest value.
  static final int MAX_VALUE_BYTES = 1 << 30;

  private final BulkContext context;
  private final int columnCount;
  private final int bitmapBytes;
  private final int stride;
  private final int maxRows;
  private final int heapBegin;

  /// Batch and padding.
  byte[] memory;

  private int rowCount;
  private int rowAt;
  private int wordsAt;
  private int heapEnd;
  private int heapEndBeforeRow;

  /// @param context whose memory it reserves
  public TextBatch(int columnCount, BulkContext context) {
    this(columnCount, MAX_ROWS, HEAP_BYTES / 4, context);
  }

  private TextBatch(int columnCount, int rows, int heapBytes, BulkContext context) {
    this.context = context;
    this.columnCount = columnCount;
    this.bitmapBytes = RowBatchLayout.bitmapBytes(columnCount);
    this.stride = RowBatchLayout.rowStride(columnCount);
    this.maxRows = Math.clamp(ROW_BYTES / Math.max(1, stride), 1, rows);
    this.heapBegin = RowBatchLayout.HEADER_BYTES + maxRows * stride;
    int length = heapBegin + heapBytes + Eight.PADDING;
    context.reserveMemory(length);
    this.memory = new byte[length];
    reset();
  }

  /// For one value at a time.
  public static TextBatch single(BulkContext context) {
    return new TextBatch(1, 1, 256, context);
  }

  /// Forgets all rows.
  public void reset() {
    rowCount = 0;
    heapEnd = heapBegin;
    heapEndBeforeRow = heapBegin;
  }

  public int rowCount() {
    return rowCount;
  }

  public int maxRows() {
    return maxRows;
  }

  public boolean isFull() {
    return rowCount == maxRows || heapEnd - heapBegin >= HEAP_BYTES;
  }

  /// Begins a row without nulls, whose words have to be set.
  public void addRow() {
    rowAt = RowBatchLayout.HEADER_BYTES + rowCount * stride;
    wordsAt = rowAt + bitmapBytes;
    heapEndBeforeRow = heapEnd;
    for (int at = rowAt; at < wordsAt; at += 8) {
      Eight.store(memory, at, 0);
    }
    rowCount++;
  }

  /// Takes the last row back.
  public void dropRow() {
    rowCount--;
    heapEnd = heapEndBeforeRow;
  }

  public void setNull(int column) {
    int at = rowAt + (column >>> 6 << 3);
    Eight.store(memory, at, Eight.load(memory, at) | 1L << (column & 63));
    Eight.store(memory, wordsAt + (column << 3), 0);
  }

  public void setWord(int column, long word) {
    Eight.store(memory, wordsAt + (column << 3), word);
  }

  /// Room for a value on the heap, which the column's word then is. Bytes written behind it, up to eight, do no harm; the last eight are
  /// zero.
  ///
  /// @return where it is in [#memory], which may be another array afterwards
  /// @throws EngineException LIMIT_EXCEEDED, OUT_OF_MEMORY
  int heap(int column, int bytes) {
    int at = heapEnd;
    long end = (long) at + (((long) bytes + 7) & ~7L);
    if (end + Eight.PADDING > memory.length) {
      grow(end);
    }
    heapEnd = (int) end;
    Eight.store(memory, heapEnd - 8, 0);
    setWord(column, at);
    return at;
  }

  /// A varlena of a length, header included.
  ///
  /// @return where its payload is
  int varlena(int column, int payloadBytes) {
    if (payloadBytes > MAX_VALUE_BYTES - 4) {
      throw tooLong();
    }
    int at = heap(column, payloadBytes + 4);
    Eight.INTS.set(memory, at, (payloadBytes + 4) << 2);
    return at + 4;
  }

  void setVarlena(int column, byte[] payload) {
    int at = varlena(column, payload.length);
    System.arraycopy(payload, 0, memory, at, payload.length);
  }

  private static EngineException tooLong() {
    return new EngineException(
        ErrorCode.LIMIT_EXCEEDED, "value or row is longer than " + MAX_VALUE_BYTES + " bytes");
  }

  private void grow(long end) {
    if (end > MAX_BYTES) {
      throw tooLong();
    }
    long length = Math.min(MAX_BYTES, Math.max(end, memory.length + memory.length / 2L)) + 8;
    context.reserveMemory(length);
    int old = memory.length;
    memory = Arrays.copyOf(memory, (int) length);
    context.releaseMemory(old);
  }

  /// The finished batch; valid until the next change.
  public MemorySegment finish() {
    Eight.INTS.set(memory, RowBatchLayout.BATCH_BYTES_OFFSET, heapEnd);
    Eight.INTS.set(memory, RowBatchLayout.ROW_COUNT_OFFSET, rowCount);
    Eight.INTS.set(memory, RowBatchLayout.COLUMN_COUNT_OFFSET, columnCount);
    Eight.INTS.set(memory, RowBatchLayout.ROW_STRIDE_OFFSET, stride);
    Eight.INTS.set(memory, RowBatchLayout.ROWS_OFFSET_OFFSET, RowBatchLayout.HEADER_BYTES);
    Eight.INTS.set(memory, RowBatchLayout.HEAP_OFFSET_OFFSET, heapBegin);
    Eight.store(memory, RowBatchLayout.HEAP_OFFSET_OFFSET + 4, 0);
    return MemorySegment.ofArray(memory).asSlice(0, heapEnd);
  }

  @Override
  public void close() {
    context.releaseMemory(memory.length);
    memory = new byte[0];
  }
}
