package dev.kakehashi.protocol;

/// Offsets within a row batch (PROTOCOL.md §6).
///
/// ```
///  0        32                       rowsOffset + rowCount * rowStride   heapOffset      batchBytes
///  | header | row 0 | row 1 | ...    | (room for rows not written)      | heap ...      |
///            each row: null bitmap, ceil(columnCount / 64) words; then one word per column
/// ```
public final class RowBatchLayout {
  public static final int BATCH_BYTES_OFFSET = 0;
  public static final int ROW_COUNT_OFFSET = 4;
  public static final int COLUMN_COUNT_OFFSET = 8;
  public static final int ROW_STRIDE_OFFSET = 12;
  public static final int ROWS_OFFSET_OFFSET = 16;
  public static final int HEAP_OFFSET_OFFSET = 20;
  public static final int HEADER_BYTES = 32;

  /// Bytes of the null bitmap of a row.
  public static int bitmapBytes(int columnCount) {
    return ((columnCount + 63) >>> 6) << 3;
  }

  /// Bytes of one row without its heap values.
  public static int rowStride(int columnCount) {
    return bitmapBytes(columnCount) + 8 * columnCount;
  }

  /// Rounds up to the alignment of heap values.
  public static int align8(int bytes) {
    return (bytes + 7) & ~7;
  }

  private RowBatchLayout() {}
}
