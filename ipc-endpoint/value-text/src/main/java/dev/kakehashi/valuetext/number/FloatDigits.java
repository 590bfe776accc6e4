package dev.kakehashi.valuetext.number;

import java.nio.charset.StandardCharsets;

/// PostgreSQL's shortest text of floating-point numbers that reads back as the same number.
public final class FloatDigits {
  /// Longest text.
  public static final int MAX_BYTES = 28;

  private static final int MAX_FIXED_EXPONENT_8 = 15;
  private static final int MAX_FIXED_EXPONENT_4 = 6;
  private static final int MIN_FIXED_EXPONENT = -4;
  private static final int FRACTION_BITS_8 = 52;
  private static final int FRACTION_BITS_4 = 23;

  /// Exponents of the least significant bit of a subnormal.
  private static final int MIN_EXPONENT_8 = -1074;

  private static final int MIN_EXPONENT_4 = -149;
  private static final byte[] NAN = ascii("NaN");
  private static final byte[] INFINITY = ascii("Infinity");

  private FloatDigits() {}

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /// Writes a number; there must be room for MAX_BYTES.
  ///
  /// @return where it ends
  public static int put(byte[] bytes, int at, double value) {
    long bits = Double.doubleToRawLongBits(value);
    int biased = (int) (bits >>> FRACTION_BITS_8) & 0x7FF;
    long fraction = bits & (1L << FRACTION_BITS_8) - 1;
    if (biased == 0x7FF) {
      return special(bytes, at, bits < 0, fraction != 0);
    }
    int next = sign(bytes, at, bits < 0);
    double magnitude = Math.abs(value);
    if (magnitude < 1e15) {
      long whole = (long) magnitude;
      if (whole == magnitude) {
        return Digits.putDigits(bytes, next, whole);
      }
    }
    return put(
        bytes, next, biased, fraction, FRACTION_BITS_8, MIN_EXPONENT_8, MAX_FIXED_EXPONENT_8);
  }

  /// Writes a number; there must be room for MAX_BYTES.
  ///
  /// @return where it ends
  public static int put(byte[] bytes, int at, float value) {
    int bits = Float.floatToRawIntBits(value);
    int biased = bits >>> FRACTION_BITS_4 & 0xFF;
    int fraction = bits & (1 << FRACTION_BITS_4) - 1;
    if (biased == 0xFF) {
      return special(bytes, at, bits < 0, fraction != 0);
    }
    int next = sign(bytes, at, bits < 0);
    if (biased == 0 && fraction == 0) {
      bytes[next] = '0';
      return next + 1;
    }
    return put(
        bytes, next, biased, fraction, FRACTION_BITS_4, MIN_EXPONENT_4, MAX_FIXED_EXPONENT_4);
  }

  private static int special(byte[] bytes, int at, boolean negative, boolean isNan) {
    int next = isNan ? at : sign(bytes, at, negative);
    byte[] text = isNan ? NAN : INFINITY;
    System.arraycopy(text, 0, bytes, next, text.length);
    return next + text.length;
  }

  private static int sign(byte[] bytes, int at, boolean negative) {
    if (!negative) {
      return at;
    }
    bytes[at] = '-';
    return at + 1;
  }

  private static int put(
      byte[] bytes,
      int at,
      int biased,
      long fraction,
      int fractionBits,
      int minExponent,
      int maxFixedExponent) {
    long significand = biased == 0 ? fraction : fraction | 1L << fractionBits;
    int q = biased == 0 ? minExponent : minExponent + biased - 1;
    boolean nearerBelow = fraction == 0 && biased > 1;
    int k = ShortestDecimal.exponent(q, nearerBelow);
    long digits = ShortestDecimal.digits(q, significand, nearerBelow, k);
    while (digits % 10_000 == 0) {
      digits /= 10_000;
      k += 4;
    }
    while (digits % 10 == 0) {
      digits /= 10;
      k++;
    }
    return layOut(bytes, at, digits, k, maxFixedExponent);
  }

  /// Writes `digits * 10^k`.
  private static int layOut(byte[] bytes, int at, long digits, int k, int maxFixedExponent) {
    int count = Digits.digitCount(digits);
    int exponent = count - 1 + k;
    if (exponent < MIN_FIXED_EXPONENT || exponent >= maxFixedExponent) {
      return scientific(bytes, at, digits, count, exponent);
    }
    if (exponent < 0) {
      bytes[at] = '0';
      bytes[at + 1] = '.';
      return Digits.putPadded(bytes, at + 2, digits, count - exponent - 1);
    }
    if (k >= 0) {
      int next = Digits.putDigits(bytes, at, digits);
      return zeros(bytes, next, k);
    }
    // The digits before the point move to the left of it.
    int end = Digits.putDigits(bytes, at + 1, digits);
    System.arraycopy(bytes, at + 1, bytes, at, exponent + 1);
    bytes[at + exponent + 1] = '.';
    return end;
  }

  private static int scientific(byte[] bytes, int at, long digits, int count, int exponent) {
    int next = Digits.putDigits(bytes, at + 1, digits);
    bytes[at] = bytes[at + 1];
    if (count > 1) {
      bytes[at + 1] = '.';
    } else {
      next--;
    }
    bytes[next] = 'e';
    bytes[next + 1] = (byte) (exponent < 0 ? '-' : '+');
    next += 2;
    int magnitude = Math.abs(exponent);
    return magnitude < 100
        ? Digits.putTwo(bytes, next, magnitude)
        : Digits.putDigits(bytes, next, magnitude);
  }

  private static int zeros(byte[] bytes, int at, int count) {
    for (int i = 0; i < count; i++) {
      bytes[at + i] = '0';
    }
    return at + count;
  }
}
