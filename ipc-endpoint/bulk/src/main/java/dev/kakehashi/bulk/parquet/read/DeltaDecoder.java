package dev.kakehashi.bulk.parquet.read;

/// Reads integers written as packed differences (DELTA_BINARY_PACKED), some at a time. Not thread-safe.
///
/// The array has to have 8 bytes more than are read.
final class DeltaDecoder {
  private static final int MAX_BLOCK = 1 << 16;
  private static final int MINIBLOCK_UNIT = 32;
  private static final int MAX_BITS = 64;
  private byte[] bytes = {};
  private int at;
  private int end;
  private int miniblocks;
  private int miniblockValues;

  /// Values that are left, in all.
  private int total;

  private long last;
  private boolean first;
  private long minDelta;

  /// Where the widths of the block's miniblocks are.
  private int widthsAt;

  private int miniblock;
  private int bits;

  /// Values that are left of the miniblock.
  private int left;

  private long bitAt;

  /// Reads the header.
  ///
  /// @param max values that there may be
  void open(byte[] source, int from, int to, int max) {
    bytes = source;
    at = from;
    end = to;
    long block = varint();
    long parts = varint();
    long count = varint();
    if (block <= 0
        || block > MAX_BLOCK
        || parts <= 0
        || parts > block / MINIBLOCK_UNIT
        || block % parts != 0
        || block / parts % MINIBLOCK_UNIT != 0) {
      throw Damage.of("blocks of " + block + " differences");
    }
    if (count < 0 || count > max) {
      throw Damage.of("a page has more differences than values");
    }
    miniblocks = (int) parts;
    miniblockValues = (int) (block / parts);
    total = (int) count;
    last = zigzag();
    first = true;
    miniblock = miniblocks;
    left = 0;
  }

  /// Values that are left.
  int remaining() {
    return total;
  }

  /// Where the bytes after all values begin. To be asked when none is left.
  int end() {
    // Miniblocks of the last block that have no values take no bytes.
    return at;
  }

  /// Reads the next values.
  void read(long[] into, int from, int count) {
    if (count > total) {
      throw Damage.shortPage();
    }
    int next = from;
    int to = from + count;
    if (first && count > 0) {
      into[next++] = last;
      first = false;
    }
    while (next < to) {
      if (left == 0) {
        beginMiniblock();
      }
      int taken = Math.min(left, to - next);
      unpack(into, next, taken);
      next += taken;
      left -= taken;
    }
    total -= count;
    if (total == 0) {
      finish();
    }
  }

  /// Steps to the end of the last miniblock.
  private void finish() {
    if (left > 0) {
      at += miniblockValues / 8 * bits;
      left = 0;
    }
  }

  private void beginMiniblock() {
    if (miniblock == miniblocks) {
      minDelta = zigzag();
      widthsAt = at;
      if (end - at < miniblocks) {
        throw Damage.shortPage();
      }
      at += miniblocks;
      miniblock = 0;
    }
    bits = bytes[widthsAt + miniblock++] & 0xFF;
    if (bits > MAX_BITS) {
      throw Damage.of("differences of " + bits + " bits");
    }
    left = miniblockValues;
    bitAt = 0;
  }

  private void unpack(long[] into, int from, int count) {
    // The last miniblock may be cut off after the last value.
    if (bitAt + (long) count * bits > 8L * (end - at)) {
      throw Damage.shortPage();
    }
    long value = last;
    long min = minDelta;
    int width = bits;
    if (width == 0) {
      for (int i = from; i < from + count; i++) {
        value += min;
        into[i] = value;
      }
    } else if (width <= 56) {
      long mask = (1L << width) - 1;
      long bit = bitAt;
      int base = at;
      byte[] source = bytes;
      for (int i = from; i < from + count; i++) {
        long word = (long) HybridDecoder.LONGS.get(source, base + (int) (bit >>> 3));
        value += min + (word >>> (bit & 7) & mask);
        into[i] = value;
        bit += width;
      }
    } else {
      value = unpackWide(into, from, count);
    }
    bitAt += (long) count * width;
    last = value;
    if (count == left) {
      at = (int) Math.min(end, at + (long) miniblockValues / 8 * bits);
    }
  }

  private long unpackWide(long[] into, int from, int count) {
    long mask = bits == MAX_BITS ? -1 : (1L << bits) - 1;
    long value = last;
    long bit = bitAt;
    for (int i = from; i < from + count; i++) {
      int base = at + (int) (bit >>> 3);
      int shift = (int) (bit & 7);
      long word = (long) HybridDecoder.LONGS.get(bytes, base) >>> shift;
      if (shift + bits > MAX_BITS) {
        word |= (long) bytes[base + Long.BYTES] << (MAX_BITS - shift);
      }
      value += minDelta + (word & mask);
      into[i] = value;
      bit += bits;
    }
    return value;
  }

  private long zigzag() {
    long value = varint();
    return (value >>> 1) ^ -(value & 1);
  }

  private long varint() {
    long number = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at >= end) {
        throw Damage.shortPage();
      }
      int each = bytes[at++];
      number |= (long) (each & 0x7F) << shift;
      if (each >= 0) {
        return number;
      }
    }
    throw Damage.of("a number that is too long");
  }
}
