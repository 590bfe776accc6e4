package dev.kakehashi.formats;

import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.RowBatchReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/// A row batch read in place, without objects per value.
///
/// Offsets and lengths are checked when they are used, so a broken batch gives an exception, never an access outside of it. Not
/// thread-safe.
public final class BatchView {
  public static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  public static final ValueLayout.OfLong I64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int VARLENA_HEADER_BYTES = 4;
  private static final int MOST_COPIED = 1 << 20;

  private final RowBatchReader header = new RowBatchReader();
  private final boolean copies;
  private boolean copied;
  private final UnsafeBuffer copy = new UnsafeBuffer(0, 0);
  private byte[] bytes = {};
  private MemorySegment memory = MemorySegment.NULL;
  private long end;
  private int rowCount;
  private int stride;
  private int bitmapBytes;
  private long heapOffset;

  /// For each word of the bitmaps the columns that are null in any row; only once it was asked for.
  private long[] anyNull = {};

  private boolean anyNullKnown;

  public BatchView() {
    this(false);
  }

  private BatchView(boolean copies) {
    this.copies = copies;
  }

  /// One that copies each batch that is not long to the heap, once: where the JVM's first compiler is the only one, a word of a memory
  /// segment takes much longer than one of an array.
  public static BatchView copying() {
    return new BatchView(true);
  }

  /// @param columns that it must have
  /// @throws MalformedFrameException when it is no row batch of so many columns
  public void wrap(MemorySegment batch, int columns) {
    copied = copies && batch.byteSize() <= MOST_COPIED;
    MemorySegment segment = copied ? copy(batch) : batch;
    header.wrap(segment);
    if (header.columnCount() != columns) {
      throw new MalformedFrameException(
          "row batch has " + header.columnCount() + " columns, " + columns + " are expected");
    }
    memory = segment;
    anyNullKnown = false;
    end = header.batchBytes();
    rowCount = header.rowCount();
    stride = RowBatchLayout.rowStride(columns);
    bitmapBytes = RowBatchLayout.bitmapBytes(columns);
    heapOffset = RowBatchLayout.HEADER_BYTES + (long) rowCount * stride;
  }

  private MemorySegment copy(MemorySegment batch) {
    int length = (int) batch.byteSize();
    if (bytes.length < length) {
      bytes = new byte[Math.min(MOST_COPIED, Math.max(length, 2 * bytes.length))];
    }
    MemorySegment.copy(batch, ValueLayout.JAVA_BYTE, 0, bytes, 0, length);
    copy.wrap(bytes, 0, length);
    return MemorySegment.ofArray(bytes).asSlice(0, length);
  }

  public MemorySegment memory() {
    return memory;
  }

  /// Whether the batch is on the heap, in [#bytes].
  public boolean isCopied() {
    return copied;
  }

  /// The array that has a copied batch from its begin on.
  public byte[] bytes() {
    return bytes;
  }

  public int rowCount() {
    return rowCount;
  }

  public int stride() {
    return stride;
  }

  public long batchBytes() {
    return end;
  }

  /// Where a row begins.
  public long rowAt(int row) {
    return RowBatchLayout.HEADER_BYTES + (long) row * stride;
  }

  /// @param rowAt where the row begins
  public boolean isNull(long rowAt, int column) {
    return (getLong(rowAt + ((long) (column >>> 6) << 3)) >>> (column & 63) & 1) != 0;
  }

  /// Whether a column is null in any row.
  public boolean hasNulls(int column) {
    if (!anyNullKnown) {
      findNulls();
    }
    return (anyNull[column >>> 6] >>> (column & 63) & 1) != 0;
  }

  private void findNulls() {
    int words = bitmapBytes >>> 3;
    if (anyNull.length < words) {
      anyNull = new long[words];
    }
    for (int word = 0; word < words; word++) {
      long any = 0;
      long at = RowBatchLayout.HEADER_BYTES + 8L * word;
      for (int row = 0; row < rowCount; row++) {
        any |= memory.get(I64, at);
        at += stride;
      }
      anyNull[word] = any;
    }
    anyNullKnown = true;
  }

  /// @param rowAt where the row begins
  public long word(long rowAt, int column) {
    return getLong(rowAt + bitmapBytes + 8L * column);
  }

  private long getLong(long at) {
    return copied ? copy.getLong((int) at, ByteOrder.LITTLE_ENDIAN) : memory.get(I64, at);
  }

  private int getInt(long at) {
    return copied ? copy.getInt((int) at, ByteOrder.LITTLE_ENDIAN) : memory.get(I32, at);
  }

  /// Two bytes without a sign.
  public int u16(long at) {
    return (copied ? copy.getShort((int) at, ByteOrder.LITTLE_ENDIAN) : memory.get(U16, at))
        & 0xFFFF;
  }

  /// Writes bytes of the batch as they are.
  public void putTo(Output out, long at, int count) throws IOException {
    if (copied) {
      out.put(bytes, (int) at, count);
    } else {
      out.put(memory, at, count);
    }
  }

  /// Where the word of a column is.
  ///
  /// @param rowAt where the row begins
  public long wordAt(long rowAt, int column) {
    return rowAt + bitmapBytes + 8L * column;
  }

  /// Checks the offset of a value of fixed length.
  public long fixedAt(long word, int bytes) {
    if (word < heapOffset || word > end - bytes) {
      throw malformed(word);
    }
    return word;
  }

  /// Where the payload of a varlena begins.
  public long payloadAt(long word) {
    return fixedAt(word, VARLENA_HEADER_BYTES) + VARLENA_HEADER_BYTES;
  }

  /// Length of the payload of a varlena whose offset has been checked.
  public int payloadBytes(long word) {
    int varlena = getInt(word);
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
