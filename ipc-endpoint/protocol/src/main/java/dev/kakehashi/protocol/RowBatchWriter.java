package dev.kakehashi.protocol;

import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.protocol.value.PgNumeric;
import dev.kakehashi.protocol.value.PgTime;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.BitSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Builds a row batch (PROTOCOL.md §6), in memory of the caller or in an array that grows.
///
/// Call protocol: [#addRow()], then one setter per column (columns not set hold the word 0), ..., [#finish()]. `addRow` and the setters
/// of heap values return false when what they add does not fit; the caller then drops the row, sends what there is, resets and repeats.
///
/// Not thread-safe.
public final class RowBatchWriter {
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong I64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int VARLENA_HEADER_BYTES = 4;

  private final int columnCount;
  private final int bitmapBytes;
  private final int rowStride;
  private final int maxRows;
  private final int maxBytes;

  /// Words that hold an offset, by their place in the batch: they go along when the heap moves. Null when it never does.
  private final @Nullable BitSet heapWords;

  private MemorySegment memory;

  /// Rows for which there is room before the heap.
  private int rowCapacity;

  private int heapOffset;
  private int rowCount;
  private long rowAt;
  private int heapEnd;
  private int heapEndBeforeRow;

  private RowBatchWriter(
      MemorySegment memory, int columnCount, int maxRows, int maxBytes, boolean growable) {
    this.memory = memory;
    this.columnCount = columnCount;
    this.bitmapBytes = RowBatchLayout.bitmapBytes(columnCount);
    this.rowStride = RowBatchLayout.rowStride(columnCount);
    this.maxRows = maxRows;
    this.maxBytes = maxBytes;
    this.heapWords = growable ? new BitSet() : null;
    keepRoomFor(growable ? Math.min(1, maxRows) : maxRows);
  }

  private void keepRoomFor(int rows) {
    rowCapacity = rows;
    heapOffset = RowBatchLayout.HEADER_BYTES + rows * rowStride;
    heapEnd = heapOffset;
    heapEndBeforeRow = heapOffset;
  }

  /// A writer into `memory`, which stays the caller's.
  ///
  /// @param rowCapacity rows for which room is kept before the heap
  /// @throws IllegalArgumentException when not even the rows fit
  public static RowBatchWriter fixed(MemorySegment memory, int columnCount, int rowCapacity) {
    int bytes = (int) Math.min(memory.byteSize(), Integer.MAX_VALUE) & ~7;
    check(columnCount, rowCapacity, bytes);
    return new RowBatchWriter(memory, columnCount, rowCapacity, bytes, false);
  }

  /// A writer into an array of its own that grows up to `maxBytes`, and whose batches are as long as their rows need.
  ///
  /// @throws IllegalArgumentException when not even the rows fit
  public static RowBatchWriter growable(int columnCount, int maxRows, int maxBytes) {
    int bytes = maxBytes & ~7;
    check(columnCount, maxRows, bytes);
    int room =
        RowBatchLayout.HEADER_BYTES + RowBatchLayout.rowStride(columnCount) + 32 * columnCount;
    return new RowBatchWriter(
        MemorySegment.ofArray(new byte[Math.min(bytes, room)]), columnCount, maxRows, bytes, true);
  }

  /// Rows without heap values that fit into `bytes`.
  public static int rowsThatFit(int columnCount, int bytes) {
    int stride = RowBatchLayout.rowStride(columnCount);
    return stride == 0 ? Integer.MAX_VALUE : (bytes - RowBatchLayout.HEADER_BYTES) / stride;
  }

  private static void check(int columnCount, int rowCapacity, int bytes) {
    long rows = (long) rowCapacity * RowBatchLayout.rowStride(columnCount);
    if (columnCount < 0 || rowCapacity < 0 || RowBatchLayout.HEADER_BYTES + rows > bytes) {
      throw new IllegalArgumentException(
          rowCapacity + " rows of " + columnCount + " columns do not fit into " + bytes + " bytes");
    }
  }

  public int columnCount() {
    return columnCount;
  }

  public int rowCount() {
    return rowCount;
  }

