package dev.kakehashi.bulk.csv.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Eight bytes at a time, in a long whose lowest byte is the first.
public final class Eight {
  /// Reads and writes at any offset of a byte array.
  public static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  public static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  public static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  /// Bytes that an array has to have behind what is read in eights.
  public static final int PADDING = 8;

  public static final long ONES = 0x0101_0101_0101_0101L;
  public static final long HIGHS = 0x8080_8080_8080_8080L;
  public static final long LOWS = ~HIGHS;
  private static final long ZEROS = '0' * ONES;

  private Eight() {}

  public static long load(byte[] bytes, int at) {
    return (long) LONGS.get(bytes, at);
  }

  public static void store(byte[] bytes, int at, long value) {
    LONGS.set(bytes, at, value);
  }

  /// A byte eight times.
  public static long pattern(byte each) {
    return (each & 0xFF) * ONES;
  }

  /// In each byte: its high bit is set where the byte is another than the pattern's; the other bits mean nothing.
  public static long differs(long eight, long pattern) {
    long x = eight ^ pattern;
    return ((x & LOWS) + LOWS) | x;
  }

  /// The high bits of the bytes that are the pattern's.
  public static long equal(long eight, long pattern) {
    return ~differs(eight, pattern) & HIGHS;
  }

  /// A mask of the first `count` bytes, 0 to 8.
  public static long first(int count) {
    return count >= 8 ? -1L : (1L << (count << 3)) - 1;
  }

  /// How many of the first bytes are digits, 0 to 8.
  public static int digitCount(long eight) {
    long values = eight ^ ZEROS;
    long others = ((values & LOWS) + (0x76 * ONES) | values) & HIGHS;
    return Long.numberOfTrailingZeros(others) >>> 3;
  }

  /// The number that the first bytes, all digits, are.
  ///
  /// @param count 1 to 8
  public static long number(long eight, int count) {
    // Digits from the top on, zeros before them.
    long digits = (eight ^ ZEROS) << (64 - (count << 3));
    long pairs = digits * 10 + (digits >>> 8);
    return ((pairs & 0x0000_00FF_0000_00FFL) * 0x000F_4240_0000_0064L
            + (pairs >>> 16 & 0x0000_00FF_0000_00FFL) * 0x0000_2710_0000_0001L)
        >>> 32;
  }
}
