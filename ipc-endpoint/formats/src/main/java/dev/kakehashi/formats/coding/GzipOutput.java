package dev.kakehashi.formats.coding;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/// gzip (RFC 1952). The native memory of the compressor is freed at the end, whatever the stream below does.
final class GzipOutput extends CodedOutput {
  private static final byte[] HEADER = {0x1F, (byte) 0x8B, 8, 0, 0, 0, 0, 0, 0, (byte) 0xFF};
  private static final int BUFFER_BYTES = 1 << 14;

  private final OutputStream out;
  private final Deflater deflater;
  private final CRC32 crc = new CRC32();
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private boolean begun;
  private boolean ended;

  GzipOutput(OutputStream out, int level) {
    this.out = out;
    this.deflater = new Deflater(level, true);
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    checkOpen();
    if (count == 0) {
      return;
    }
    begin();
    crc.update(bytes, from, count);
    deflater.setInput(bytes, from, count);
    while (!deflater.needsInput()) {
      drain(Deflater.NO_FLUSH);
    }
  }

  private void checkOpen() throws IOException {
    if (ended) {
      throw new IOException("stream is closed");
    }
  }

  private void begin() throws IOException {
    if (!begun) {
      begun = true;
      out.write(HEADER);
    }
  }

  private int drain(int flush) throws IOException {
    int count = deflater.deflate(buffer, 0, buffer.length, flush);
    if (count > 0) {
      out.write(buffer, 0, count);
    }
    return count;
  }

  @Override
  public void flush() throws IOException {
    checkOpen();
    if (begun) {
      int count = drain(Deflater.SYNC_FLUSH);
      while (count == buffer.length) {
        count = drain(Deflater.SYNC_FLUSH);
      }
    }
    out.flush();
  }

  @Override
  public void close() throws IOException {
    if (ended) {
      return;
    }
    try (out) {
      begin();
      deflater.finish();
      while (!deflater.finished()) {
        drain(Deflater.NO_FLUSH);
      }
      byte[] trailer = new byte[8];
      ByteBuffer.wrap(trailer)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putInt((int) crc.getValue())
          .putInt((int) deflater.getBytesRead());
      out.write(trailer);
    } finally {
      abort();
    }
  }

  @Override
  public void abort() {
    ended = true;
    deflater.end();
  }
}
