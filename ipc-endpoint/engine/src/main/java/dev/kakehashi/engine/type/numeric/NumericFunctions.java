package dev.kakehashi.engine.type.numeric;

import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.NUMERIC;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction.Body;

/// Operators and functions of numeric.
public final class NumericFunctions {
  private NumericFunctions() {}

  public static void register(FunctionSet set) {
    binary(set, (a, _, c) -> Numerics.add(a[0], a[1], c.heap), "+");
    binary(set, (a, _, c) -> Numerics.subtract(a[0], a[1], c.heap), "-");
    binary(set, (a, _, c) -> Numerics.multiply(a[0], a[1], c.heap), "*");
    binary(set, (a, _, c) -> Numerics.divide(a[0], a[1], c.heap), "/");
    binary(set, (a, _, c) -> Numerics.mod(a[0], a[1], c.heap), "%", "mod");
    binary(set, (a, _, c) -> Numerics.div(a[0], a[1], c.heap), "div");
    unary(set, (a, _, c) -> Numerics.copy(a[0], c.heap), "+");
    unary(set, (a, _, c) -> Numerics.negate(a[0], c.heap), "-");
    unary(set, (a, _, c) -> Numerics.abs(a[0], c.heap), "abs", "@");
    unary(set, (a, _, c) -> Numerics.sign(a[0], c.heap), "sign");
    unary(set, (a, _, c) -> Numerics.ceil(a[0], c.heap), "ceil", "ceiling");
    unary(set, (a, _, c) -> Numerics.floor(a[0], c.heap), "floor");
    unary(set, (a, _, c) -> NumericMath.sqrt(a[0], c.heap), "sqrt");
    unary(set, (a, _, c) -> NumericMath.exp(a[0], c.heap), "exp");
    unary(set, (a, _, c) -> NumericMath.ln(a[0], c.heap), "ln");
    unary(set, NumericFunctions::log10, "log", "log10");
    binary(set, (a, _, c) -> NumericMath.log(a[0], a[1], c.heap), "log");
    binary(set, (a, _, c) -> NumericMath.power(a[0], a[1], c.heap), "power", "pow", "^");
    unary(set, (a, _, c) -> Numerics.round(a[0], 0, c.heap), "round");
    unary(set, (a, _, c) -> Numerics.trunc(a[0], 0, c.heap), "trunc");
    binary(set, (a, _, c) -> NumericIntegers.gcd(a[0], a[1], c.heap), "gcd");
    binary(set, (a, _, c) -> NumericIntegers.lcm(a[0], a[1], c.heap), "lcm");
    unary(set, (a, _, c) -> NumericIntegers.trimScale(a[0], c.heap), "trim_scale");
    set.add("scale", INT4, (a, _, c) -> NumericIntegers.scale(a[0], c), NUMERIC);
    set.add("min_scale", INT4, (a, _, c) -> NumericIntegers.minScale(a[0], c), NUMERIC);
    set.add("factorial", NUMERIC, (a, _, c) -> NumericIntegers.factorial(a[0], c.heap), INT8);
    set.add(
        "width_bucket",
        INT4,
        (a, _, _) -> NumericIntegers.widthBucket(a[0], a[1], a[2], a[3]),
        NUMERIC,
        NUMERIC,
        NUMERIC,
        INT4);
    set.add("round", NUMERIC, (a, _, c) -> Numerics.round(a[0], (int) a[1], c.heap), NUMERIC, INT4);
    set.add("trunc", NUMERIC, (a, _, c) -> Numerics.trunc(a[0], (int) a[1], c.heap), NUMERIC, INT4);
  }

  private static long log10(long[] arguments, long nulls, FunctionContext context) {
    long ten = NumericFast.encode(context.heap, 10, 0);
    return NumericMath.log(ten, arguments[0], context.heap);
  }

  private static void binary(FunctionSet set, Body body, String... names) {
    for (String name : names) {
      set.add(name, NUMERIC, body, NUMERIC, NUMERIC);
    }
  }

  private static void unary(FunctionSet set, Body body, String... names) {
    for (String name : names) {
      set.add(name, NUMERIC, body, NUMERIC);
    }
  }
}