  /// Begins a row of zero words, none of them null. False when there is no room for another row.
  public boolean addRow() {
    if (rowCount == rowCapacity && !moveHeap()) {
      return false;
    }
    rowAt = RowBatchLayout.HEADER_BYTES + (long) rowCount * rowStride;
    memory.asSlice(rowAt, rowStride).fill((byte) 0);
    rowCount++;
    heapEndBeforeRow = heapEnd;
    return true;
  }

  /// Takes the last row back. May be called once after each [#addRow()].
  public void dropRow() {
    if (rowCount == 0) {
      throw new IllegalStateException("no row to drop");
    }
    rowCount--;
    rowAt = RowBatchLayout.HEADER_BYTES + (long) (rowCount - 1) * rowStride;
    heapEnd = heapEndBeforeRow;
    if (heapWords != null) {
      heapWords.clear((int) (rowAt + rowStride) >>> 3, heapOffset >>> 3);
    }
  }

  /// Makes room for twice as many rows; false when there is none.
  private boolean moveHeap() {
    if (heapWords == null) {
      return false;
    }
    int fit = (maxBytes - heapEnd) / Math.max(1, rowStride);
    int more = Math.min(Math.min(maxRows - rowCapacity, rowCapacity), fit);
    if (more <= 0) {
      return false;
    }
    int moved = more * rowStride;
    if (heapEnd + moved > memory.byteSize()) {
      grow(heapEnd + moved);
    }
    MemorySegment.copy(memory, heapOffset, memory, heapOffset + moved, heapEnd - heapOffset);
    for (int word = heapWords.nextSetBit(0); word >= 0; word = heapWords.nextSetBit(word + 1)) {
      long at = (long) word << 3;
      memory.set(I64, at, memory.get(I64, at) + moved);
    }
    int end = heapEnd + moved;
    keepRoomFor(rowCapacity + more);
    heapEnd = end;
    return true;
  }

  public void setNull(int column) {
    long at = rowAt + ((long) (checkColumn(column) >>> 6) << 3);
    memory.set(I64, at, memory.get(I64, at) | 1L << (column & 63));
    long word = wordAt(column);
    memory.set(I64, word, 0);
    if (heapWords != null) {
      heapWords.clear((int) (word >>> 3));
    }
  }

  /// Sets a by-value column: bool, int2, int4, int8, date, time, timestamp, timestamptz in their word form.
  public void setLong(int column, long word) {
    memory.set(I64, wordAt(checkColumn(column)), word);
  }

  public void setBoolean(int column, boolean value) {
    setLong(column, value ? 1 : 0);
  }

  public void setFloat(int column, float value) {
    setLong(column, Float.floatToRawIntBits(value) & 0xFFFF_FFFFL);
  }

  public void setDouble(int column, double value) {
    setLong(column, Double.doubleToRawLongBits(value));
  }

  public void setDate(int column, LocalDate value) {
    setLong(column, PgTime.fromDate(value));
  }

  public void setTime(int column, LocalTime value) {
    setLong(column, PgTime.fromTime(value));
  }

  public void setTimestamp(int column, LocalDateTime value) {
    setLong(column, PgTime.fromTimestamp(value));
  }

  public void setTimestamptz(int column, Instant value) {
    setLong(column, PgTime.fromInstant(value));
  }

  public boolean setString(int column, String value) {
    return setVarlena(column, value.getBytes(StandardCharsets.UTF_8));
  }

  public boolean setBytes(int column, byte[] value) {
    return setVarlena(column, value);
  }

  public boolean setNumeric(int column, BigDecimal value) {
    return setVarlena(column, PgNumeric.encode(value));
  }

  public boolean setNumeric(int column, PgNumeric value) {
    return setVarlena(column, value.encode());
  }

  public boolean setUuid(int column, UUID value) {
    int at = reserve(column, 16);
    if (at < 0) {
      return false;
    }
    memory.set(I64, at, Long.reverseBytes(value.getMostSignificantBits()));
    memory.set(I64, at + 8L, Long.reverseBytes(value.getLeastSignificantBits()));
    return true;
  }

  public boolean setInterval(int column, PgInterval value) {
    int at = reserve(column, PgInterval.BYTES);
    if (at < 0) {
      return false;
    }
    memory.set(I64, at, value.micros());
    memory.set(I32, at + 8L, value.days());
    memory.set(I32, at + 12L, value.months());
    return true;
  }

