package dev.kakehashi.engine.type.number;

import dev.kakehashi.engine.type.SqlErrors;

/// Floating-point arithmetic that reports overflow and underflow as PostgreSQL does, and its order of values: NaN equals NaN and is
/// greatest, -0 equals 0.
public final class FloatMath {
  private FloatMath() {}

  public static double ofWord8(long word) {
    return Double.longBitsToDouble(word);
  }

  public static float ofWord4(long word) {
    return Float.intBitsToFloat((int) word);
  }

  public static long word(double value) {
    return Double.doubleToRawLongBits(value);
  }

  /// The word of a float4: its bits in the low half, the high half zero.
  public static long word(float value) {
    return Float.floatToRawIntBits(value) & 0xFFFFFFFFL;
  }

  public static double add(double a, double b) {
    double result = a + b;
    if (Double.isInfinite(result) && !Double.isInfinite(a) && !Double.isInfinite(b)) {
      throw SqlErrors.floatOverflow();
    }
    return result;
  }

  public static double subtract(double a, double b) {
    double result = a - b;
    if (Double.isInfinite(result) && !Double.isInfinite(a) && !Double.isInfinite(b)) {
      throw SqlErrors.floatOverflow();
    }
    return result;
  }

  public static double multiply(double a, double b) {
    double result = a * b;
    if (Double.isInfinite(result) && !Double.isInfinite(a) && !Double.isInfinite(b)) {
      throw SqlErrors.floatOverflow();
    }
    if (result == 0 && a != 0 && b != 0) {
      throw SqlErrors.floatUnderflow();
    }
    return result;
  }

  public static double divide(double a, double b) {
    if (b == 0 && !Double.isNaN(a)) {
      throw SqlErrors.divisionByZero();
    }
    double result = a / b;
    if (Double.isInfinite(result) && !Double.isInfinite(a)) {
      throw SqlErrors.floatOverflow();
    }
    if (result == 0 && a != 0 && !Double.isInfinite(b)) {
      throw SqlErrors.floatUnderflow();
    }
    return result;
  }

  public static float add(float a, float b) {
    float result = a + b;
    if (Float.isInfinite(result) && !Float.isInfinite(a) && !Float.isInfinite(b)) {
      throw SqlErrors.floatOverflow();
    }
    return result;
  }

  public static float subtract(float a, float b) {
    float result = a - b;
    if (Float.isInfinite(result) && !Float.isInfinite(a) && !Float.isInfinite(b)) {
      throw SqlErrors.floatOverflow();
    }
    return result;
  }

  public static float multiply(float a, float b) {
    float result = a * b;
    if (Float.isInfinite(result) && !Float.isInfinite(a) && !Float.isInfinite(b)) {
      throw SqlErrors.floatOverflow();
    }
    if (result == 0 && a != 0 && b != 0) {
      throw SqlErrors.floatUnderflow();
    }
    return result;
  }

  public static float divide(float a, float b) {
    if (b == 0 && !Float.isNaN(a)) {
      throw SqlErrors.divisionByZero();
    }
    float result = a / b;
    if (Float.isInfinite(result) && !Float.isInfinite(a)) {
      throw SqlErrors.floatOverflow();
    }
    if (result == 0 && a != 0 && !Float.isInfinite(b)) {
      throw SqlErrors.floatUnderflow();
    }
    return result;
  }

  public static int compare(double a, double b) {
    if (a < b) {
      return -1;
    }
    if (a > b) {
      return 1;
    }
    if (a == b) {
      return 0;
    }
    // At least one is NaN.
    return Boolean.compare(Double.isNaN(a), Double.isNaN(b));
  }

  /// Bits such that equal values have equal bits.
  public static long canonicalBits(double value) {
    return value == 0 ? 0 : Double.doubleToLongBits(value);
  }

  /// Rounds half to even; the bounds are exact in a double.
  public static long toInteger(double value, double min, double maxExclusive, String typeName) {
    double rounded = Math.rint(value);
    if (!(rounded >= min && rounded < maxExclusive)) {
      throw SqlErrors.outOfRange(typeName);
    }
    return (long) rounded;
  }

  public static long toInt8(double value) {
    return toInteger(value, -0x1p63, 0x1p63, "bigint");
  }

  public static long toInt4(double value) {
    return toInteger(value, -0x1p31, 0x1p31, "integer");
  }

  public static long toInt2(double value) {
    return toInteger(value, -0x1p15, 0x1p15, "smallint");
  }

  public static float toFloat4(double value) {
    float narrow = (float) value;
    if (Float.isInfinite(narrow) && !Double.isInfinite(value)) {
      throw SqlErrors.floatOverflow();
    }
    if (narrow == 0 && value != 0) {
      throw SqlErrors.floatUnderflow();
    }
    return narrow;
  }
}
