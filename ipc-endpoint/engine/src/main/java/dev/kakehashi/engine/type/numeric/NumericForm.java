package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import java.math.BigDecimal;
import java.math.BigInteger;

/// PostgreSQL's in-memory form of numeric, and its conversion from and to [BigDecimal].
///
/// ```
///  offset  bytes  field
///       0      4  varlena header: total length << 2
///       4      2  header: 10sddddddwxxxxxx  short form: sign, display scale 0..63, weight -64..63
///                         00dddddddddddddd  positive, long form: display scale 0..16383
///                         01dddddddddddddd  negative, long form
///                         11tt000000000000  special: 00 NaN, 01 infinity, 11 -infinity
///       6      2  weight, long form only
///     6/8    2 n  base-10000 digits; digit i counts 10000^(weight - i)
/// ```
///
/// Canonical values have no zero digit at either end, zero has no digits and weight 0, and the short form is taken when it fits, as
/// PostgreSQL's make_result() does. Zero has no sign. Digits beyond the display scale do not occur.
public final class NumericForm {
  static final int SIGN_MASK = 0xC000;
  static final int NEGATIVE = 0x4000;
  static final int SHORT = 0x8000;
  static final int SPECIAL = 0xC000;
  static final int NAN = 0xC000;
  static final int POSITIVE_INFINITY = 0xD000;
  static final int NEGATIVE_INFINITY = 0xF000;
  static final int SHORT_SIGN = 0x2000;
  static final int MAX_SHORT_SCALE = 63;
  static final int MIN_SHORT_WEIGHT = -64;
  static final int MAX_SHORT_WEIGHT = 63;
  static final int MAX_SCALE = 0x3FFF;
  static final int MAX_WEIGHT = 0x7FFF;
  static final int MIN_WEIGHT = -0x8000;

  /// Groups of four digits whose conversion takes about as long as a look for a cancel is worth.
  private static final int LONG_DIGITS = 2048;

  /// From here on a number is written half by half.
  private static final int LONG_BITS = 1 << 15;

  private static final double DIGITS_OF_BIT = 0.301;

  private static final BigInteger TEN_THOUSAND_16 = BigInteger.TEN.pow(16);

  private NumericForm() {}

  static int header(long value) {
    return RawMemory.getShort(value + 4) & 0xFFFF;
  }

  static boolean isShort(int header) {
    return (header & SIGN_MASK) == SHORT;
  }

  /// NaN or an infinity.
  public static boolean isSpecial(long value) {
    return (header(value) & SIGN_MASK) == SPECIAL;
  }

  public static boolean isNan(long value) {
    return header(value) == NAN;
  }

  /// Whether the value is positive or negative infinity.
  public static boolean isInfinite(long value) {
    int header = header(value);
    return header == POSITIVE_INFINITY || header == NEGATIVE_INFINITY;
  }

  static boolean isNegative(int header) {
    return isShort(header) ? (header & SHORT_SIGN) != 0 : (header & SIGN_MASK) == NEGATIVE;
  }

  /// Digits after the point; 0 for NaN and infinities.
  public static int displayScale(long value) {
    int header = header(value);
    if (isShort(header)) {
      return (header >> 7) & 0x3F;
    }
    return (header & SIGN_MASK) == SPECIAL ? 0 : header & MAX_SCALE;
  }

  static int weight(long value, int header) {
    // Sign extension of the seven low bits.
    return isShort(header) ? header << 25 >> 25 : RawMemory.getShort(value + 6);
  }

  static long digits(long value, int header) {
    return value + (isShort(header) ? 6 : 8);
  }

  static int digitCount(long value, int header) {
    return (Varlena.totalBytes(value) - (isShort(header) ? 6 : 8)) >> 1;
  }

  /// -1, 0, 1; infinities have their sign.
  ///
  /// @param value not NaN
  public static int sign(long value) {
    int header = header(value);
    if ((header & SIGN_MASK) == SPECIAL) {
      return header == NEGATIVE_INFINITY ? -1 : 1;
    }
    if (digitCount(value, header) == 0) {
      return 0;
    }
    return isNegative(header) ? -1 : 1;
  }

  static long special(VarHeap heap, int header) {
    long value = Varlena.allocate(heap, 2);
    RawMemory.putShort(value + 4, (short) header);
    return value;
  }

  public static long nan(VarHeap heap) {
    return special(heap, NAN);
  }

  public static long infinity(VarHeap heap, boolean negative) {
    return special(heap, negative ? NEGATIVE_INFINITY : POSITIVE_INFINITY);
  }

  /// A fresh value whose digits the caller writes at the returned address plus [#digitsOffset(int, int)].
  static long allocate(VarHeap heap, boolean negative, int scale, int weight, int digitCount) {
    if (digitCount == 0) {
      return allocateHeader(heap, false, scale, 0, 0);
    }
    return allocateHeader(heap, negative, scale, weight, digitCount);
  }

  private static long allocateHeader(
      VarHeap heap, boolean negative, int scale, int weight, int digitCount) {
    if (fitsShort(scale, weight)) {
      long value = heap.allocate(6 + 2L * digitCount);
      RawMemory.putInt(value, (6 + 2 * digitCount) << 2);
      RawMemory.putShort(
          value + 4, (short) (SHORT | (negative ? SHORT_SIGN : 0) | scale << 7 | (weight & 0x7F)));
      return value;
    }
    if (scale > MAX_SCALE || weight > MAX_WEIGHT || weight < MIN_WEIGHT) {
      throw SqlErrors.numericOverflow();
    }
    long value = Varlena.allocate(heap, 4 + 2L * digitCount);
    RawMemory.putShort(value + 4, (short) ((negative ? NEGATIVE : 0) | scale));
    RawMemory.putShort(value + 6, (short) weight);
    return value;
  }

