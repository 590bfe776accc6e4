package dev.kakehashi.bulk.parquet.read;

/// Levels of a page, of either encoding. Not thread-safe.
final class LevelDecoder {
  private final HybridDecoder runs = new HybridDecoder();
  private final int max;
  private final int bits;
  private boolean packed;
  private byte[] bytes = {};
  private int base;
  private long bitAt;

  /// @param max level, at least 1
  LevelDecoder(int max) {
    this.max = max;
    this.bits = Integer.SIZE - Integer.numberOfLeadingZeros(max);
  }

  /// Begins levels that are runs.
  void open(byte[] source, int from, int to) {
    packed = false;
    runs.open(source, from, to, bits);
  }

  /// Begins levels after their length.
  ///
  /// @return where they end
  int openWithLength(byte[] source, int from, int to) {
    if (to - from < Integer.BYTES) {
      throw Damage.shortPage();
    }
    int length = (int) PlainDecoder.INTS.get(source, from);
    int begin = from + Integer.BYTES;
    if (length < 0 || length > to - begin) {
      throw Damage.of("levels leave their page");
    }
    open(source, begin, begin + length);
    return begin + length;
  }

  /// Begins levels of the deprecated encoding: bits from the highest on.
  ///
  /// @return where they end
  int openPacked(byte[] source, int from, int to, int count) {
    long length = ((long) count * bits + 7) / 8;
    if (length > to - from) {
      throw Damage.shortPage();
    }
    packed = true;
    bytes = source;
    base = from;
    bitAt = 0;
    return from + (int) length;
  }

  /// Reads the next levels.
  ///
  /// @return how many are the highest
  int read(byte[] into, int from, int count) {
    if (!packed) {
      return runs.readLevels(into, from, count, max);
    }
    int found = 0;
    for (int i = from; i < from + count; i++) {
      int level = 0;
      for (int bit = 0; bit < bits; bit++, bitAt++) {
        level = level << 1 | ((bytes[base + (int) (bitAt >>> 3)] >>> (7 - (bitAt & 7))) & 1);
      }
      if (level > max) {
        throw Damage.of("a level is too high");
      }
      into[i] = (byte) level;
      found += level == max ? 1 : 0;
    }
    return found;
  }
}
