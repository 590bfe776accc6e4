package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;

/// Single bits and bytes of bytea; bits are counted from the lowest of the first byte, both from 0.
final class ByteaBits {
  private ByteaBits() {}

  static long getByte(long bytes, long index) {
    return RawMemory.getByte(at(bytes, index, Varlena.length(bytes), index)) & 0xFF;
  }

  static long getBit(long bytes, long index) {
    long address = at(bytes, index, 8L * Varlena.length(bytes), index >> 3);
    return RawMemory.getByte(address) >> (index & 7) & 1;
  }

  /// A copy with one byte replaced by the low 8 bits of `value`.
  static long setByte(long bytes, long index, long value, VarHeap heap) {
    long offset = at(bytes, index, Varlena.length(bytes), index) - bytes;
    long copy = heap.copy(bytes, Varlena.totalBytes(bytes));
    RawMemory.putByte(copy + offset, (byte) value);
    return copy;
  }

  static long setBit(long bytes, long index, long value, VarHeap heap) {
    long offset = at(bytes, index, 8L * Varlena.length(bytes), index >> 3) - bytes;
    if (value != 0 && value != 1) {
      throw SqlErrors.invalidParameter("new bit must be 0 or 1");
    }
    long copy = heap.copy(bytes, Varlena.totalBytes(bytes));
    int cleared = RawMemory.getByte(copy + offset) & ~(1 << (index & 7));
    RawMemory.putByte(copy + offset, (byte) (cleared | value << (index & 7)));
    return copy;
  }

  static long bitCount(long bytes) {
    long count = 0;
    for (int i = 0; i < Varlena.length(bytes); i++) {
      count += Integer.bitCount(RawMemory.getByte(Varlena.data(bytes) + i) & 0xFF);
    }
    return count;
  }

  private static long at(long bytes, long index, long count, long byteIndex) {
    if (index < 0 || index >= count) {
      throw new EngineException(
          ErrorCode.ARRAY_SUBSCRIPT_ERROR,
          "index " + index + " out of valid range, 0.." + (count - 1));
    }
    return Varlena.data(bytes) + byteIndex;
  }
}
