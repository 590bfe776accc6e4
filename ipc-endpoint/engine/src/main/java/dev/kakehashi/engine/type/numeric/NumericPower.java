package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/// Powers with integer exponents, and of NaN and infinities.
final class NumericPower {
  private static final int GUARD_DIGITS = 16;

  private NumericPower() {}

  /// @param base address of x, for its first digits
  static long integer(long base, BigDecimal x, int exponent, VarHeap heap) {
    int scale =
        Math.min(Math.max(Numerics.MIN_SIGNIFICANT_DIGITS, x.scale()), Numerics.MAX_DISPLAY_SCALE);
    switch (exponent) {
      case 0 -> {
        return round(BigDecimal.ONE, scale, heap);
      }
      case 1 -> {
        return round(x, scale, heap);
      }
      case 2 -> {
        return round(x.multiply(x), scale, heap);
      }
      case -1 -> {
        return NumericForm.of(heap, BigDecimal.ONE.divide(x, scale, RoundingMode.HALF_UP));
      }
      default -> {}
    }
    if (x.signum() == 0) {
      return NumericForm.of(heap, BigInteger.ZERO, scale);
    }
    double weight = decimalWeight(base) * exponent;
    if (weight > (NumericForm.MAX_WEIGHT + 1) * 4.0) {
      throw SqlErrors.numericOverflow();
    }
    if (weight + 1 < -scale || weight + 1 < -Numerics.MAX_DISPLAY_SCALE) {
      return NumericForm.of(heap, BigInteger.ZERO, scale);
    }
    int exponentDigits = Long.toString(Math.abs((long) exponent)).length();
    int significant = Math.max(1 + scale + (int) weight, 1) + exponentDigits + GUARD_DIGITS;
    BigDecimal power = power(x, Math.abs((long) exponent), new MathContext(significant));
    if (exponent < 0) {
      power = BigDecimal.ONE.divide(power, new MathContext(significant));
    }
    return round(power, scale, heap);
  }

  private static BigDecimal power(BigDecimal x, long exponent, MathContext context) {
    BigDecimal result = BigDecimal.ONE;
    BigDecimal square = x;
    for (long rest = exponent; rest > 0; rest >>= 1) {
      Interrupts.check();
      if ((rest & 1) != 0) {
        result = result.multiply(square, context);
      }
      square = square.multiply(square, context);
    }
    return result;
  }

  /// Decimal logarithm of the magnitude, from the first digits.
  private static double decimalWeight(long base) {
    int header = NumericForm.header(base);
    long digits = NumericForm.digits(base, header);
    double first = 0;
    int count = Math.min(NumericForm.digitCount(base, header), 4);
    for (int i = 0; i < count; i++) {
      first = first * 10_000 + RawMemory.getShort(digits + 2L * i);
    }
    return Math.log10(first) + (NumericForm.weight(base, header) - count + 1) * 4.0;
  }

  private static long round(BigDecimal value, int scale, VarHeap heap) {
    return NumericForm.of(heap, value.setScale(scale, RoundingMode.HALF_UP));
  }

  /// Powers of and to NaN and infinities, as those of double precision.
  static long special(long base, long exponent, VarHeap heap) {
    boolean zeroExponent = !NumericForm.isSpecial(exponent) && NumericForm.sign(exponent) == 0;
    boolean oneBase =
        !NumericForm.isSpecial(base)
            && NumericForm.toBigDecimal(base).compareTo(BigDecimal.ONE) == 0;
    if (zeroExponent || oneBase) {
      return NumericFast.encode(heap, 1, 0);
    }
    if (NumericForm.isNan(base) || NumericForm.isNan(exponent)) {
      return NumericForm.nan(heap);
    }
    int sign = NumericForm.sign(exponent);
    if (NumericForm.sign(base) == 0 && sign < 0) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_POWER, "zero raised to a negative power is undefined");
    }
    if (NumericForm.isInfinite(exponent)) {
      return infiniteExponent(base, sign, heap);
    }
    // The base is infinite.
    BigDecimal y = NumericForm.toBigDecimal(exponent);
    boolean negative = NumericForm.sign(base) < 0;
    boolean integer = y.stripTrailingZeros().scale() <= 0;
    if (negative && !integer) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_POWER,
          "a negative number raised to a non-integer power yields a complex result");
    }
    if (sign < 0) {
      return NumericFast.encode(heap, 0, 0);
    }
    return NumericForm.infinity(heap, negative && y.toBigInteger().testBit(0));
  }

  private static long infiniteExponent(long base, int sign, VarHeap heap) {
    int order =
        NumericForm.isInfinite(base)
            ? 1
            : NumericForm.toBigDecimal(base).abs().compareTo(BigDecimal.ONE);
    if (order == 0) {
      return NumericFast.encode(heap, 1, 0);
    }
    return (order > 0) == (sign > 0)
        ? NumericForm.infinity(heap, false)
        : NumericFast.encode(heap, 0, 0);
  }
}
