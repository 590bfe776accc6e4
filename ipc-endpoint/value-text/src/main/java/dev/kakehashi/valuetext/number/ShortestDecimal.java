package dev.kakehashi.valuetext.number;

import java.math.BigInteger;

/// The shortest decimal strictly between the midpoints to a binary floating-point number's neighbours, and of those the nearest: what
/// PostgreSQL prints.
///
/// The way is that of R. Giulietti, "The Schubfach way to render doubles": the number and both bounds are scaled by a power of ten, kept in
/// 126 bits, and rounded to odd, which is enough to compare them exactly. Unlike there bounds never count, and one digit may be enough.
final class ShortestDecimal {
  private static final int MIN_POWER = -324;
  private static final int MAX_POWER = 292;
  private static final int POWER_BITS = 126;
  private static final long MASK_63 = Long.MAX_VALUE;

  /// High and low 63 bits of 10^-k, rounded up to 126 bits.
  private static final long[] POWERS = new long[2 * (MAX_POWER - MIN_POWER + 1)];

  static {
    for (int k = MIN_POWER; k <= MAX_POWER; k++) {
      BigInteger power = power(k);
      POWERS[2 * (k - MIN_POWER)] = power.shiftRight(63).longValue();
      POWERS[2 * (k - MIN_POWER) + 1] = power.longValue() & MASK_63;
    }
  }

  private ShortestDecimal() {}

  private static BigInteger power(int k) {
    BigInteger ten = BigInteger.TEN.pow(Math.abs(k));
    BigInteger scaled;
    if (k <= 0) {
      int shift = POWER_BITS - ten.bitLength();
      scaled = shift >= 0 ? ten.shiftLeft(shift) : ten.shiftRight(-shift);
    } else {
      int shift = POWER_BITS - 1 + ten.bitLength();
      scaled = BigInteger.ONE.shiftLeft(shift).divide(ten);
      if (scaled.bitLength() > POWER_BITS) {
        scaled = scaled.shiftRight(1);
      }
    }
    return scaled.add(BigInteger.ONE);
  }

  /// The exponent of the decimal of `c * 2^q`.
  ///
  /// @param nearerBelow whether the neighbour below is half as far as the one above
  static int exponent(int q, boolean nearerBelow) {
    // floor(log10(2^q)), floor(log10(3/4 * 2^q))
    return (int) ((q * 661_971_961_083L - (nearerBelow ? 274_743_187_321L : 0)) >> 41);
  }

  /// The digits of the decimal of `c * 2^q`, perhaps with zeros at the end.
  ///
  /// @param c positive, less than 2^53
  /// @param k its exponent, see above
  static long digits(int q, long c, boolean nearerBelow, int k) {
    // floor(log2(10^-k))
    int h = q + (int) ((-k * 913_124_641_741L) >> 38) + 2;
    long high = POWERS[2 * (k - MIN_POWER)];
    long low = POWERS[2 * (k - MIN_POWER) + 1];
    long four = c << 2;
    long value = scaled(high, low, four << h);
    long below = scaled(high, low, (nearerBelow ? four - 1 : four - 2) << h);
    long above = scaled(high, low, (four + 2) << h);
    long floor = value >> 2;
    if (floor >= 10) {
      long tens = floor / 10 * 10;
      boolean isLow = below < tens << 2;
      boolean isHigh = (tens + 10) << 2 < above;
      if (isLow != isHigh) {
        return isLow ? tens : tens + 10;
      }
    }
    boolean isLow = below < floor << 2;
    boolean isHigh = (floor + 1) << 2 < above;
    if (isLow != isHigh) {
      return isLow ? floor : floor + 1;
    }
    long order = value - ((2 * floor + 1) << 1);
    return order < 0 || (order == 0 && (floor & 1) == 0) ? floor : floor + 1;
  }

  /// The product by 2^-126 and the scale's rest, rounded to odd.
  private static long scaled(long high, long low, long factor) {
    long lower = Math.multiplyHigh(low, factor);
    long middle = high * factor;
    long upper = Math.multiplyHigh(high, factor);
    long sum = (middle >>> 1) + lower;
    long whole = upper + (sum >>> 63);
    return whole | ((sum & MASK_63) + MASK_63) >>> 63;
  }
}
