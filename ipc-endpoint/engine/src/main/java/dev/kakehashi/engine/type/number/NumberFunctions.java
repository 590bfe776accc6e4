package dev.kakehashi.engine.type.number;

import static dev.kakehashi.protocol.TypeOid.FLOAT4;
import static dev.kakehashi.protocol.TypeOid.FLOAT8;
import static dev.kakehashi.protocol.TypeOid.INT2;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;

import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction.Body;

/// Operators and functions of integers and floating-point numbers; their comparisons are registered with those of all types.
public final class NumberFunctions {
  private static final int[] INTEGERS = {INT2, INT4, INT8};

  private NumberFunctions() {}

  public static void register(FunctionSet set) {
    NumberToChar.register(set);
    NumberFromChar.register(set);
    for (int left : INTEGERS) {
      for (int right : INTEGERS) {
        arithmetic(set, left, right);
      }
      singleType(set, left);
    }
    floats(set);
    mixedFloats(set);
  }

  private static int wider(int left, int right) {
    if (left == INT8 || right == INT8) {
      return INT8;
    }
    return left == INT4 || right == INT4 ? INT4 : INT2;
  }

  // Words are sign-extended, so one 64-bit operation serves all widths; smaller results are
  // range-checked.
  private static void arithmetic(FunctionSet set, int left, int right) {
    switch (wider(left, right)) {
      case INT8 -> {
        set.add("+", INT8, (a, _, _) -> IntegerMath.add(a[0], a[1]), left, right);
        set.add("-", INT8, (a, _, _) -> IntegerMath.subtract(a[0], a[1]), left, right);
        set.add("*", INT8, (a, _, _) -> IntegerMath.multiply(a[0], a[1]), left, right);
        set.add("/", INT8, (a, _, _) -> IntegerMath.divide(a[0], a[1]), left, right);
      }
      case INT4 -> {
        set.add("+", INT4, (a, _, _) -> IntegerMath.int4(a[0] + a[1]), left, right);
        set.add("-", INT4, (a, _, _) -> IntegerMath.int4(a[0] - a[1]), left, right);
        set.add("*", INT4, (a, _, _) -> IntegerMath.int4(a[0] * a[1]), left, right);
        set.add(
            "/", INT4, (a, _, _) -> IntegerMath.int4(IntegerMath.divide(a[0], a[1])), left, right);
      }
      default -> {
        set.add("+", INT2, (a, _, _) -> IntegerMath.int2(a[0] + a[1]), left, right);
        set.add("-", INT2, (a, _, _) -> IntegerMath.int2(a[0] - a[1]), left, right);
        set.add("*", INT2, (a, _, _) -> IntegerMath.int2(a[0] * a[1]), left, right);
        set.add(
            "/", INT2, (a, _, _) -> IntegerMath.int2(IntegerMath.divide(a[0], a[1])), left, right);
      }
    }
  }

  private static void singleType(FunctionSet set, int type) {
    Body mod = (a, _, _) -> IntegerMath.mod(a[0], a[1]);
    set.add("%", type, mod, type, type).add("mod", type, mod, type, type);
    set.add("+", type, (a, _, _) -> a[0], type);
    set.add("&", type, (a, _, _) -> a[0] & a[1], type, type);
    set.add("|", type, (a, _, _) -> a[0] | a[1], type, type);
    set.add("#", type, (a, _, _) -> a[0] ^ a[1], type, type);
    set.add("~", type, (a, _, _) -> ~a[0], type);
    Body abs;
    Body negate;
    switch (type) {
      case INT8 -> {
        abs = (a, _, _) -> IntegerMath.abs(a[0]);
        negate = (a, _, _) -> IntegerMath.negate(a[0]);
        set.add("<<", type, (a, _, _) -> a[0] << (int) a[1], type, INT4);
        set.add(">>", type, (a, _, _) -> a[0] >> (int) a[1], type, INT4);
        set.add("gcd", type, (a, _, _) -> IntegerMath.gcd(a[0], a[1]), type, type);
        set.add("lcm", type, (a, _, _) -> IntegerMath.lcm(a[0], a[1]), type, type);
      }
      case INT4 -> {
        abs = (a, _, _) -> IntegerMath.int4(Math.abs(a[0]));
        negate = (a, _, _) -> IntegerMath.int4(-a[0]);
        set.add("<<", type, (a, _, _) -> IntegerMath.shiftLeft4(a[0], a[1]), type, INT4);
        set.add(">>", type, (a, _, _) -> IntegerMath.shiftRight4(a[0], a[1]), type, INT4);
        set.add(
            "gcd", type, (a, _, _) -> IntegerMath.int4(IntegerMath.gcd(a[0], a[1])), type, type);
        set.add(
            "lcm", type, (a, _, _) -> IntegerMath.int4(IntegerMath.lcm(a[0], a[1])), type, type);
      }
      default -> {
        abs = (a, _, _) -> IntegerMath.int2(Math.abs(a[0]));
        negate = (a, _, _) -> IntegerMath.int2(-a[0]);
        set.add("<<", type, (a, _, _) -> (short) IntegerMath.shiftLeft4(a[0], a[1]), type, INT4);
        set.add(">>", type, (a, _, _) -> (short) IntegerMath.shiftRight4(a[0], a[1]), type, INT4);
      }
    }
    set.add("abs", type, abs, type).add("@", type, abs, type).add("-", type, negate, type);
  }

