package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/// Roots, powers, exponentials and logarithms of numerics, rounded to PostgreSQL's scales.
public final class NumericMath {
  /// Beyond this exponent of e a result overflows or vanishes.
  private static final double MAX_EXPONENT = 3.0 * Numerics.MAX_RESULT_SCALE;

  private static final int GUARD_DIGITS = 8;

  private NumericMath() {}

  /// Square root, rounded half away from zero at `scale` digits after the point.
  ///
  /// @param a not special
  public static long sqrt(long a, int scale, VarHeap heap) {
    BigDecimal value = NumericForm.toBigDecimal(a);
    // One digit more decides the rounding, because a root is never exactly half way.
    BigInteger scaled = value.setScale(2 * (scale + 1), RoundingMode.DOWN).unscaledValue();
    return NumericForm.of(
        heap, new BigDecimal(scaled.sqrt(), scale + 1).setScale(scale, RoundingMode.HALF_UP));
  }

  /// @throws EngineException INVALID_ARGUMENT_FOR_POWER for a negative number
  public static long sqrt(long a, VarHeap heap) {
    if (NumericForm.isNan(a)) {
      return a;
    }
    if (NumericForm.sign(a) < 0) {
      throw powerError("cannot take square root of a negative number");
    }
    return NumericForm.isSpecial(a) ? a : sqrt(a, NumericScales.ofSquareRoot(a), heap);
  }

  private static EngineException powerError(String message) {
    return new EngineException(ErrorCode.INVALID_ARGUMENT_FOR_POWER, message);
  }

  public static long exp(long a, VarHeap heap) {
    if (NumericForm.isSpecial(a)) {
      return NumericForm.isInfinite(a) && NumericForm.sign(a) < 0
          ? NumericFast.encode(heap, 0, 0)
          : a;
    }
    BigDecimal x = NumericForm.toBigDecimal(a);
    int weight = NumericScales.weightOfExponential(x.doubleValue());
    int scale = NumericScales.forWeight(weight, x.scale());
    return exp(x, weight, scale, heap);
  }

  private static long exp(BigDecimal x, int weight, int scale, VarHeap heap) {
    if (Math.abs(x.doubleValue()) >= MAX_EXPONENT) {
      if (x.signum() > 0) {
        throw SqlErrors.numericOverflow();
      }
      return NumericForm.of(heap, BigInteger.ZERO, scale);
    }
    BigDecimal result = NumericSeries.exp(x, Math.max(weight + scale, 1) + GUARD_DIGITS);
    return NumericForm.of(heap, result.setScale(scale, RoundingMode.HALF_UP));
  }

