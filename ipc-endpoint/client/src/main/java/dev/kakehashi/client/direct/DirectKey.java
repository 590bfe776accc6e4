package dev.kakehashi.client.direct;

import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The bytes that entries of an index begin with, as the store's `KeyCodec` makes them: their order is that of the values. One thread.
final class DirectKey {
  /// Longest key, with the row's number behind it. Longer ones are asked for.
  private static final int MOST_BYTES = 512;

  private static final int ROW_BYTES = Long.BYTES;
  private static final int FIXED_BYTES = 16;
  private static final int VARLENA_HEADER_BYTES = 4;
  private static final byte NOT_NULL = 1;
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong BIG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final byte[] bytes = new byte[MOST_BYTES];
  private final MemorySegment segment = MemorySegment.ofArray(bytes);
  private int length;

  /// The first eight bytes as a number; zeros behind the last.
  private long head;

  private boolean isNull;

  int length() {
    return length;
  }

  long head() {
    return head;
  }

  /// As memory; the first [#length()] bytes count.
  MemorySegment segment() {
    return segment;
  }

  byte at(int index) {
    return bytes[index];
  }

  /// Whether a value is null: no row has it.
  boolean isNull() {
    return isNull;
  }

  /// @param parameters one row
  /// @return false: they are too many, or not what the ticket means
  boolean make(DirectTicket.Key[] columns, RowBatchReader parameters) {
    length = 0;
    isNull = false;
    for (DirectTicket.Key column : columns) {
      int from = length;
      if (column.parameter() >= parameters.columnCount()) {
        return false;
      }
      if (parameters.isNull(0, column.parameter())) {
        isNull = true;
        return true;
      }
      if ((column.isNullable() && !put(NOT_NULL)) || !putValue(column, parameters)) {
        return false;
      }
      if (column.isDescending()) {
        for (int i = from; i < length; i++) {
          bytes[i] = (byte) ~bytes[i];
        }
      }
    }
    head = segment.get(BIG, 0);
    if (length < Long.BYTES) {
      head &= length == 0 ? 0 : -1L << (Long.SIZE - Byte.SIZE * length);
    }
    return true;
  }

  private boolean put(byte value) {
    if (length >= MOST_BYTES - ROW_BYTES) {
      return false;
    }
    bytes[length++] = value;
    return true;
  }

  private boolean putValue(DirectTicket.Key column, RowBatchReader parameters) {
    long word = parameters.getWord(0, column.parameter());
    MemorySegment values = parameters.memory();
    return switch (column.kind()) {
      case WORD -> putInteger(word);
      case FIXED16 -> hasValue(values, word, FIXED_BYTES) && putFixed(values, word);
      case VARLENA -> {
        int count = payloadBytes(values, word);
        yield count >= 0 && putBytes(values, word + VARLENA_HEADER_BYTES, count);
      }
      default -> false;
    };
  }

  /// As many bytes as the number needs, and one before them that has the sign and says how many.
  private boolean putInteger(long value) {
    long magnitude = value < 0 ? ~value : value;
    int count = (71 - Long.numberOfLeadingZeros(magnitude)) >> 3;
    if (!put((byte) (value < 0 ? 0x7F - count : 0x80 + count))
        || length + count > MOST_BYTES - ROW_BYTES) {
      return false;
    }
    for (int i = count - 1; i >= 0; i--) {
      bytes[length++] = (byte) (value >>> (Byte.SIZE * i));
    }
    return true;
  }

  private boolean putFixed(MemorySegment values, long at) {
    if (length + FIXED_BYTES > MOST_BYTES - ROW_BYTES) {
      return false;
    }
    MemorySegment.copy(values, ValueLayout.JAVA_BYTE, at, bytes, length, FIXED_BYTES);
    length += FIXED_BYTES;
    return true;
  }

  /// The bytes with 0 as 00 FF, then 00 00.
  private boolean putBytes(MemorySegment values, long at, int count) {
    for (int i = 0; i < count; i++) {
      byte value = values.get(ValueLayout.JAVA_BYTE, at + i);
      if (!put(value) || (value == 0 && !put((byte) 0xFF))) {
        return false;
      }
    }
    boolean fits = put((byte) 0);
    return fits && put((byte) 0);
  }

  /// Whether a value of a batch, which a program may have made by hand, is in it.
  static boolean hasValue(MemorySegment values, long at, int bytes) {
    return at >= 0 && at <= values.byteSize() - bytes;
  }

  /// Bytes of a varlena of a batch behind its header; -1: it is not one.
  static int payloadBytes(MemorySegment values, long at) {
    if (!hasValue(values, at, VARLENA_HEADER_BYTES)) {
      return -1;
    }
    int bytes = values.get(I32, at) >>> 2;
    return bytes < VARLENA_HEADER_BYTES || !hasValue(values, at, bytes)
        ? -1
        : bytes - VARLENA_HEADER_BYTES;
  }
}
