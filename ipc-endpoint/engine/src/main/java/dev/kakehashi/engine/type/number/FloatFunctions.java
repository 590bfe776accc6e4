package dev.kakehashi.engine.type.number;

import static dev.kakehashi.protocol.TypeOid.FLOAT8;
import static dev.kakehashi.protocol.TypeOid.INT4;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.protocol.ErrorCode;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;

/// Mathematical functions of double precision, with PostgreSQL's checks of domain and range.
public final class FloatFunctions {
  private static final double RADIANS_PER_DEGREE = 0.017453292519943295;

  private FloatFunctions() {}

  public static void register(FunctionSet set) {
    unary(set, Math::rint, "round");
    unary(set, Math::ceil, "ceil", "ceiling");
    unary(set, Math::floor, "floor");
    unary(set, x -> x < 0 ? Math.ceil(x) : Math.floor(x), "trunc");
    unary(set, x -> x > 0 ? 1 : x < 0 ? -1 : 0, "sign");
    unary(set, FloatFunctions::sqrt, "sqrt", "|/");
    unary(set, LibM::cbrt, "cbrt", "||/");
    unary(set, FloatFunctions::exp, "exp");
    unary(set, x -> LibM.log(logarithmArgument(x)), "ln");
    unary(set, x -> LibM.log10(logarithmArgument(x)), "log", "log10");
    unary(set, x -> FloatMath.divide(x, RADIANS_PER_DEGREE), "degrees");
    unary(set, x -> FloatMath.multiply(x, RADIANS_PER_DEGREE), "radians");
    unary(set, LibM::erf, "erf");
    unary(set, LibM::erfc, "erfc");
    unary(set, FloatFunctions::gamma, "gamma");
    unary(set, FloatFunctions::lgamma, "lgamma");
    trigonometry(set);
    for (String name : new String[] {"power", "pow", "^"}) {
      set.add(
          name,
          FLOAT8,
          (a, _, _) -> FloatMath.word(power(FloatMath.ofWord8(a[0]), FloatMath.ofWord8(a[1]))),
          FLOAT8,
          FLOAT8);
    }
    set.add(
        "width_bucket",
        INT4,
        (a, _, _) ->
            WidthBucket.of(
                FloatMath.ofWord8(a[0]), FloatMath.ofWord8(a[1]), FloatMath.ofWord8(a[2]), a[3]),
        FLOAT8,
        FLOAT8,
        FLOAT8,
        INT4);
    set.add("pi", FLOAT8, (_, _, _) -> FloatMath.word(Math.PI));
  }

  private static void trigonometry(FunctionSet set) {
    unary(set, x -> LibM.sin(finite(x)), "sin");
    unary(set, x -> LibM.cos(finite(x)), "cos");
    unary(set, x -> LibM.tan(finite(x)), "tan");
    unary(set, x -> 1 / LibM.tan(finite(x)), "cot");
    unary(set, x -> LibM.asin(within1(x)), "asin");
    unary(set, x -> LibM.acos(within1(x)), "acos");
    unary(set, LibM::atan, "atan");
    unary(set, LibM::sinh, "sinh");
    unary(set, LibM::cosh, "cosh");
    unary(set, LibM::tanh, "tanh");
    unary(set, LibM::asinh, "asinh");
    unary(set, FloatFunctions::acosh, "acosh");
    unary(set, x -> LibM.atanh(within1(x)), "atanh");
    unary(set, x -> Degrees.sin(finite(x)), "sind");
    unary(set, x -> Degrees.cos(finite(x)), "cosd");
    unary(set, x -> Degrees.tan(finite(x)), "tand");
    unary(set, x -> Degrees.cot(finite(x)), "cotd");
    unary(set, x -> Degrees.asin(within1(x)), "asind");
    unary(set, x -> Degrees.acos(within1(x)), "acosd");
    unary(set, Degrees::atan, "atand");
    binary(set, "atan2", LibM::atan2);
    binary(set, "atan2d", Degrees::atan2);
  }

  private static void binary(FunctionSet set, String name, DoubleBinaryOperator function) {
    set.add(
        name,
        FLOAT8,
        (a, _, _) ->
            FloatMath.word(
                function.applyAsDouble(FloatMath.ofWord8(a[0]), FloatMath.ofWord8(a[1]))),
        FLOAT8,
        FLOAT8);
  }

  private static void unary(FunctionSet set, DoubleUnaryOperator function, String... names) {
    for (String name : names) {
      set.add(
          name,
          FLOAT8,
          (a, _, _) -> FloatMath.word(function.applyAsDouble(FloatMath.ofWord8(a[0]))),
          FLOAT8);
    }
  }

  private static double finite(double x) {
    if (Double.isInfinite(x)) {
      throw SqlErrors.inputOutOfRange();
    }
    return x;
  }

  private static double acosh(double x) {
    if (x < 1) {
      throw SqlErrors.inputOutOfRange();
    }
    return LibM.acosh(x);
  }

  private static double within1(double x) {
    if (x < -1 || x > 1) {
      throw SqlErrors.inputOutOfRange();
    }
    return x;
  }

  public static double sqrt(double x) {
    if (x < 0) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_POWER, "cannot take square root of a negative number");
    }
    return Math.sqrt(x);
  }

  public static double exp(double x) {
    if (Double.isNaN(x)) {
      return x;
    }
    if (Double.isInfinite(x)) {
      return x > 0 ? x : 0;
    }
    return inRange(LibM.exp(x));
  }

  private static double logarithmArgument(double x) {
    if (x == 0) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of zero");
    }
    if (x < 0) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of a negative number");
    }
    return x;
  }

  private static double gamma(double x) {
    if (Double.isNaN(x) || x == Double.POSITIVE_INFINITY) {
      return x;
    }
    double result = LibM.tgamma(x);
    if (Double.isNaN(result)) {
      throw SqlErrors.floatOverflow();
    }
    return inRange(result);
  }

  private static double lgamma(double x) {
    double result = LibM.lgamma(x);
    if (Double.isInfinite(result) && !Double.isInfinite(x)) {
      throw SqlErrors.floatOverflow();
    }
    return result;
  }

  private static double inRange(double result) {
    if (Double.isInfinite(result)) {
      throw SqlErrors.floatOverflow();
    }
    if (result == 0) {
      throw SqlErrors.floatUnderflow();
    }
    return result;
  }

  /// NaN to the power 0 and 1 to the power NaN are 1; infinities have the limits that POSIX gives them.
  public static double power(double x, double y) {
    if (Double.isNaN(x) || Double.isNaN(y)) {
      return y == 0 || x == 1 ? 1 : Double.NaN;
    }
    if (x == 0 && y < 0) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_POWER, "zero raised to a negative power is undefined");
    }
    if (x < 0 && Math.floor(y) != y) {
      throw new EngineException(
          ErrorCode.INVALID_ARGUMENT_FOR_POWER,
          "a negative number raised to a non-integer power yields a complex result");
    }
    double result = LibM.pow(x, y);
    if (Double.isInfinite(x) || Double.isInfinite(y)) {
      return result;
    }
    return x == 0 ? result : inRange(result);
  }
}
