package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// Bytes in an array that grows, whose memory is the statement's. A writer asks for room with [#need], and puts bytes at `bytes()[length]`.
/// Not thread-safe.
final class ByteSpace implements AutoCloseable {
  static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle BIG_LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

  private final BulkContext context;
  byte[] bytes = {};
  int length;

  ByteSpace(BulkContext context) {
    this.context = context;
  }

  /// Makes room for so many bytes more.
  ///
  /// @throws EngineException LIMIT_EXCEEDED, OUT_OF_MEMORY
  void need(long count) {
    if (count > bytes.length - length) {
      grow(length + count);
    }
  }

  private void grow(long wanted) {
    if (wanted > MAX_BYTES) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED, "values of a page are longer than " + MAX_BYTES + " bytes");
    }
    int size = (int) Math.min(MAX_BYTES, Math.max(wanted, bytes.length + (bytes.length >> 1)));
    context.reserveMemory(size - bytes.length);
    bytes = Arrays.copyOf(bytes, size);
  }

  void putInt(int value) {
    need(Integer.BYTES);
    INTS.set(bytes, length, value);
    length += Integer.BYTES;
  }

  void put(int value) {
    need(1);
    bytes[length++] = (byte) value;
  }

  void put(byte[] from, int start, int count) {
    need(count);
    System.arraycopy(from, start, bytes, length, count);
    length += count;
  }

  /// A number in groups of seven bits.
  void putVarint(long value) {
    need(10);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[length++] = (byte) rest;
  }

  void putZigzag(long value) {
    putVarint((value << 1) ^ (value >> 63));
  }

  /// Gives its memory back.
  @Override
  public void close() {
    context.releaseMemory(bytes.length);
    bytes = new byte[0];
    length = 0;
  }
}
