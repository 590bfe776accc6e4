package dev.kakehashi.formats.coding;

import io.airlift.compress.v3.MalformedInputException;
import io.airlift.compress.v3.zstd.ZstdInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// Reads Zstandard; broken input is an IOException like any other.
final class ZstdInput extends FilterInputStream {
  ZstdInput(InputStream in) {
    super(new ZstdInputStream(in));
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] bytes, int from, int length) throws IOException {
    try {
      return in.read(bytes, from, length);
    } catch (MalformedInputException
        | IndexOutOfBoundsException
        | ArithmeticException
        | NegativeArraySizeException e) {
      throw new IOException("broken zstd", e);
    }
  }

  @Override
  public long skip(long length) throws IOException {
    byte[] dropped = new byte[(int) Math.min(length, 1 << 13)];
    int got = dropped.length == 0 ? 0 : read(dropped, 0, dropped.length);
    return Math.max(got, 0);
  }
}
