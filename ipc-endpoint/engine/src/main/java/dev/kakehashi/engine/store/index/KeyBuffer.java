package dev.kakehashi.engine.store.index;

import dev.kakehashi.engine.store.memory.Native;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/// A byte string that grows. Confined to one thread at a time.
public final class KeyBuffer {
  private static final VarHandle BIG_ENDIAN_LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /// The bytes; `length` of them are meant.
  public byte[] bytes;

  public int length;

  public KeyBuffer(int capacity) {
    bytes = new byte[Math.max(16, capacity)];
  }

  /// Makes room for `count` more bytes.
  public void ensure(int count) {
    if (bytes.length - length < count) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + count));
    }
  }

  public void putByte(int value) {
    ensure(1);
    bytes[length++] = (byte) value;
  }

  public void putShort(int value) {
    ensure(2);
    bytes[length++] = (byte) (value >>> 8);
    bytes[length++] = (byte) value;
  }

  public void putInt(int value) {
    putShort(value >>> 16);
    putShort(value);
  }

  /// Appends 8 bytes, the most significant first.
  public void putLong(long value) {
    ensure(8);
    BIG_ENDIAN_LONG.set(bytes, length, value);
    length += 8;
  }

  /// Appends the first bytes of a number, the most significant first.
  ///
  /// @param count more than 8 mean 8
  void putHead(long number, int count) {
    ensure(8);
    BIG_ENDIAN_LONG.set(bytes, length, number);
    length += Math.min(8, count);
  }

  /// Appends a number in as many bytes as it needs and one that says how many, so that the order is that of the numbers: from 80 on that
  /// many more bytes of a number that is not negative, from 7F down of a negative one. The most significant byte comes first.
  void putInteger(long value) {
    long magnitude = value < 0 ? ~value : value;
    int count = (71 - Long.numberOfLeadingZeros(magnitude)) >>> 3;
    ensure(9);
    bytes[length] = (byte) (value < 0 ? 0x7F - count : 0x80 + count);
    if (count > 0) {
      BIG_ENDIAN_LONG.set(bytes, length + 1, value << (Long.SIZE - Byte.SIZE * count));
    }
    length += 1 + count;
  }

  /// Appends the bytes of another.
  public void putBytes(KeyBuffer other) {
    ensure(other.length);
    System.arraycopy(other.bytes, 0, bytes, length, other.length);
    length += other.length;
  }

  /// Appends bytes of native memory.
  void putBytes(long address, int count) {
    ensure(count);
    Native.copyToArray(address, bytes, length, count);
    length += count;
  }

  public void set(byte[] from, int offset, int count) {
    length = 0;
    ensure(count);
    System.arraycopy(from, offset, bytes, 0, count);
    length = count;
  }

  public void set(KeyBuffer other) {
    set(other.bytes, 0, other.length);
  }

  /// Becomes the least byte string greater than every string that begins with the present one.
  ///
  /// @return false if there is none (all bytes are 0xFF)
  public boolean toSuccessor() {
    while (length > 0) {
      if (++bytes[length - 1] != 0) {
        return true;
      }
      length--;
    }
    return false;
  }

  /// Compares the bytes, unsigned.
  static int compare(KeyBuffer a, KeyBuffer b) {
    return Arrays.compareUnsigned(a.bytes, 0, a.length, b.bytes, 0, b.length);
  }

  /// The first 8 bytes as an unsigned number; missing ones are 0.
  long head() {
    return head(bytes, 0, length);
  }

  static long head(byte[] bytes, int offset, int length) {
    if (length >= 8) {
      return (long) BIG_ENDIAN_LONG.get(bytes, offset);
    }
    long head = 0;
    for (int i = 0; i < length; i++) {
      head |= (bytes[offset + i] & 0xFFL) << (56 - 8 * i);
    }
    return head;
  }

  /// The 8 bytes at `offset`, the most significant first.
  public static long longAt(byte[] bytes, int offset) {
    return (long) BIG_ENDIAN_LONG.get(bytes, offset);
  }

  @Override
  public String toString() {
    return java.util.HexFormat.of().formatHex(bytes, 0, length);
  }
}
