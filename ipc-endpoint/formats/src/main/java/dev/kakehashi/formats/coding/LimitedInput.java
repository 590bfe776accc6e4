package dev.kakehashi.formats.coding;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// Reads from another stream, and refuses to read more than a number of bytes.
final class LimitedInput extends FilterInputStream {
  private final long maxBytes;
  private long read;

  LimitedInput(InputStream in, long maxBytes) {
    super(in);
    this.maxBytes = maxBytes;
  }

  @Override
  public int read() throws IOException {
    int value = in.read();
    if (value >= 0) {
      count(1);
    }
    return value;
  }

  @Override
  public int read(byte[] bytes, int from, int length) throws IOException {
    int got = in.read(bytes, from, length);
    if (got > 0) {
      count(got);
    }
    return got;
  }

  @Override
  public long skip(long length) throws IOException {
    long skipped = in.skip(length);
    count(skipped);
    return skipped;
  }

  private void count(long bytes) throws IOException {
    read += bytes;
    if (read > maxBytes) {
      throw new Coding.LimitExceededException(maxBytes);
    }
  }

  @Override
  public boolean markSupported() {
    return false;
  }
}
