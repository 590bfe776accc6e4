package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/// Roots of numerics.
public final class NumericMath {
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
    if (NumericForm.isSpecial(a) && (NumericForm.isNan(a) || NumericForm.sign(a) > 0)) {
      return a;
    }
    if (NumericForm.sign(a) < 0) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_POWER, "cannot take square root of a negative number");
    }
    return sqrt(a, NumericScales.ofSquareRoot(a), heap);
  }
}
