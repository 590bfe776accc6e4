package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.engine.api.bulk.BulkContext;

/// The entries of a chunk's dictionary: longs, or pieces of bytes. Not thread-safe.
final class Dictionary implements AutoCloseable {
  private final BulkContext context;
  private long reserved;
  final int count;
  final long[] longs;
  final byte[] bytes;
  final int[] starts;
  final int[] lengths;

  /// @param plain reads the entries, which lie in `bytes`
  Dictionary(PlainDecoder plain, boolean isLong, int count, byte[] bytes, BulkContext context) {
    this.context = context;
    this.count = count;
    this.bytes = bytes;
    reserved = 8L * count + bytes.length;
    context.reserveMemory(reserved);
    longs = new long[isLong ? count : 0];
    starts = new int[isLong ? 0 : count];
    lengths = new int[isLong ? 0 : count];
    try {
      if (isLong) {
        plain.longs(longs, 0, count);
      } else {
        plain.pieces(starts, lengths, 0, count);
      }
    } catch (RuntimeException e) {
      context.releaseMemory(reserved);
      throw e;
    }
  }

  @Override
  public void close() {
    context.releaseMemory(reserved);
    reserved = 0;
  }
}
