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
import java.util.UUID;

/// Reads a row batch (PROTOCOL.md §6) that another process wrote.
///
/// The header is copied and checked once, each offset and length is checked when it is used and read once, so memory that changes meanwhile
/// gives wrong values at worst, never an access outside the batch. The caller knows the types and asks `isNull` first: the getter of a null
/// returns 0, or refuses for types on the heap.
///
/// Not thread-safe; the memory stays the caller's.
public final class RowBatchReader {
  private static final long LOW_BITS = 0x0101_0101_0101_0101L;
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong I64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private MemorySegment memory = MemorySegment.NULL;
  private int batchBytes;
  private int rowCount;
  private int columnCount;
  private int bitmapBytes;
  private int rowStride;
  private int heapOffset;

  /// Reads the header of a batch that fills at most `segment`.
  ///
  /// @throws MalformedFrameException when header and length do not agree
  public RowBatchReader wrap(MemorySegment segment) {
    if (segment.byteSize() < RowBatchLayout.HEADER_BYTES) {
      throw new MalformedFrameException(
          "row batch of " + segment.byteSize() + " bytes is shorter than its header");
    }
    int bytes = segment.get(I32, RowBatchLayout.BATCH_BYTES_OFFSET);
    int rows = segment.get(I32, RowBatchLayout.ROW_COUNT_OFFSET);
    int columns = segment.get(I32, RowBatchLayout.COLUMN_COUNT_OFFSET);
    int stride = segment.get(I32, RowBatchLayout.ROW_STRIDE_OFFSET);
    int rowsOffset = segment.get(I32, RowBatchLayout.ROWS_OFFSET_OFFSET);
    int heap = segment.get(I32, RowBatchLayout.HEAP_OFFSET_OFFSET);
    boolean sane =
        bytes >= RowBatchLayout.HEADER_BYTES
            && bytes <= segment.byteSize()
            && (bytes & 7) == 0
            && rows >= 0
            && columns >= 0
            && columns <= 1 << 16
            && stride == RowBatchLayout.rowStride(columns)
            && rowsOffset == RowBatchLayout.HEADER_BYTES
            && heap <= bytes
            && heap >= rowsOffset + (long) rows * stride;
    if (!sane) {
      throw new MalformedFrameException(
          ("row batch header is inconsistent: batchBytes=%d, rowCount=%d, columnCount=%d, rowStride=%d, "
                  + "rowsOffset=%d, heapOffset=%d in %d bytes")
              .formatted(bytes, rows, columns, stride, rowsOffset, heap, segment.byteSize()));
    }
    memory = segment;
    batchBytes = bytes;
    rowCount = rows;
    columnCount = columns;
    bitmapBytes = RowBatchLayout.bitmapBytes(columns);
    rowStride = stride;
    heapOffset = heap;
    return this;
  }

  /// The memory of the batch, for who reads it by other means.
  public MemorySegment memory() {
    return memory;
  }

  public int rowCount() {
    return rowCount;
  }

  public int columnCount() {
    return columnCount;
  }

  public int batchBytes() {
    return batchBytes;
  }

  public boolean isNull(int row, int column) {
    long word = memory.get(I64, rowAt(row, column) + ((long) (column >>> 6) << 3));
    return (word >>> (column & 63) & 1) != 0;
  }

  /// The column's word as it is.
  public long getWord(int row, int column) {
    return memory.get(I64, rowAt(row, column) + bitmapBytes + 8L * column);
  }

  public boolean getBoolean(int row, int column) {
    return getWord(row, column) != 0;
  }

  public short getShort(int row, int column) {
    return (short) getWord(row, column);
  }

  public int getInt(int row, int column) {
    return (int) getWord(row, column);
  }

  public long getLong(int row, int column) {
    return getWord(row, column);
  }

  public float getFloat(int row, int column) {
    return Float.intBitsToFloat((int) getWord(row, column));
  }

  public double getDouble(int row, int column) {
    return Double.longBitsToDouble(getWord(row, column));
  }

  public LocalDate getDate(int row, int column) {
    return PgTime.toDate(getInt(row, column));
  }

  public LocalTime getTime(int row, int column) {
    return PgTime.toTime(getWord(row, column));
  }

  public LocalDateTime getTimestamp(int row, int column) {
    return PgTime.toTimestamp(getWord(row, column));
  }

  public Instant getTimestamptz(int row, int column) {
    return PgTime.toInstant(getWord(row, column));
  }

  /// Payload of a text-like column.
  public String getString(int row, int column) {
    return new String(getBytes(row, column), StandardCharsets.UTF_8);
  }

