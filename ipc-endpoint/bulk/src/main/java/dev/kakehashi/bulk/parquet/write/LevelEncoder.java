package dev.kakehashi.bulk.parquet.write;

/// Writes small numbers as runs and packed bits (Parquet's RLE hybrid).
final class LevelEncoder {
  private static final int GROUP = 8;

  private LevelEncoder() {}

  /// Bits of numbers up to `max`.
  static int bits(int max) {
    return 32 - Integer.numberOfLeadingZeros(max);
  }

  /// Writes numbers of `bits` bits, 1 … 32.
  static void put(ByteSpace out, int[] values, int from, int to, int bits) {
    int literals = from;
    int at = from;
    while (at < to) {
      int run = at + 1;
      int value = values[at];
      while (run < to && values[run] == value) {
        run++;
      }
      // Packed bits come in groups of eight, filled up from the run.
      int filled = -(at - literals) & (GROUP - 1);
      if (run - at - filled >= GROUP) {
        at += filled;
        putPacked(out, values, literals, at, bits);
        putRun(out, run - at, value, bits);
        literals = run;
      }
      at = run;
    }
    putPacked(out, values, literals, to, bits);
  }

  private static void putRun(ByteSpace out, int count, int value, int bits) {
    out.putVarint((long) count << 1);
    for (int shift = 0; shift < bits; shift += 8) {
      out.put(value >>> shift);
    }
  }

  private static void putPacked(ByteSpace out, int[] values, int from, int to, int bits) {
    if (from == to) {
      return;
    }
    int groups = (to - from + GROUP - 1) / GROUP;
    out.putVarint((long) groups << 1 | 1);
    int bytes = groups * bits;
    out.need(bytes + Long.BYTES);
    int end = out.length + bytes;
    byte[] target = out.bytes;
    int at = out.length;
    long word = 0;
    int used = 0;
    for (int i = from; i < to; i++) {
      word |= (long) values[i] << used;
      used += bits;
      if (used >= 32) {
        ByteSpace.INTS.set(target, at, (int) word);
        at += Integer.BYTES;
        word >>>= 32;
        used -= 32;
      }
    }
    ByteSpace.LONGS.set(target, at, word);
    for (int i = at + Long.BYTES; i < end; i++) {
      target[i] = 0;
    }
    out.length = end;
  }

  /// Writes levels, each a byte of up to 3.
  static void putLevels(ByteSpace out, byte[] levels, int from, int to, int bits) {
    int literals = from;
    int at = from;
    while (at < to) {
      int run = at + 1;
      byte value = levels[at];
      while (run < to && levels[run] == value) {
        run++;
      }
      int filled = -(at - literals) & (GROUP - 1);
      if (run - at - filled >= GROUP) {
        at += filled;
        putPackedLevels(out, levels, literals, at, bits);
        putRun(out, run - at, value, bits);
        literals = run;
      }
      at = run;
    }
    putPackedLevels(out, levels, literals, to, bits);
  }

  private static void putPackedLevels(ByteSpace out, byte[] levels, int from, int to, int bits) {
    if (from == to) {
      return;
    }
    int groups = (to - from + GROUP - 1) / GROUP;
    out.putVarint((long) groups << 1 | 1);
    out.need((long) groups * bits);
    for (int group = from; group < to; group += GROUP) {
      int word = 0;
      for (int i = group; i < Math.min(to, group + GROUP); i++) {
        word |= levels[i] << (bits * (i - group));
      }
      for (int i = 0; i < bits; i++) {
        out.bytes[out.length++] = (byte) (word >>> (8 * i));
      }
    }
  }
}
