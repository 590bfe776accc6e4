package dev.kakehashi.engine.type.numeric;

/// Digits after the point of inexact results: at least 16 significant ones, and no fewer than the argument shows.
final class NumericScales {
  private NumericScales() {}

  static int bounded(long scale, int displayScale) {
    long atLeast = Math.max(Math.max(scale, displayScale), 0);
    return (int) Math.min(atLeast, Numerics.MAX_DISPLAY_SCALE);
  }

  /// Decimal weight of the first digit of the root decides.
  static int ofSquareRoot(long a) {
    int header = NumericForm.header(a);
    int weight = NumericForm.digitCount(a, header) == 0 ? 0 : NumericForm.weight(a, header);
    int digits = weight >= 0 ? (weight + 1) * 4 / 2 - 1 : 1 - (-weight * 4) / 2;
    return bounded(Numerics.MIN_SIGNIFICANT_DIGITS - digits, NumericForm.displayScale(a));
  }
}