  /// Payload of a varlena column.
  public byte[] getBytes(int row, int column) {
    long at = valueAt(row, column, 4);
    int bytes = payloadBytes(at);
    byte[] payload = new byte[bytes];
    MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at + 4, payload, 0, bytes);
    return payload;
  }

  /// @throws ArithmeticException for NaN and the infinities
  public BigDecimal getBigDecimal(int row, int column) {
    return getNumeric(row, column).bigDecimal();
  }

  public PgNumeric getNumeric(int row, int column) {
    long at = valueAt(row, column, 4);
    int bytes = payloadBytes(at);
    try {
      return PgNumeric.decode(memory, at + 4, bytes);
    } catch (IllegalArgumentException e) {
      throw new MalformedFrameException(String.valueOf(e.getMessage()));
    }
  }

  public UUID getUuid(int row, int column) {
    long at = valueAt(row, column, 16);
    return new UUID(
        Long.reverseBytes(memory.get(I64, at)), Long.reverseBytes(memory.get(I64, at + 8)));
  }

  public PgInterval getInterval(int row, int column) {
    long at = valueAt(row, column, PgInterval.BYTES);
    return new PgInterval(memory.get(I32, at + 12), memory.get(I32, at + 8), memory.get(I64, at));
  }

  /// Checks the null bitmaps and the offset and length of each heap value.
  ///
  /// For the receiver of parameters, whose kernels then read without checks. Only meaningful for memory that the sender cannot change any
  /// more.
  ///
  /// @param typeOids types of the columns
  /// @throws MalformedFrameException naming the first bad value
  public void checkValues(int[] typeOids) {
    if (typeOids.length != columnCount) {
      throw new MalformedFrameException(
          "row batch has " + columnCount + " columns, " + typeOids.length + " are expected");
    }
    for (int column = 0; column < columnCount; column++) {
      int fixedBytes = fixedBytes(typeOids[column]);
      if (fixedBytes < 0) {
        continue;
      }
      for (int row = 0; row < rowCount; row++) {
        if (isNull(row, column)) {
          continue;
        }
        long at = valueAt(row, column, fixedBytes == 0 ? 4 : fixedBytes);
        if (fixedBytes == 0) {
          payloadBytes(at);
        }
      }
    }
  }

  /// Whether a text, which is not null and was checked by [#checkValues(int\[\])], has a byte 0. PostgreSQL's text cannot hold it.
  public boolean hasZeroByte(int row, int column) {
    long at = valueAt(row, column, 4);
    long end = at + 4 + payloadBytes(at);
    at += 4;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      long word = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
      if (((word - LOW_BITS) & ~word & HIGH_BITS) != 0) {
        return true;
      }
    }
    for (; at < end; at++) {
      if (memory.get(ValueLayout.JAVA_BYTE, at) == 0) {
        return true;
      }
    }
    return false;
  }

  /// Length of a fixed-length heap type, 0 for a varlena, -1 for a by-value type.
  public static int fixedBytes(int typeOid) {
    return switch (typeOid) {
      case TypeOid.UUID, TypeOid.INTERVAL -> 16;
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR, TypeOid.BYTEA, TypeOid.NUMERIC -> 0;
      default -> TypeOid.isTextForm(typeOid) ? 0 : -1;
    };
  }

  private long rowAt(int row, int column) {
    if (row < 0 || row >= rowCount || column < 0 || column >= columnCount) {
      throw new IndexOutOfBoundsException(
          "row %d column %d of a batch of %d rows and %d columns"
              .formatted(row, column, rowCount, columnCount));
    }
    return RowBatchLayout.HEADER_BYTES + (long) row * rowStride;
  }

  /// Offset of a heap value of at least `bytes` bytes.
  private long valueAt(int row, int column, int bytes) {
    long at = getWord(row, column);
    if (at < heapOffset || at > batchBytes - bytes || (at & 7) != 0) {
      throw new MalformedFrameException(
          "value of row %d column %d at %d leaves the heap of a batch of %d bytes"
              .formatted(row, column, at, batchBytes));
    }
    return at;
  }

  private int payloadBytes(long at) {
    int header = memory.get(I32, at);
    int bytes = header >>> 2;
    if ((header & 3) != 0 || bytes < 4 || bytes > batchBytes - at) {
      throw new MalformedFrameException(
          "varlena header %#x at %d of a batch of %d bytes".formatted(header, at, batchBytes));
    }
    return bytes - 4;
  }
}
