package dev.kakehashi.formats;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A buffer before a stream, which grows as it is needed. A writer asks for room with [#need], and puts bytes at `bytes[at]`, which it
/// moves on; the array may be another after each `need`. Not thread-safe.
public final class Output {
  /// Longest buffer: then it is written to the stream.
  public static final int CAPACITY = 1 << 16;

  private static final int FIRST_BYTES = 1 << 9;

  public byte[] bytes = {};
  public int at;
  private final OutputStream out;
  private long drained;

  public Output(OutputStream out) {
    this.out = out;
  }

  /// Makes room for so many bytes, at most CAPACITY.
  public void need(int count) throws IOException {
    if (bytes.length - at < count) {
      makeRoom(count);
    }
  }

  private void makeRoom(int count) throws IOException {
    if (CAPACITY - at < count) {
      drain();
    }
    if (bytes.length - at < count) {
      int wanted = Math.max(at + count, Math.max(FIRST_BYTES, 2 * bytes.length));
      bytes = Arrays.copyOf(bytes, Math.min(CAPACITY, wanted));
    }
  }

  public void put(int value) throws IOException {
    need(1);
    bytes[at++] = (byte) value;
  }

  public void put(byte[] values) throws IOException {
    put(values, 0, values.length);
  }

  public void put(byte[] values, int from, int count) throws IOException {
    if (count > CAPACITY) {
      drain();
      out.write(values, from, count);
      drained += count;
      return;
    }
    need(count);
    System.arraycopy(values, from, bytes, at, count);
    at += count;
  }

  public void put(MemorySegment memory, long from, long count) throws IOException {
    long begin = from;
    long left = count;
    while (left > 0) {
      need((int) Math.min(left, CAPACITY / 4));
      int piece = (int) Math.min(left, bytes.length - at);
      MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, begin, bytes, at, piece);
      at += piece;
      begin += piece;
      left -= piece;
    }
  }

  public void ascii(String text) throws IOException {
    put(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /// Writes what waits to the stream.
  public void drain() throws IOException {
    if (at > 0) {
      int count = at;
      at = 0;
      out.write(bytes, 0, count);
      drained += count;
    }
  }

  public void flush() throws IOException {
    drain();
    out.flush();
  }

  /// Bytes that the stream has got.
  public long drained() {
    return drained;
  }
}
