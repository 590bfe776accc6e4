package dev.kakehashi.formats;

import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// A row batch read in place, without objects per value.
///
/// Offsets and lengths are checked when they are used, so a broken batch gives an exception, never an access outside of it. Not thread-safe.
final class BatchView {
  static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong I64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int VARLENA_HEADER_BYTES = 4;

  private final RowBatchReader header = new RowBatchReader();
  private MemorySegment memory = MemorySegment.NULL;
  private long end;
  private int rowCount;
  private int stride;
  private int bitmapBytes;
  private long heapOffset;

  /// @param columns that it must have
  /// @throws MalformedFrameException when it is no row batch of so many columns
  void wrap(MemorySegment segment, int columns) {
    header.wrap(segment);
    if (header.columnCount() != columns) {
      throw new MalformedFrameException(
          "row batch has " + header.columnCount() + " columns, " + columns + " are expected");
    }
    memory = segment;
    end = header.batchBytes();
    rowCount = header.rowCount();
    stride = RowBatchLayout.rowStride(columns);
    bitmapBytes = RowBatchLayout.bitmapBytes(columns);
    heapOffset = RowBatchLayout.HEADER_BYTES + (long) rowCount * stride;
  }

  MemorySegment memory() {
    return memory;
  }

  int rowCount() {
    return rowCount;
  }

  int stride() {
    return stride;
  }

  long batchBytes() {
    return end;
  }

  /// Where a row begins.
  long rowAt(int row) {
    return RowBatchLayout.HEADER_BYTES + (long) row * stride;
  }

  /// @param rowAt where the row begins
  boolean isNull(long rowAt, int column) {
    return (memory.get(I64, rowAt + ((long) (column >>> 6) << 3)) >>> (column & 63) & 1) != 0;
  }

  /// @param rowAt where the row begins
  long word(long rowAt, int column) {
    return memory.get(I64, rowAt + bitmapBytes + 8L * column);
  }

  /// Checks the offset of a value of fixed length.
  long fixedAt(long word, int bytes) {
    if (word < heapOffset || word > end - bytes) {
      throw malformed(word);
    }
    return word;
  }

  /// Where the payload of a varlena begins.
  long payloadAt(long word) {
    return fixedAt(word, VARLENA_HEADER_BYTES) + VARLENA_HEADER_BYTES;
  }

  /// Length of the payload of a varlena whose offset has been checked.
  int payloadBytes(long word) {
    int varlena = memory.get(I32, word);
    int bytes = varlena >>> 2;
    if ((varlena & 3) != 0 || bytes < VARLENA_HEADER_BYTES || bytes > end - word) {
      throw malformed(word);
    }
    return bytes - VARLENA_HEADER_BYTES;
  }

  private MalformedFrameException malformed(long word) {
    return new MalformedFrameException(
        "value at %d leaves the heap of a row batch of %d bytes".formatted(word, end));
  }
}
