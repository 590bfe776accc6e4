package dev.kakehashi.pgwire.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Messages that wait to be sent, in an array that grows. Numbers are big-endian, texts end with a zero byte.
///
/// Not thread-safe.
public final class WireOutput {
  private static final int KEPT_BYTES = 1 << 20;

  private byte[] bytes = new byte[8192];
  private int size;
  private int messageAt;

  /// Begins a message: its type, and room for its length.
  public WireOutput begin(char type) {
    reserve(5);
    bytes[size++] = (byte) type;
    messageAt = size;
    size += 4;
    return this;
  }

  /// Begins a message without a type, as the first one of a connection is.
  public WireOutput beginUntyped() {
    reserve(4);
    messageAt = size;
    size += 4;
    return this;
  }

  /// Ends the message: writes its length.
  public WireOutput end() {
    setInt(messageAt, size - messageAt);
    return this;
  }

  public WireOutput put(int value) {
    reserve(1);
    bytes[size++] = (byte) value;
    return this;
  }

  public WireOutput putShort(int value) {
    reserve(2);
    bytes[size++] = (byte) (value >>> 8);
    bytes[size++] = (byte) value;
    return this;
  }

  public WireOutput putInt(int value) {
    reserve(4);
    setInt(size, value);
    size += 4;
    return this;
  }

  public WireOutput putLong(long value) {
    return putInt((int) (value >>> 32)).putInt((int) value);
  }

  /// A text with its zero byte.
  public WireOutput putText(String text) {
    return putBytes(text.getBytes(StandardCharsets.UTF_8)).put(0);
  }

  public WireOutput putBytes(byte[] value) {
    reserve(value.length);
    System.arraycopy(value, 0, bytes, size, value.length);
    size += value.length;
    return this;
  }

  /// Bytes of a segment.
  public WireOutput putBytes(MemorySegment segment, long offset, int length) {
    reserve(length);
    MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, offset, bytes, size, length);
    size += length;
    return this;
  }

  /// Where the next byte goes, for [#setInt].
  public int position() {
    return size;
  }

  /// Overwrites four bytes.
  public void setInt(int at, int value) {
    bytes[at] = (byte) (value >>> 24);
    bytes[at + 1] = (byte) (value >>> 16);
    bytes[at + 2] = (byte) (value >>> 8);
    bytes[at + 3] = (byte) value;
  }

  byte[] array() {
    return bytes;
  }

  public int size() {
    return size;
  }

  /// Forgets what was written from a position on.
  public void truncate(int at) {
    size = at;
  }

  /// Forgets what was written; a long array goes.
  void clear() {
    size = 0;
    if (bytes.length > KEPT_BYTES) {
      bytes = new byte[8192];
    }
  }

  private void reserve(int more) {
    long needed = (long) size + more;
    if (needed > bytes.length) {
      // The longest array of a JVM is a little shorter than the longest int.
      if (needed > Integer.MAX_VALUE - 64) {
        throw new WireException("a message of more than 2 GB cannot be sent");
      }
      bytes =
          Arrays.copyOf(
              bytes, (int) Math.min(Integer.MAX_VALUE - 64, Math.max(needed, 2L * bytes.length)));
    }
  }
}