  static boolean fitsShort(int scale, int weight) {
    return scale <= MAX_SHORT_SCALE && weight <= MAX_SHORT_WEIGHT && weight >= MIN_SHORT_WEIGHT;
  }

  /// Exact value with scale = display scale.
  ///
  /// @param value neither NaN nor infinite
  public static BigDecimal toBigDecimal(long value) {
    int header = header(value);
    int scale = displayScale(value);
    int count = digitCount(value, header);
    if (count == 0) {
      return BigDecimal.valueOf(0, scale);
    }
    BigInteger unscaled = digitsValue(digits(value, header), count);
    // Digits end at 10000^(weight - count + 1).
    int digitScale = 4 * (count - 1 - weight(value, header));
    BigDecimal result =
        new BigDecimal(isNegative(header) ? unscaled.negate() : unscaled, digitScale);
    return result.setScale(scale);
  }

  private static BigInteger digitsValue(long digits, int count) {
    if (count > 64) {
      if (count > LONG_DIGITS) {
        Interrupts.check();
      }
      int low = count / 2;
      BigInteger high = digitsValue(digits, count - low);
      return high.multiply(BigInteger.TEN.pow(4 * low))
          .add(digitsValue(digits + 2L * (count - low), low));
    }
    BigInteger result = BigInteger.ZERO;
    int at = 0;
    while (at < count) {
      int end = Math.min(count, at + 4);
      long group = 0;
      long factor = 1;
      for (; at < end; at++) {
        group = group * 10000 + RawMemory.getShort(digits + 2L * at);
        factor *= 10000;
      }
      result =
          result
              .multiply(
                  factor == 10_000_000_000_000_000L ? TEN_THOUSAND_16 : BigInteger.valueOf(factor))
              .add(BigInteger.valueOf(group));
    }
    return result;
  }

  /// The canonical form of a value; its scale becomes the display scale, a negative scale 0.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException NUMERIC_VALUE_OUT_OF_RANGE beyond numeric's limits
  public static long of(VarHeap heap, BigDecimal decimal) {
    if (decimal.scale() < 0) {
      if (decimal.scale() < -4 * (MAX_WEIGHT + 1)) {
        if (decimal.signum() == 0) {
          return of(heap, BigInteger.ZERO, 0);
        }
        throw SqlErrors.numericOverflow();
      }
      return of(heap, decimal.setScale(0).unscaledValue(), 0);
    }
    return of(heap, decimal.unscaledValue(), decimal.scale());
  }

  /// The canonical form of `unscaled / 10^scale`.
  ///
  /// @param scale at least 0
  public static long of(VarHeap heap, BigInteger unscaled, int scale) {
    if (scale > MAX_SCALE) {
      throw SqlErrors.numericOverflow();
    }
    if (unscaled.signum() == 0) {
      return allocate(heap, false, scale, 0, 0);
    }
    if (unscaled.bitLength() < 63) {
      return NumericFast.encode(heap, unscaled.longValue(), scale);
    }
    return of(heap, unscaled.signum() < 0, decimal(unscaled.abs()), scale);
  }

  /// The canonical form of `decimal / 10^scale`.
  ///
  /// @param decimal digits, the first of which is not 0
  /// @param scale 0 to [#MAX_SCALE]
  static long of(VarHeap heap, boolean negative, String decimal, int scale) {
    int fractionDigits = (scale + 3) / 4;
    int padRight = fractionDigits * 4 - scale;
    int length = decimal.length() + padRight;
    int groups = (length + 3) / 4;
    short[] digits = new short[groups];
    int position = groups * 4 - length;
    for (int i = 0; i < decimal.length(); i++, position++) {
      digits[position >> 2] = (short) (digits[position >> 2] * 10 + (decimal.charAt(i) - '0'));
    }
    for (int i = 0; i < padRight; i++) {
      digits[groups - 1] = (short) (digits[groups - 1] * 10);
    }
    int weight = groups - fractionDigits - 1;
    int first = 0;
    while (digits[first] == 0) {
      first++;
      weight--;
    }
    int last = groups;
    while (digits[last - 1] == 0) {
      last--;
    }
    long value = allocate(heap, negative, scale, weight, last - first);
    long to = digits(value, header(value));
    for (int i = first; i < last; i++, to += 2) {
      RawMemory.putShort(to, digits[i]);
    }
    return value;
  }

  /// The digits of a number, found half by half, so that a long one can be canceled.
  private static String decimal(BigInteger value) {
    if (value.bitLength() < LONG_BITS) {
      return value.toString();
    }
    StringBuilder out = new StringBuilder();
    appendDecimal(value, 0, out);
    return out.toString();
  }

  /// @param width digits to be written, with zeros in front; 0: as many as there are
  private static void appendDecimal(BigInteger value, int width, StringBuilder out) {
    Interrupts.check();
    if (value.bitLength() < LONG_BITS) {
      String digits = value.toString();
      out.repeat('0', Math.max(0, width - digits.length())).append(digits);
      return;
    }
    int low = (int) (value.bitLength() * DIGITS_OF_BIT / 2);
    BigInteger[] parts = value.divideAndRemainder(BigInteger.TEN.pow(low));
    appendDecimal(parts[0], width == 0 ? 0 : width - low, out);
    appendDecimal(parts[1], low, out);
  }
}
