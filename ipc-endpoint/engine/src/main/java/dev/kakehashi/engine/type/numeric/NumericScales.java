package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.type.RawMemory;
import java.math.BigDecimal;

/// Digits after the point of inexact results: at least 16 significant ones, and no fewer than the arguments show.
final class NumericScales {
  private static final double LN_10 = 2.302585092994046;
  private static final double LOG10_E = 0.434294481903252;
  private static final BigDecimal NINE_TENTHS = new BigDecimal("0.9");
  private static final BigDecimal ELEVEN_TENTHS = new BigDecimal("1.1");

  private NumericScales() {}

  /// The digits for a result whose first digit has a decimal weight, within limits.
  static int forWeight(int decimalWeight, int displayScale) {
    int scale = Math.max(Numerics.MIN_SIGNIFICANT_DIGITS - decimalWeight, displayScale);
    return Math.min(Math.max(scale, 0), Numerics.MAX_DISPLAY_SCALE);
  }

  private static int weight(long a) {
    int header = NumericForm.header(a);
    return NumericForm.digitCount(a, header) == 0 ? 0 : NumericForm.weight(a, header);
  }

  /// A root has half the digits before the point.
  static int ofSquareRoot(long a) {
    return forWeight(2 * weight(a) + 1, NumericForm.displayScale(a));
  }

  /// Decimal weight of e to the power of a number.
  static int weightOfExponential(double x) {
    double weight = x * LOG10_E;
    weight = Math.max(weight, -Numerics.MAX_RESULT_SCALE);
    return (int) Math.min(weight, Numerics.MAX_RESULT_SCALE);
  }

  /// Estimated decimal weight of the natural logarithm of a positive number.
  static int weightOfLogarithm(long a) {
    BigDecimal value = NumericForm.toBigDecimal(a);
    if (value.compareTo(NINE_TENTHS) >= 0 && value.compareTo(ELEVEN_TENTHS) <= 0) {
      // ln(x) is about x - 1.
      BigDecimal difference = value.subtract(BigDecimal.ONE).abs();
      if (difference.signum() == 0) {
        return 0;
      }
      int decimalWeight = difference.precision() - difference.scale() - 1;
      int weight = Math.floorDiv(decimalWeight, 4);
      return 4 * weight + (decimalWeight - 4 * weight);
    }
    int header = NumericForm.header(a);
    int count = NumericForm.digitCount(a, header);
    long digits = NumericForm.digits(a, header);
    double first = RawMemory.getShort(digits);
    int decimalWeight = 4 * weight(a);
    if (count > 1) {
      first = first * 10_000 + RawMemory.getShort(digits + 2);
      decimalWeight -= 4;
    }
    double logarithm = Math.log(first) + decimalWeight * LN_10;
    return (int) Math.log10(Math.abs(logarithm));
  }
}
