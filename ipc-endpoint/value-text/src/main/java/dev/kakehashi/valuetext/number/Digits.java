package dev.kakehashi.valuetext.number;

/// Digits of integers, written in place.
public final class Digits {
  /// Longest integer.
  public static final int MAX_INTEGER_BYTES = 20;

  /// "00", "01", … "99".
  private static final byte[] PAIRS = new byte[200];

  /// Most digits of a long.
  private static final int MOST_DIGITS = 19;

  static {
    for (int i = 0; i < 100; i++) {
      PAIRS[2 * i] = (byte) ('0' + i / 10);
      PAIRS[2 * i + 1] = (byte) ('0' + i % 10);
    }
  }

  private Digits() {}

  /// Writes an integer; there must be room for MAX_INTEGER_BYTES.
  ///
  /// @return where it ends
  public static int putLong(byte[] bytes, int at, long value) {
    if (value >= 0) {
      return putDigits(bytes, at, value);
    }
    bytes[at] = '-';
    if (value == Long.MIN_VALUE) {
      int next = putDigits(bytes, at + 1, -(value / 10));
      bytes[next] = (byte) ('0' - value % 10);
      return next + 1;
    }
    return putDigits(bytes, at + 1, -value);
  }

  /// Writes a number that is not negative.
  public static int putDigits(byte[] bytes, int at, long value) {
    int end = at + digitCount(value);
    int next = end;
    long high = value;
    while (high > Integer.MAX_VALUE) {
      long quotient = high / 100;
      next = putPairBefore(bytes, next, (int) (high - quotient * 100));
      high = quotient;
    }
    int rest = (int) high;
    while (rest >= 100) {
      int quotient = hundredth(rest);
      next = putPairBefore(bytes, next, rest - quotient * 100);
      rest = quotient;
    }
    if (rest >= 10) {
      putPairBefore(bytes, next, rest);
    } else {
      bytes[next - 1] = (byte) ('0' + rest);
    }
    return end;
  }

  private static int putPairBefore(byte[] bytes, int end, int pair) {
    bytes[end - 1] = PAIRS[2 * pair + 1];
    bytes[end - 2] = PAIRS[2 * pair];
    return end - 2;
  }

  /// Quotient by 100 of an integer that is not negative: the JVM's first compiler divides by each constant.
  private static int hundredth(int value) {
    return (int) ((value * 1374389535L) >>> 37);
  }

  /// Digits of a number that is not negative.
  public static int digitCount(long value) {
    int count = 1;
    long least = 10;
    while (value >= least && count < MOST_DIGITS) {
      count++;
      least *= 10;
    }
    return count;
  }

  /// Writes the last two digits, with zeros in front.
  public static int putTwo(byte[] bytes, int at, int value) {
    bytes[at] = PAIRS[2 * value];
    bytes[at + 1] = PAIRS[2 * value + 1];
    return at + 2;
  }

  /// Writes the last four digits, with zeros in front.
  public static int putFour(byte[] bytes, int at, int value) {
    int high = hundredth(value);
    return putTwo(bytes, putTwo(bytes, at, high), value - 100 * high);
  }

  /// Writes `digits` digits of a number, with zeros in front.
  public static int putPadded(byte[] bytes, int at, long value, int digits) {
    long rest = value;
    int next = at + digits;
    for (; next > at + 1; next -= 2) {
      long quotient = rest > Integer.MAX_VALUE ? rest / 100 : hundredth((int) rest);
      putPairBefore(bytes, next, (int) (rest - quotient * 100));
      rest = quotient;
    }
    if (next > at) {
      bytes[at] = (byte) ('0' + rest);
    }
    return at + digits;
  }
}
