package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.math.BigInteger;

/// Numerics of up to 18 decimal digits as `unscaled / 10^scale` in a long, without allocation.
public final class NumericFast {
  /// Result of [#unscaled(long)] for values that do not fit: more than 18 digits, NaN, infinities.
  public static final long NOT_FAST = Long.MIN_VALUE;

  /// Exclusive bound of the magnitude of unscaled values.
  public static final long LIMIT = 1_000_000_000_000_000_000L;

  private static final long[] POWERS = new long[19];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = POWERS[i - 1] * 10;
    }
  }

  private NumericFast() {}

  /// 10^exponent, exponent 0 to 18.
  public static long powerOfTen(int exponent) {
    return POWERS[exponent];
  }

  /// Digits after the point; what [#unscaled(long)] is scaled by.
  public static int scale(long value) {
    return NumericForm.displayScale(value);
  }

  /// The value times 10^[#scale(long)], magnitude below [#LIMIT]; or [#NOT_FAST].
  public static long unscaled(long value) {
    int header = RawMemory.getShort(value + 4) & 0xFFFF;
    int count = (Varlena.totalBytes(value) - 6) >> 1;
    if ((header & NumericForm.SIGN_MASK) != NumericForm.SHORT) {
      return unscaledLong(value, header);
    }
    if (count == 0) {
      return 0;
    }
    int scale = (header >> 7) & 0x3F;
    int weight = header << 25 >> 25;
    if (4 * (weight + 1) + scale > 18) {
      return NOT_FAST;
    }
    long magnitude = magnitude(value + 6, count, scale - 4 * (count - 1 - weight));
    return (header & NumericForm.SHORT_SIGN) != 0 ? -magnitude : magnitude;
  }

  private static long unscaledLong(long value, int header) {
    if ((header & NumericForm.SIGN_MASK) == NumericForm.SPECIAL) {
      return NOT_FAST;
    }
    int count = NumericForm.digitCount(value, header);
    if (count == 0) {
      return 0;
    }
    int scale = header & NumericForm.MAX_SCALE;
    int weight = NumericForm.weight(value, header);
    if (4 * (weight + 1) + scale > 18) {
      return NOT_FAST;
    }
    long magnitude = magnitude(value + 8, count, scale - 4 * (count - 1 - weight));
    return NumericForm.isNegative(header) ? -magnitude : magnitude;
  }

  /// Digits as one number times 10^shift; shift is at least -3, because digits do not go beyond the display scale.
  private static long magnitude(long digits, int count, int shift) {
    long result = 0;
    long at = digits;
    for (int i = 1; i < count; i++, at += 2) {
      result = result * 10000 + RawMemory.getShort(at);
    }
    int last = RawMemory.getShort(at);
    return switch (shift) {
      case 0 -> result * 10000 + last;
      case -1 -> result * 1000 + last / 10;
      case -2 -> result * 100 + last / 100;
      case -3 -> result * 10 + last / 1000;
      default -> (result * 10000 + last) * POWERS[shift];
    };
  }

  /// The canonical numeric `unscaled / 10^scale`.
  ///
  /// @param unscaled any long
  /// @param scale 0 to 16383
  public static long encode(VarHeap heap, long unscaled, int scale) {
    boolean negative = unscaled < 0;
    long rest = negative ? -unscaled : unscaled;
    if (rest < 0) { // only Long.MIN_VALUE
      return encodeMin(heap, scale);
    }
    // Number of base-10000 digits after the point, and what the last one lacks to four decimal
    // digits.
    int fraction = (scale + 3) >> 2;
    int odd = scale & 3;
    int weight = -fraction;
    if (rest == 0) {
      return NumericForm.allocate(heap, false, scale, 0, 0);
    }
    int digit = 0;
    if (odd != 0) {
      long next;
      switch (odd) {
        case 1 -> {
          next = rest / 10;
          digit = (int) (rest - next * 10) * 1000;
        }
        case 2 -> {
          next = rest / 100;
          digit = (int) (rest - next * 100) * 100;
        }
        default -> {
          next = rest / 1000;
          digit = (int) (rest - next * 1000) * 10;
        }
      }
      rest = next;
    }
    if (digit == 0) {
      // Skip zero digits at the end.
      if (odd != 0) {
        weight++;
      }
      long next = rest / 10000;
      digit = (int) (rest - next * 10000);
      rest = next;
      while (digit == 0) {
        next = rest / 10000;
        digit = (int) (rest - next * 10000);
        rest = next;
        weight++;
      }
    }
    // The four lowest digits that are kept, 16 bits each, the lowest digit in the high bits.
    long packed = digit;
    int count = 1;
    while (rest != 0 && count < 4) {
      long next = rest / 10000;
      packed = packed << 16 | (rest - next * 10000);
      rest = next;
      count++;
    }
    // Up to two more digits remain in rest: a long has at most 19 decimal digits, in at most 6
    // groups.
    int high = (int) rest;
    int total = count + (rest == 0 ? 0 : high >= 10000 ? 2 : 1);
    return store(heap, negative, scale, weight + total - 1, packed, count, high, total);
  }

  private static long store(
      VarHeap heap,
      boolean negative,
      int scale,
      int weight,
      long packed,
      int packedCount,
      int high,
      int total) {
    long value = NumericForm.allocate(heap, negative, scale, weight, total);
    long at = value + (NumericForm.fitsShort(scale, weight) ? 6 : 8);
    if (total > packedCount) {
      if (total - packedCount == 2) {
        RawMemory.putShort(at, (short) (high / 10000));
        at += 2;
      }
      RawMemory.putShort(at, (short) (high % 10000));
      at += 2;
    }
    long digits = packed;
    for (int i = 0; i < packedCount; i++, at += 2) {
      RawMemory.putShort(at, (short) digits);
      digits >>>= 16;
    }
    return value;
  }

  private static long encodeMin(VarHeap heap, int scale) {
    return NumericForm.of(heap, BigInteger.valueOf(Long.MIN_VALUE), scale);
  }
}
