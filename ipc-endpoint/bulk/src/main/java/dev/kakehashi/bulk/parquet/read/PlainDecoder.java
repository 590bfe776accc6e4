package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.parquet.thrift.Physical;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Values one after the other.
final class PlainDecoder implements ValueDecoder {
  static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private final int physical;
  private final int width;
  private final int maxBytes;
  private byte[] bytes = {};
  private int at;
  private int end;

  /// Place of the next boolean, in bits from `at`.
  private int bit;

  /// @param width bytes of a value; 0: they vary, or it is a bit
  /// @param maxBytes of a value whose length varies
  PlainDecoder(int physical, int width, int maxBytes) {
    this.physical = physical;
    this.width = width;
    this.maxBytes = maxBytes;
  }

  @Override
  public void open(byte[] source, int from, int to, int most) {
    bytes = source;
    at = from;
    end = to;
    bit = 0;
  }

  @Override
  public void longs(long[] into, int from, int count) {
    if (physical == Physical.BOOLEAN) {
      bits(into, from, count);
      return;
    }
    if ((long) count * width > end - at) {
      throw Damage.shortPage();
    }
    byte[] source = bytes;
    int next = at;
    if (width == Integer.BYTES) {
      for (int i = 0; i < count; i++) {
        into[from + i] = (int) INTS.get(source, next + Integer.BYTES * i);
      }
    } else {
      for (int i = 0; i < count; i++) {
        into[from + i] = (long) LONGS.get(source, next + Long.BYTES * i);
      }
    }
    at = next + count * width;
  }

  private void bits(long[] into, int from, int count) {
    if ((long) bit + count > 8L * (end - at)) {
      throw Damage.shortPage();
    }
    for (int i = 0; i < count; i++, bit++) {
      into[from + i] = ((long) bytes[at + (bit >>> 3)] >>> (bit & 7)) & 1;
    }
    at += bit >>> 3;
    bit &= 7;
  }

  @Override
  public void pieces(int[] starts, int[] lengths, int from, int count) {
    int next = at;
    if (width > 0) {
      if ((long) count * width > end - next) {
        throw Damage.shortPage();
      }
      for (int i = from; i < from + count; i++) {
        starts[i] = next;
        lengths[i] = width;
        next += width;
      }
      at = next;
      return;
    }
    byte[] source = bytes;
    for (int i = from; i < from + count; i++) {
      if (end - next < Integer.BYTES) {
        throw Damage.shortPage();
      }
      int length = (int) INTS.get(source, next);
      next += Integer.BYTES;
      if (length < 0 || length > end - next) {
        throw Damage.of("a value leaves its page");
      }
      if (length > maxBytes || (length == 0 && maxBytes < Integer.MAX_VALUE)) {
        throw Damage.of("a decimal of " + length + " bytes");
      }
      starts[i] = next;
      lengths[i] = length;
      next += length;
    }
    at = next;
  }

  @Override
  public byte[] bytes() {
    return bytes;
  }
}
