package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/// Exact arithmetic with PostgreSQL's result scales: operands and results are addresses, results are fresh in the given heap.
///
/// Values of up to 18 digits take paths on longs without allocation on the Java heap; others go through [BigDecimal].
public final class Numerics {
  static final int MIN_SIGNIFICANT_DIGITS = 16;
  static final int MAX_DISPLAY_SCALE = 1000;
  static final int MAX_RESULT_SCALE = 2000;

  private Numerics() {}

  public static long add(long a, long b, VarHeap heap) {
    long x = NumericFast.unscaled(a);
    long y = NumericFast.unscaled(b);
    if (x != NumericFast.NOT_FAST && y != NumericFast.NOT_FAST) {
      int scaleA = NumericFast.scale(a);
      int scaleB = NumericFast.scale(b);
      if (scaleA == scaleB) {
        return NumericFast.encode(heap, x + y, scaleA);
      }
      int shift = Math.abs(scaleA - scaleB);
      if (shift <= 18) {
        long small = scaleA < scaleB ? x : y;
        long large = scaleA < scaleB ? y : x;
        long power = NumericFast.powerOfTen(shift);
        long shifted = small * power;
        if (Math.multiplyHigh(small, power) == shifted >> 63) {
          long sum = shifted + large;
          if (((shifted ^ sum) & (large ^ sum)) >= 0) {
            return NumericFast.encode(heap, sum, Math.max(scaleA, scaleB));
          }
        }
      }
    }
    return addSlow(a, b, heap);
  }

  private static long addSlow(long a, long b, VarHeap heap) {
    if (NumericForm.isSpecial(a) || NumericForm.isSpecial(b)) {
      return addSpecial(a, b, false, heap);
    }
    return NumericForm.of(heap, NumericForm.toBigDecimal(a).add(NumericForm.toBigDecimal(b)));
  }

  public static long subtract(long a, long b, VarHeap heap) {
    long x = NumericFast.unscaled(a);
    long y = NumericFast.unscaled(b);
    if (x != NumericFast.NOT_FAST && y != NumericFast.NOT_FAST) {
      int scaleA = NumericFast.scale(a);
      int scaleB = NumericFast.scale(b);
      if (scaleA == scaleB) {
        return NumericFast.encode(heap, x - y, scaleA);
      }
      int shift = Math.abs(scaleA - scaleB);
      if (shift <= 18) {
        long power = NumericFast.powerOfTen(shift);
        long small = scaleA < scaleB ? x : y;
        long shifted = small * power;
        if (Math.multiplyHigh(small, power) == shifted >> 63) {
          long left = scaleA < scaleB ? shifted : x;
          long right = scaleA < scaleB ? y : shifted;
          long difference = left - right;
          if (((left ^ right) & (left ^ difference)) >= 0) {
            return NumericFast.encode(heap, difference, Math.max(scaleA, scaleB));
          }
        }
      }
    }
    if (NumericForm.isSpecial(a) || NumericForm.isSpecial(b)) {
      return addSpecial(a, b, true, heap);
    }
    return NumericForm.of(heap, NumericForm.toBigDecimal(a).subtract(NumericForm.toBigDecimal(b)));
  }

  private static long addSpecial(long a, long b, boolean negateB, VarHeap heap) {
    if (NumericForm.isNan(a) || NumericForm.isNan(b)) {
      return NumericForm.nan(heap);
    }
    int signB = NumericForm.isInfinite(b) ? (negateB ? -1 : 1) * NumericForm.sign(b) : 0;
    if (NumericForm.isInfinite(a)) {
      int signA = NumericForm.sign(a);
      return signB == -signA ? NumericForm.nan(heap) : NumericForm.infinity(heap, signA < 0);
    }
    return NumericForm.infinity(heap, signB < 0);
  }

  public static long multiply(long a, long b, VarHeap heap) {
    long x = NumericFast.unscaled(a);
    long y = NumericFast.unscaled(b);
    if (x != NumericFast.NOT_FAST && y != NumericFast.NOT_FAST) {
      long product = x * y;
      int scale = NumericFast.scale(a) + NumericFast.scale(b);
      if (Math.multiplyHigh(x, y) == product >> 63 && scale <= NumericForm.MAX_SCALE) {
        return NumericFast.encode(heap, product, scale);
      }
    }
    return multiplySlow(a, b, heap);
  }