  private static double d(long word) {
    return Double.longBitsToDouble(word);
  }

  private static float f(long word) {
    return Float.intBitsToFloat((int) word);
  }

  private static long w(double value) {
    return FloatMath.word(value);
  }

  private static long w(float value) {
    return FloatMath.word(value);
  }

  private static void floats(FunctionSet set) {
    set.add("+", FLOAT8, (a, _, _) -> w(FloatMath.add(d(a[0]), d(a[1]))), FLOAT8, FLOAT8);
    set.add("-", FLOAT8, (a, _, _) -> w(FloatMath.subtract(d(a[0]), d(a[1]))), FLOAT8, FLOAT8);
    set.add("*", FLOAT8, (a, _, _) -> w(FloatMath.multiply(d(a[0]), d(a[1]))), FLOAT8, FLOAT8);
    set.add("/", FLOAT8, (a, _, _) -> w(FloatMath.divide(d(a[0]), d(a[1]))), FLOAT8, FLOAT8);
    set.add("+", FLOAT4, (a, _, _) -> w(FloatMath.add(f(a[0]), f(a[1]))), FLOAT4, FLOAT4);
    set.add("-", FLOAT4, (a, _, _) -> w(FloatMath.subtract(f(a[0]), f(a[1]))), FLOAT4, FLOAT4);
    set.add("*", FLOAT4, (a, _, _) -> w(FloatMath.multiply(f(a[0]), f(a[1]))), FLOAT4, FLOAT4);
    set.add("/", FLOAT4, (a, _, _) -> w(FloatMath.divide(f(a[0]), f(a[1]))), FLOAT4, FLOAT4);
    set.add("+", FLOAT8, (a, _, _) -> a[0], FLOAT8).add("+", FLOAT4, (a, _, _) -> a[0], FLOAT4);
    set.add("-", FLOAT8, (a, _, _) -> w(-d(a[0])), FLOAT8);
    set.add("-", FLOAT4, (a, _, _) -> w(-f(a[0])), FLOAT4);
    for (String name : new String[] {"abs", "@"}) {
      set.add(name, FLOAT8, (a, _, _) -> w(Math.abs(d(a[0]))), FLOAT8);
      set.add(name, FLOAT4, (a, _, _) -> w(Math.abs(f(a[0]))), FLOAT4);
    }
  }

  private static void mixedFloats(FunctionSet set) {
    set.add("+", FLOAT8, (a, _, _) -> w(FloatMath.add(f(a[0]), d(a[1]))), FLOAT4, FLOAT8);
    set.add("-", FLOAT8, (a, _, _) -> w(FloatMath.subtract(f(a[0]), d(a[1]))), FLOAT4, FLOAT8);
    set.add("*", FLOAT8, (a, _, _) -> w(FloatMath.multiply(f(a[0]), d(a[1]))), FLOAT4, FLOAT8);
    set.add("/", FLOAT8, (a, _, _) -> w(FloatMath.divide(f(a[0]), d(a[1]))), FLOAT4, FLOAT8);
    set.add("+", FLOAT8, (a, _, _) -> w(FloatMath.add(d(a[0]), f(a[1]))), FLOAT8, FLOAT4);
    set.add("-", FLOAT8, (a, _, _) -> w(FloatMath.subtract(d(a[0]), f(a[1]))), FLOAT8, FLOAT4);
    set.add("*", FLOAT8, (a, _, _) -> w(FloatMath.multiply(d(a[0]), f(a[1]))), FLOAT8, FLOAT4);
    set.add("/", FLOAT8, (a, _, _) -> w(FloatMath.divide(d(a[0]), f(a[1]))), FLOAT8, FLOAT4);
  }
}
