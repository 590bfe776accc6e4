package dev.kakehashi.bulk.parquet.write;

/// Writes integers as packed differences (DELTA_BINARY_PACKED). Not thread-safe.
final class DeltaEncoder {
  private static final int BLOCK = 128;
  private static final int MINIBLOCKS = 4;
  private static final int MINIBLOCK = BLOCK / MINIBLOCKS;
  private final long[] deltas = new long[BLOCK];

  /// @param narrow the values are of 32 bits: their differences wrap there
  void put(ByteSpace out, long[] values, int from, int to, boolean narrow) {
    out.putVarint(BLOCK);
    out.putVarint(MINIBLOCKS);
    out.putVarint(to - from);
    long previous = from < to ? values[from] : 0;
    out.putZigzag(previous);
    for (int at = from + 1; at < to; at += BLOCK) {
      int count = Math.min(BLOCK, to - at);
      long min = Long.MAX_VALUE;
      for (int i = 0; i < count; i++) {
        long value = values[at + i];
        long delta = value - previous;
        if (narrow) {
          delta = delta << Integer.SIZE >> Integer.SIZE;
        }
        deltas[i] = delta;
        min = Math.min(min, delta);
        previous = value;
      }
      putBlock(out, count, min, narrow);
    }
  }

  private void putBlock(ByteSpace out, int count, long min, boolean narrow) {
    out.putZigzag(min);
    out.need(MINIBLOCKS + (long) BLOCK * Long.BYTES + Long.BYTES);
    int widthsAt = out.length;
    out.length += MINIBLOCKS;
    for (int block = 0; block < MINIBLOCKS; block++) {
      int begin = block * MINIBLOCK;
      int end = Math.min(count, begin + MINIBLOCK);
      long all = 0;
      for (int i = begin; i < end; i++) {
        long above = deltas[i] - min;
        deltas[i] = narrow ? above & 0xFFFF_FFFFL : above;
        all |= deltas[i];
      }
      int width = Long.SIZE - Long.numberOfLeadingZeros(all);
      out.bytes[widthsAt + block] = (byte) width;
      if (width > 0) {
        pack(out, begin, end, width);
      }
    }
  }

  private void pack(ByteSpace out, int begin, int end, int width) {
    byte[] target = out.bytes;
    int at = out.length;
    int last = at + MINIBLOCK / 8 * width;
    long word = 0;
    int used = 0;
    for (int i = begin; i < end; i++) {
      long value = deltas[i];
      word |= value << used;
      used += width;
      if (used >= Long.SIZE) {
        ByteSpace.LONGS.set(target, at, word);
        at += Long.BYTES;
        used -= Long.SIZE;
        word = used == 0 ? 0 : value >>> (width - used);
      }
    }
    ByteSpace.LONGS.set(target, at, word);
    for (int i = at + Long.BYTES; i < last; i++) {
      target[i] = 0;
    }
    out.length = last;
  }
}
