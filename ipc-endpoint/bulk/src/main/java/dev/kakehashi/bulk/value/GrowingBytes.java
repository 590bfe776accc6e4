package dev.kakehashi.bulk.value;

import java.io.OutputStream;
import java.util.Arrays;

/// Bytes that are written, in an array that is there to be read. Not thread-safe.
final class GrowingBytes extends OutputStream {
  private byte[] bytes = new byte[256];
  private int length;

  @Override
  public void write(int value) {
    room(1);
    bytes[length++] = (byte) value;
  }

  @Override
  public void write(byte[] from, int start, int count) {
    room(count);
    System.arraycopy(from, start, bytes, length, count);
    length += count;
  }

  private void room(int count) {
    if (bytes.length - length < count) {
      bytes = Arrays.copyOf(bytes, Math.max(Math.addExact(length, count), 2 * length));
    }
  }

  void clear() {
    length = 0;
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  byte[] copy() {
    return Arrays.copyOf(bytes, length);
  }
}
