package dev.kakehashi.formats;

import java.util.Arrays;

/// Fields and buffers of a record batch, in order. Not thread-safe.
public final class ArrowParts implements ArrowColumn.Buffers {
  private long[] fields = new long[32];
  private int fieldCount;
  private byte[][] buffers = new byte[32][];
  private int[] lengths = new int[32];
  private int bufferCount;

  @Override
  public void field(int length, int nulls) {
    if (2 * fieldCount == fields.length) {
      fields = Arrays.copyOf(fields, 2 * fields.length);
    }
    fields[2 * fieldCount] = length;
    fields[2 * fieldCount + 1] = nulls;
    fieldCount++;
  }

  @Override
  public void buffer(byte[] bytes, int length) {
    if (bufferCount == lengths.length) {
      buffers = Arrays.copyOf(buffers, 2 * bufferCount);
      lengths = Arrays.copyOf(lengths, 2 * bufferCount);
    }
    buffers[bufferCount] = bytes;
    lengths[bufferCount++] = length;
  }

  public void clear() {
    fieldCount = 0;
    bufferCount = 0;
  }

  int fieldCount() {
    return fieldCount;
  }

  long fieldLength(int field) {
    return fields[2 * field];
  }

  long fieldNulls(int field) {
    return fields[2 * field + 1];
  }

  public int bufferCount() {
    return bufferCount;
  }

  /// The array that a buffer is the beginning of.
  public byte[] buffer(int index) {
    return buffers[index];
  }

  /// Bytes of a buffer, without what aligns the next one.
  public int length(int index) {
    return lengths[index];
  }

  /// Puts other bytes in a buffer's place.
  public void replace(int index, byte[] bytes, int length) {
    buffers[index] = bytes;
    lengths[index] = length;
  }

  /// Bytes of all buffers, each rounded up to a multiple of 8.
  public long bodyBytes() {
    long bytes = 0;
    for (int i = 0; i < bufferCount; i++) {
      bytes += padded(lengths[i]);
    }
    return bytes;
  }

  /// Rounds up to the alignment of buffers.
  static long padded(int length) {
    return (length + 7L) & ~7L;
  }
}
