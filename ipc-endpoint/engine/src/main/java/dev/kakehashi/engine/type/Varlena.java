package dev.kakehashi.engine.type;

import dev.kakehashi.engine.vector.VarHeap;
import java.nio.charset.StandardCharsets;

/// Values with PostgreSQL's plain 4-byte header (`total length << 2`) at native addresses.
public final class Varlena {
  public static final int HEADER_BYTES = 4;

  /// PostgreSQL's limit of one allocation, 1 GB - 1.
  public static final int MAX_BYTES = 0x3FFFFFFF;

  private Varlena() {}

  /// Bytes of the payload.
  public static int length(long value) {
    return totalBytes(value) - HEADER_BYTES;
  }

  /// Bytes with the header.
  public static int totalBytes(long value) {
    return RawMemory.getInt(value) >>> 2;
  }

  /// Address of the payload.
  public static long data(long value) {
    return value + HEADER_BYTES;
  }

  /// A fresh value of `length` payload bytes, which are not initialized.
  public static long allocate(VarHeap heap, long length) {
    if (length > MAX_BYTES - HEADER_BYTES) {
      throw SqlErrors.lengthTooLarge();
    }
    long value = heap.allocate(length + HEADER_BYTES);
    RawMemory.putInt(value, (int) (length + HEADER_BYTES) << 2);
    return value;
  }

  /// Gives back the end of the value that was allocated last; the heap keeps the bytes.
  public static void truncate(long value, int length) {
    RawMemory.putInt(value, (length + HEADER_BYTES) << 2);
  }

  public static long of(VarHeap heap, byte[] bytes) {
    long value = allocate(heap, bytes.length);
    RawMemory.copy(bytes, data(value));
    return value;
  }

  public static long of(VarHeap heap, String string) {
    return of(heap, string.getBytes(StandardCharsets.UTF_8));
  }

  /// A fresh value with a copy of `length` bytes at an address.
  public static long of(VarHeap heap, long from, int length) {
    long value = allocate(heap, length);
    RawMemory.copy(from, data(value), length);
    return value;
  }

  public static byte[] bytes(long value) {
    return RawMemory.bytes(data(value), length(value));
  }

  public static String string(long value) {
    return new String(bytes(value), StandardCharsets.UTF_8);
  }
}