  /// Puts a varlena on the heap: 4-byte header, then `payload`.
  public boolean setVarlena(int column, byte[] payload) {
    if (payload.length > maxBytes) {
      return false;
    }
    int at = reserve(column, VARLENA_HEADER_BYTES + payload.length);
    if (at < 0) {
      return false;
    }
    memory.set(I32, at, (VARLENA_HEADER_BYTES + payload.length) << 2);
    MemorySegment.copy(
        payload, 0, memory, ValueLayout.JAVA_BYTE, at + VARLENA_HEADER_BYTES, payload.length);
    return true;
  }

  /// Puts a varlena on the heap whose payload lies in memory of others.
  ///
  /// @param at offset of the payload in `from`
  public boolean setVarlena(int column, MemorySegment from, long at, int bytes) {
    if (bytes > maxBytes - VARLENA_HEADER_BYTES) {
      return false;
    }
    int to = reserve(column, VARLENA_HEADER_BYTES + bytes);
    if (to < 0) {
      return false;
    }
    memory.set(I32, to, (VARLENA_HEADER_BYTES + bytes) << 2);
    MemorySegment.copy(from, at, memory, to + (long) VARLENA_HEADER_BYTES, bytes);
    return true;
  }

  /// Puts a value of a fixed length, as a uuid, on the heap as it lies in memory of others.
  ///
  /// @param at offset of the value in `from`
  public boolean setFixed(int column, MemorySegment from, long at, int bytes) {
    int to = reserve(column, bytes);
    if (to < 0) {
      return false;
    }
    MemorySegment.copy(from, at, memory, to, bytes);
    return true;
  }

  /// Writes the header.
  ///
  /// @return length of the batch in bytes, a multiple of 8
  public int finish() {
    memory.set(I32, RowBatchLayout.BATCH_BYTES_OFFSET, heapEnd);
    memory.set(I32, RowBatchLayout.ROW_COUNT_OFFSET, rowCount);
    memory.set(I32, RowBatchLayout.COLUMN_COUNT_OFFSET, columnCount);
    memory.set(I32, RowBatchLayout.ROW_STRIDE_OFFSET, rowStride);
    memory.set(I32, RowBatchLayout.ROWS_OFFSET_OFFSET, RowBatchLayout.HEADER_BYTES);
    memory.set(I32, RowBatchLayout.HEAP_OFFSET_OFFSET, heapOffset);
    memory.set(I64, RowBatchLayout.HEAP_OFFSET_OFFSET + 4L, 0);
    return heapEnd;
  }

  /// The finished batch; valid until the next change.
  public MemorySegment batch() {
    return memory.asSlice(0, heapEnd);
  }

  /// Forgets all rows. A batch that grew keeps room for as many.
  public void reset() {
    if (heapWords != null) {
      heapWords.clear();
      keepRoomFor(Math.clamp(rowCount, Math.min(1, maxRows), maxRows));
    } else {
      keepRoomFor(rowCapacity);
    }
    rowCount = 0;
  }

  /// Room for a heap value, zero-padded to a multiple of 8; -1 when it does not fit.
  private int reserve(int column, int bytes) {
    int at = heapEnd;
    long end = (long) at + RowBatchLayout.align8(bytes);
    if (end > maxBytes) {
      return -1;
    }
    if (end > memory.byteSize()) {
      grow((int) end);
    }
    memory.set(I64, end - 8, 0);
    heapEnd = (int) end;
    setLong(column, at);
    if (heapWords != null) {
      heapWords.set((int) (wordAt(column) >>> 3));
    }
    return at;
  }

  private void grow(int needed) {
    if (heapWords == null) {
      throw new IllegalStateException("fixed memory is shorter than its limit");
    }
    long bytes = Math.min(maxBytes, Math.max(needed, 2 * memory.byteSize()));
    byte[] old = (byte[]) memory.heapBase().orElseThrow();
    memory = MemorySegment.ofArray(Arrays.copyOf(old, (int) bytes));
  }

  private long wordAt(int column) {
    return rowAt + bitmapBytes + 8L * column;
  }

  private int checkColumn(int column) {
    if (column < 0 || column >= columnCount || rowCount == 0) {
      throw new IndexOutOfBoundsException(
          "column " + column + " of " + columnCount + " in row " + (rowCount - 1));
    }
    return column;
  }
}
