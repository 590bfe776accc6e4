package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.vector.Interrupts;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/// Exponential and logarithm of [BigDecimal] to a given number of significant digits, with guard digits beyond what is asked for.
final class NumericSeries {
  private static final BigDecimal HUNDREDTH = new BigDecimal("0.01");
  private static final BigDecimal NINE_TENTHS = new BigDecimal("0.9");
  private static final BigDecimal ELEVEN_TENTHS = new BigDecimal("1.1");
  private static final int GUARD_DIGITS = 16;

  private NumericSeries() {}

  /// e to the power x: x is halved until Taylor's series converges quickly, the result squared as often.
  static BigDecimal exp(BigDecimal x, int digits) {
    int halvings = 0;
    BigDecimal reduced = x.abs();
    while (reduced.compareTo(HUNDREDTH) > 0) {
      reduced = reduced.divide(BigDecimal.TWO);
      halvings++;
    }
    // Each squaring doubles the relative error: a third of a digit.
    MathContext context =
        new MathContext(digits + GUARD_DIGITS + halvings / 3 + 1, RoundingMode.HALF_EVEN);
    reduced = reduced.round(context);
    BigDecimal sum = BigDecimal.ONE;
    BigDecimal term = BigDecimal.ONE;
    BigDecimal limit = BigDecimal.ONE.movePointLeft(context.getPrecision());
    for (int i = 1; term.compareTo(limit) > 0; i++) {
      Interrupts.check();
      term = term.multiply(reduced, context).divide(BigDecimal.valueOf(i), context);
      sum = sum.add(term, context);
    }
    for (int i = 0; i < halvings; i++) {
      Interrupts.check();
      sum = sum.multiply(sum, context);
    }
    return x.signum() < 0 ? BigDecimal.ONE.divide(sum, context) : sum;
  }

  /// Natural logarithm: roots are drawn until x is near 1, then `ln(x) = 2 atanh((x-1)/(x+1))`.
  ///
  /// @param x positive
  /// @param digits correct digits after the point
  static BigDecimal ln(BigDecimal x, int digits) {
    MathContext context = new MathContext(digits + GUARD_DIGITS + 16, RoundingMode.HALF_EVEN);
    BigDecimal reduced = x;
    BigDecimal factor = BigDecimal.TWO;
    while (reduced.compareTo(NINE_TENTHS) <= 0 || reduced.compareTo(ELEVEN_TENTHS) >= 0) {
      Interrupts.check();
      reduced = reduced.sqrt(context);
      factor = factor.multiply(BigDecimal.TWO);
    }
    BigDecimal z = reduced.subtract(BigDecimal.ONE).divide(reduced.add(BigDecimal.ONE), context);
    BigDecimal square = z.multiply(z, context);
    BigDecimal sum = z;
    BigDecimal power = z;
    BigDecimal limit = BigDecimal.ONE.movePointLeft(context.getPrecision());
    for (int i = 3; power.abs().compareTo(limit) > 0; i += 2) {
      Interrupts.check();
      power = power.multiply(square, context);
      sum = sum.add(power.divide(BigDecimal.valueOf(i), context));
    }
    return sum.multiply(factor, context);
  }
}