  private static long multiplySlow(long a, long b, VarHeap heap) {
    if (NumericForm.isSpecial(a) || NumericForm.isSpecial(b)) {
      if (NumericForm.isNan(a) || NumericForm.isNan(b)) {
        return NumericForm.nan(heap);
      }
      int sign = NumericForm.sign(a) * NumericForm.sign(b);
      return sign == 0 ? NumericForm.nan(heap) : NumericForm.infinity(heap, sign < 0);
    }
    BigDecimal product = NumericForm.toBigDecimal(a).multiply(NumericForm.toBigDecimal(b));
    if (product.scale() > NumericForm.MAX_SCALE) {
      product = product.setScale(NumericForm.MAX_SCALE, RoundingMode.HALF_UP);
    }
    return NumericForm.of(heap, product);
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException DIVISION_BY_ZERO
  public static long divide(long a, long b, VarHeap heap) {
    if (NumericForm.isSpecial(a) || NumericForm.isSpecial(b)) {
      return divideSpecial(a, b, heap);
    }
    if (NumericForm.sign(b) == 0) {
      throw SqlErrors.divisionByZero();
    }
    int scale = divisionScale(a, b);
    BigDecimal quotient =
        NumericForm.toBigDecimal(a)
            .divide(NumericForm.toBigDecimal(b), scale, RoundingMode.HALF_UP);
    return NumericForm.of(heap, quotient);
  }

  /// A quotient of finite values that may have more digits behind the point than a numeric: intermediate results do, as squares.
  ///
  /// @param b not 0
  public static long divide(BigDecimal a, BigDecimal b, VarHeap heap) {
    if (a.scale() > NumericForm.MAX_SCALE || b.scale() > NumericForm.MAX_SCALE) {
      // Scale that the division would choose: the larger one, as far as results show it.
      return NumericForm.of(heap, a.divide(b, MAX_DISPLAY_SCALE, RoundingMode.HALF_UP));
    }
    return divide(NumericForm.of(heap, a), NumericForm.of(heap, b), heap);
  }

  private static long divideSpecial(long a, long b, VarHeap heap) {
    if (NumericForm.isNan(a) || NumericForm.isNan(b)) {
      return NumericForm.nan(heap);
    }
    if (NumericForm.isInfinite(a)) {
      if (NumericForm.isInfinite(b)) {
        return NumericForm.nan(heap);
      }
      int sign = NumericForm.sign(b);
      if (sign == 0) {
        throw SqlErrors.divisionByZero();
      }
      return NumericForm.infinity(heap, sign * NumericForm.sign(a) < 0);
    }
    return NumericFast.encode(heap, 0, 0); // finite by infinite
  }

  /// Digits after the point of a quotient: at least 16 significant digits, and no fewer than an operand shows.
  static int divisionScale(long a, long b) {
    int headerA = NumericForm.header(a);
    int headerB = NumericForm.header(b);
    int firstA = 0;
    int weightA = 0;
    if (NumericForm.digitCount(a, headerA) > 0) {
      firstA = RawMemory.getShort(NumericForm.digits(a, headerA));
      weightA = NumericForm.weight(a, headerA);
    }
    int firstB = RawMemory.getShort(NumericForm.digits(b, headerB));
    int weight = weightA - NumericForm.weight(b, headerB);
    if (firstA <= firstB) {
      weight--;
    }
    int scale = MIN_SIGNIFICANT_DIGITS - 4 * weight;
    scale = Math.max(scale, NumericForm.displayScale(a));
    scale = Math.max(scale, NumericForm.displayScale(b));
    return Math.min(scale, MAX_DISPLAY_SCALE);
  }

  /// Integer quotient, truncated towards zero.
  public static long div(long a, long b, VarHeap heap) {
    if (NumericForm.isSpecial(a) || NumericForm.isSpecial(b)) {
      return divideSpecial(a, b, heap);
    }
    if (NumericForm.sign(b) == 0) {
      throw SqlErrors.divisionByZero();
    }
    return NumericForm.of(
        heap,
        NumericForm.toBigDecimal(a).divide(NumericForm.toBigDecimal(b), 0, RoundingMode.DOWN));
  }

  /// Remainder with the sign of the dividend.
  public static long mod(long a, long b, VarHeap heap) {
    if (NumericForm.isSpecial(a) || NumericForm.isSpecial(b)) {
      if (NumericForm.isNan(a) || NumericForm.isNan(b)) {
        return NumericForm.nan(heap);
      }
      if (NumericForm.isInfinite(a)) {
        if (NumericForm.sign(b) == 0) {
          throw SqlErrors.divisionByZero();
        }
        return NumericForm.nan(heap);
      }
      return copy(a, heap);
    }
    if (NumericForm.sign(b) == 0) {
      throw SqlErrors.divisionByZero();
    }
    long x = NumericFast.unscaled(a);
    long y = NumericFast.unscaled(b);
    int scale = NumericFast.scale(a);
    if (x != NumericFast.NOT_FAST && y != NumericFast.NOT_FAST && scale == NumericFast.scale(b)) {
      return NumericFast.encode(heap, x % y, scale);
    }
    BigDecimal left = NumericForm.toBigDecimal(a);
    BigDecimal right = NumericForm.toBigDecimal(b);
    int common = Math.max(left.scale(), right.scale());
    BigInteger remainder =
        left.setScale(common).unscaledValue().remainder(right.setScale(common).unscaledValue());
    return NumericForm.of(heap, remainder, common);
  }

  static long copy(long value, VarHeap heap) {
    return heap.copy(value, Varlena.totalBytes(value));
  }

  public static long negate(long a, VarHeap heap) {
    int header = NumericForm.header(a);
    if ((header & NumericForm.SIGN_MASK) == NumericForm.SPECIAL) {
      return header == NumericForm.NAN
          ? NumericForm.nan(heap)
          : NumericForm.infinity(heap, header == NumericForm.POSITIVE_INFINITY);
    }
    long result = copy(a, heap);
    if (NumericForm.digitCount(a, header) > 0) {
      int flipped =
          header ^ (NumericForm.isShort(header) ? NumericForm.SHORT_SIGN : NumericForm.NEGATIVE);
      RawMemory.putShort(result + 4, (short) flipped);
    }
    return result;
  }

  public static long abs(long a, VarHeap heap) {
    return !NumericForm.isNan(a) && NumericForm.sign(a) < 0 ? negate(a, heap) : copy(a, heap);
  }

  public static long sign(long a, VarHeap heap) {
    return NumericForm.isNan(a)
        ? NumericForm.nan(heap)
        : NumericFast.encode(heap, NumericForm.sign(a), 0);
  }

  /// Rounds half away from zero; `scale` may be negative.
  public static long round(long a, int scale, VarHeap heap) {
    return rescale(a, scale, RoundingMode.HALF_UP, heap);
  }

  public static long trunc(long a, int scale, VarHeap heap) {
    return rescale(a, scale, RoundingMode.DOWN, heap);
  }

  public static long ceil(long a, VarHeap heap) {
    return rescale(a, 0, RoundingMode.CEILING, heap);
  }

  public static long floor(long a, VarHeap heap) {
    return rescale(a, 0, RoundingMode.FLOOR, heap);
  }

  static long rescale(long a, int scale, RoundingMode mode, VarHeap heap) {
    if (NumericForm.isSpecial(a)) {
      return copy(a, heap);
    }
    int target =
        Math.max(-4 * (NumericForm.MAX_WEIGHT + 1), Math.min(NumericForm.MAX_SCALE, scale));
    int present = NumericForm.displayScale(a);
    if (present == target) {
      return copy(a, heap);
    }
    long x = NumericFast.unscaled(a);
    if (x != NumericFast.NOT_FAST && target >= 0) {
      if (target < present && present - target <= 18) {
        return NumericFast.encode(heap, roundLong(x, present - target, mode), target);
      }
      if (target > present && target - present <= 18) {
        long power = NumericFast.powerOfTen(target - present);
        if (Math.multiplyHigh(x, power) == (x * power) >> 63) {
          return NumericFast.encode(heap, x * power, target);
        }
      }
    }
    return NumericForm.of(heap, NumericForm.toBigDecimal(a).setScale(target, mode));
  }

  private static long roundLong(long x, int digits, RoundingMode mode) {
    long power = NumericFast.powerOfTen(digits);
    long quotient = x / power;
    long rest = x - quotient * power;
    if (mode == RoundingMode.HALF_UP) {
      long twice = 2 * Math.abs(rest);
      return twice >= power ? quotient + Long.signum(x) : quotient;
    }
    if (mode == RoundingMode.CEILING) {
      return rest > 0 ? quotient + 1 : quotient;
    }
    if (mode == RoundingMode.FLOOR) {
      return rest < 0 ? quotient - 1 : quotient;
    }
    return quotient;
  }

  public static long ofInt8(long value, VarHeap heap) {
    return NumericFast.encode(heap, value, 0);
  }
}
