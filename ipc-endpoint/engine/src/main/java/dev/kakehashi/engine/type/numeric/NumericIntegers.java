package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.number.WidthBucket;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/// Functions of numeric that are about whole numbers and scales.
final class NumericIntegers {
  /// Beyond it a factorial overflows numeric.
  private static final long MAX_FACTORIAL = 32_177;

  private NumericIntegers() {}

  /// Digits after the point that are shown; null for NaN and infinities.
  static long scale(long a, FunctionContext context) {
    if (NumericForm.isSpecial(a)) {
      return context.nullResult();
    }
    return NumericForm.displayScale(a);
  }

  /// Digits after the point that are needed; null for NaN and infinities.
  static long minScale(long a, FunctionContext context) {
    if (NumericForm.isSpecial(a)) {
      return context.nullResult();
    }
    return Math.max(0, NumericForm.toBigDecimal(a).stripTrailingZeros().scale());
  }

  static long trimScale(long a, VarHeap heap) {
    if (NumericForm.isSpecial(a)) {
      return Numerics.copy(a, heap);
    }
    return NumericForm.of(heap, NumericForm.toBigDecimal(a).stripTrailingZeros());
  }

  /// Greatest common divisor, never negative; NaN if an argument is NaN or infinite.
  static long gcd(long a, long b, VarHeap heap) {
    if (NumericForm.isSpecial(a) || NumericForm.isSpecial(b)) {
      return NumericForm.nan(heap);
    }
    int scale = Math.max(NumericForm.displayScale(a), NumericForm.displayScale(b));
    return NumericForm.of(heap, unscaled(a, scale).gcd(unscaled(b, scale)), scale);
  }

  /// Least common multiple, never negative; NaN if an argument is NaN or infinite.
  static long lcm(long a, long b, VarHeap heap) {
    if (NumericForm.isSpecial(a) || NumericForm.isSpecial(b)) {
      return NumericForm.nan(heap);
    }
    int scale = Math.max(NumericForm.displayScale(a), NumericForm.displayScale(b));
    BigInteger x = unscaled(a, scale);
    BigInteger y = unscaled(b, scale);
    if (x.signum() == 0 || y.signum() == 0) {
      return NumericForm.of(heap, BigInteger.ZERO, scale);
    }
    return NumericForm.of(heap, x.divide(x.gcd(y)).multiply(y).abs(), scale);
  }

  private static BigInteger unscaled(long a, int scale) {
    return NumericForm.toBigDecimal(a).setScale(scale).unscaledValue();
  }

  static long factorial(long n, VarHeap heap) {
    if (n < 0) {
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "factorial of a negative number is undefined");
    }
    if (n > MAX_FACTORIAL) {
      throw SqlErrors.numericOverflow();
    }
    return NumericForm.of(heap, n < 2 ? BigInteger.ONE : product(2, n), 0);
  }

  /// Product of the numbers of a range; halves of about the same size keep the multiplications cheap.
  private static BigInteger product(long from, long to) {
    if (to - from < 8) {
      BigInteger result = BigInteger.valueOf(from);
      for (long i = from + 1; i <= to; i++) {
        result = result.multiply(BigInteger.valueOf(i));
      }
      return result;
    }
    Interrupts.check();
    long middle = (from + to) >>> 1;
    return product(from, middle).multiply(product(middle + 1, to));
  }

  static long widthBucket(long operand, long low, long high, long count) {
    WidthBucket.check(
        count, NumericForm.isNan(operand) || NumericForm.isNan(low) || NumericForm.isNan(high));
    if (NumericForm.isSpecial(low) || NumericForm.isSpecial(high)) {
      throw WidthBucket.invalid("lower and upper bounds must be finite");
    }
    int order = NumericOrder.compare(low, high);
    if (order == 0) {
      throw WidthBucket.invalid("lower bound cannot equal upper bound");
    }
    int toLow = order < 0 ? NumericOrder.compare(operand, low) : NumericOrder.compare(low, operand);
    if (toLow < 0) {
      return 0;
    }
    int toHigh =
        order < 0 ? NumericOrder.compare(operand, high) : NumericOrder.compare(high, operand);
    if (toHigh >= 0) {
      return WidthBucket.beyond(count);
    }
    BigDecimal from = NumericForm.toBigDecimal(low);
    BigDecimal offset = NumericForm.toBigDecimal(operand).subtract(from).abs();
    BigDecimal width = NumericForm.toBigDecimal(high).subtract(from).abs();
    return offset
            .multiply(BigDecimal.valueOf(count))
            .divide(width, 0, RoundingMode.FLOOR)
            .longValueExact()
        + 1;
  }
}
