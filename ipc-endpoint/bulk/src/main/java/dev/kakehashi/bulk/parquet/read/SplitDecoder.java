package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.engine.api.bulk.BulkContext;

/// Values whose first bytes come first, then the second ones, ... (BYTE_STREAM_SPLIT).
final class SplitDecoder implements ValueDecoder {
  private final int width;
  private final ReadSpace joined;
  private byte[] source = {};
  private int begin;
  private int total;
  private int next;

  /// @param width bytes of a value
  SplitDecoder(int width, BulkContext context) {
    this.width = width;
    this.joined = new ReadSpace(context);
  }

  @Override
  public void open(byte[] bytes, int from, int to, int most) {
    if ((to - from) % width != 0) {
      throw Damage.of("a page has a part of a value");
    }
    source = bytes;
    begin = from;
    total = (to - from) / width;
    next = 0;
  }

  private void check(int count) {
    if (count > total - next) {
      throw Damage.shortPage();
    }
  }

  @Override
  public void longs(long[] into, int from, int count) {
    check(count);
    for (int i = 0; i < count; i++, next++) {
      long value = 0;
      for (int part = 0; part < width; part++) {
        value |= (source[begin + part * total + next] & 0xFFL) << (8 * part);
      }
      into[from + i] = width == Integer.BYTES ? (int) value : value;
    }
  }

  @Override
  public void pieces(int[] starts, int[] lengths, int from, int count) {
    check(count);
    byte[] out = joined.room((long) count * width);
    for (int i = 0; i < count; i++, next++) {
      for (int part = 0; part < width; part++) {
        out[i * width + part] = source[begin + part * total + next];
      }
      starts[from + i] = i * width;
      lengths[from + i] = width;
    }
  }

  @Override
  public byte[] bytes() {
    return joined.bytes();
  }

  /// Gives its memory back.
  @Override
  public void close() {
    joined.close();
  }
}
