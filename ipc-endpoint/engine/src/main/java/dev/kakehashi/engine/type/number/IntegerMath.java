package dev.kakehashi.engine.type.number;

import dev.kakehashi.engine.type.SqlErrors;

/// Integer arithmetic that reports overflow as PostgreSQL does.
public final class IntegerMath {
  private IntegerMath() {}

  /// A result that must be a smallint.
  public static long int2(long wide) {
    if (wide != (short) wide) {
      throw SqlErrors.outOfRange("smallint");
    }
    return wide;
  }

  /// A result that must be an integer.
  public static long int4(long wide) {
    if (wide != (int) wide) {
      throw SqlErrors.outOfRange("integer");
    }
    return wide;
  }

  public static long add(long a, long b) {
    long sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) {
      throw SqlErrors.outOfRange("bigint");
    }
    return sum;
  }

  public static long subtract(long a, long b) {
    long difference = a - b;
    if (((a ^ b) & (a ^ difference)) < 0) {
      throw SqlErrors.outOfRange("bigint");
    }
    return difference;
  }

  public static long multiply(long a, long b) {
    long product = a * b;
    if (Math.multiplyHigh(a, b) != product >> 63) {
      throw SqlErrors.outOfRange("bigint");
    }
    return product;
  }

  public static long divide(long a, long b) {
    if (b == 0) {
      throw SqlErrors.divisionByZero();
    }
    if (b == -1 && a == Long.MIN_VALUE) {
      throw SqlErrors.outOfRange("bigint");
    }
    return a / b;
  }

  public static long mod(long a, long b) {
    if (b == 0) {
      throw SqlErrors.divisionByZero();
    }
    return a % b;
  }

  public static long negate(long a) {
    if (a == Long.MIN_VALUE) {
      throw SqlErrors.outOfRange("bigint");
    }
    return -a;
  }

  public static long abs(long a) {
    return a < 0 ? negate(a) : a;
  }

  /// Greatest common divisor, not negative.
  public static long gcd(long a, long b) {
    long x = a;
    long y = b;
    while (y != 0) {
      long rest = y == -1 ? 0 : x % y;
      x = y;
      y = rest;
    }
    return abs(x);
  }

  /// Least common multiple, not negative.
  public static long lcm(long a, long b) {
    if (a == 0 || b == 0) {
      return 0;
    }
    return abs(multiply(a / gcd(a, b), b));
  }

  /// Shift distances count modulo the width, as on PostgreSQL's usual hosts.
  public static long shiftLeft4(long a, long distance) {
    return (long) ((int) a << (int) distance);
  }

  public static long shiftRight4(long a, long distance) {
    return (long) ((int) a >> (int) distance);
  }
}