  private static void requirePositive(long a) {
    int sign = NumericForm.sign(a);
    if (sign <= 0) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_LOG,
          sign == 0
              ? "cannot take logarithm of zero"
              : "cannot take logarithm of a negative number");
    }
  }

  /// @throws EngineException INVALID_ARGUMENT_FOR_LOG
  public static long ln(long a, VarHeap heap) {
    if (NumericForm.isNan(a)) {
      return a;
    }
    requirePositive(a);
    if (NumericForm.isSpecial(a)) {
      return a;
    }
    int weight = NumericScales.weightOfLogarithm(a);
    int scale = NumericScales.forWeight(weight, NumericForm.displayScale(a));
    BigDecimal result = NumericSeries.ln(NumericForm.toBigDecimal(a), scale + GUARD_DIGITS);
    return NumericForm.of(heap, result.setScale(scale, RoundingMode.HALF_UP));
  }

  /// @throws EngineException INVALID_ARGUMENT_FOR_LOG, DIVISION_BY_ZERO for base 1
  public static long log(long base, long a, VarHeap heap) {
    if (NumericForm.isNan(base) || NumericForm.isNan(a)) {
      return NumericForm.nan(heap);
    }
    requirePositive(base);
    requirePositive(a);
    if (NumericForm.isInfinite(base)) {
      return NumericForm.isInfinite(a) ? NumericForm.nan(heap) : NumericFast.encode(heap, 0, 0);
    }
    if (NumericForm.isInfinite(a)) {
      return a;
    }
    int baseWeight = NumericScales.weightOfLogarithm(base);
    int weight = NumericScales.weightOfLogarithm(a) - baseWeight;
    int scale =
        NumericScales.forWeight(
            weight, Math.max(NumericForm.displayScale(base), NumericForm.displayScale(a)));
    int digits = scale + Math.abs(weight) + Math.abs(baseWeight) + 2 * GUARD_DIGITS;
    BigDecimal divisor = NumericSeries.ln(NumericForm.toBigDecimal(base), digits);
    if (NumericForm.toBigDecimal(base).compareTo(BigDecimal.ONE) == 0) {
      throw SqlErrors.divisionByZero();
    }
    BigDecimal quotient =
        NumericSeries.ln(NumericForm.toBigDecimal(a), digits)
            .divide(divisor, scale, RoundingMode.HALF_UP);
    return NumericForm.of(heap, quotient);
  }

  /// @throws EngineException INVALID_ARGUMENT_FOR_POWER, NUMERIC_VALUE_OUT_OF_RANGE
  public static long power(long base, long exponent, VarHeap heap) {
    if (NumericForm.isSpecial(base) || NumericForm.isSpecial(exponent)) {
      return NumericPower.special(base, exponent, heap);
    }
    BigDecimal x = NumericForm.toBigDecimal(base);
    BigDecimal y = NumericForm.toBigDecimal(exponent);
    if (x.signum() == 0 && y.signum() < 0) {
      throw powerError("zero raised to a negative power is undefined");
    }
    boolean integer = y.signum() == 0 || y.stripTrailingZeros().scale() <= 0;
    if (x.signum() < 0 && !integer) {
      throw powerError("a negative number raised to a non-integer power yields a complex result");
    }
    if (integer
        && y.compareTo(BigDecimal.valueOf(Integer.MAX_VALUE)) <= 0
        && y.compareTo(BigDecimal.valueOf(Integer.MIN_VALUE)) >= 0) {
      return NumericPower.integer(base, x, y.intValue(), heap);
    }
    if (x.signum() == 0) {
      return NumericForm.of(heap, BigInteger.ZERO, Numerics.MIN_SIGNIFICANT_DIGITS);
    }
    return inexactPower(base, x, y, heap);
  }

  private static long inexactPower(long base, BigDecimal x, BigDecimal y, VarHeap heap) {
    long magnitude = x.signum() < 0 ? Numerics.negate(base, heap) : base;
    int logarithmWeight = NumericScales.weightOfLogarithm(magnitude);
    int estimateScale = Math.max(GUARD_DIGITS - logarithmWeight, 0);
    double estimate =
        NumericSeries.ln(x.abs(), estimateScale + GUARD_DIGITS).multiply(y).doubleValue();
    if (Math.abs(estimate) > Numerics.MAX_RESULT_SCALE * 3.01) {
      if (estimate > 0) {
        throw SqlErrors.numericOverflow();
      }
      return NumericForm.of(heap, BigInteger.ZERO, Numerics.MAX_DISPLAY_SCALE);
    }
    int weight = NumericScales.weightOfExponential(estimate);
    int scale = NumericScales.forWeight(weight, Math.max(x.scale(), y.scale()));
    int significant = Math.max(weight + scale, 1) + 2 * GUARD_DIGITS;
    int exponentDigits = Math.max(y.precision() - y.scale(), 0);
    BigDecimal logarithm = NumericSeries.ln(x.abs(), significant + exponentDigits);
    BigDecimal product = logarithm.multiply(y, new MathContext(significant + exponentDigits + 8));
    BigDecimal result = NumericSeries.exp(product, significant);
    boolean odd = x.signum() < 0 && y.toBigInteger().testBit(0);
    BigDecimal rounded = result.setScale(scale, RoundingMode.HALF_UP);
    return NumericForm.of(heap, odd ? rounded.negate() : rounded);
  }
}
