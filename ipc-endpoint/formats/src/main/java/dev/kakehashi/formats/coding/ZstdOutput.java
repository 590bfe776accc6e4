package dev.kakehashi.formats.coding;

import io.airlift.compress.v3.zstd.ZstdJavaCompressor;
import java.io.IOException;
import java.io.OutputStream;

/// Zstandard by frames: what is written waits until it fills one, or is flushed. Holds nothing but memory.
final class ZstdOutput extends CodedOutput {
  /// Longest content of a frame.
  private static final int FRAME_BYTES = 1 << 17;

  private final OutputStream out;
  private final ZstdJavaCompressor compressor = new ZstdJavaCompressor();
  private final byte[] pending = new byte[FRAME_BYTES];
  private final byte[] frame = new byte[compressor.maxCompressedLength(FRAME_BYTES)];
  private int count;
  private boolean begun;
  private boolean ended;

  ZstdOutput(OutputStream out) {
    this.out = out;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    checkOpen();
    int next = from;
    int left = length;
    while (left > 0) {
      int taken = Math.min(left, FRAME_BYTES - count);
      System.arraycopy(bytes, next, pending, count, taken);
      count += taken;
      next += taken;
      left -= taken;
      if (count == FRAME_BYTES) {
        writeFrame();
      }
    }
  }

  private void checkOpen() throws IOException {
    if (ended) {
      throw new IOException("stream is closed");
    }
  }

  private void writeFrame() throws IOException {
    int length = compressor.compress(pending, 0, count, frame, 0, frame.length);
    count = 0;
    begun = true;
    out.write(frame, 0, length);
  }

  @Override
  public void flush() throws IOException {
    checkOpen();
    if (count > 0) {
      writeFrame();
    }
    out.flush();
  }

  @Override
  public void close() throws IOException {
    if (ended) {
      return;
    }
    ended = true;
    try (out) {
      if (count > 0 || !begun) {
        writeFrame();
      }
    }
  }

  @Override
  public void abort() {
    ended = true;
  }
}
