package dev.kakehashi.engine.type.number;

import dev.kakehashi.os.LibC;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Mathematical functions of the host's C library.
///
/// PostgreSQL calls these, and their last bit differs from [Math]'s and [StrictMath]'s; so the same library is called here. A call costs
/// a few nanoseconds, because it makes no transition of the thread's state.
final class LibM {
  private static final MethodHandle EXP = unary("exp");
  private static final MethodHandle LOG = unary("log");
  private static final MethodHandle LOG10 = unary("log10");
  private static final MethodHandle CBRT = unary("cbrt");
  private static final MethodHandle SIN = unary("sin");
  private static final MethodHandle COS = unary("cos");
  private static final MethodHandle TAN = unary("tan");
  private static final MethodHandle ASIN = unary("asin");
  private static final MethodHandle ACOS = unary("acos");
  private static final MethodHandle ATAN = unary("atan");
  private static final MethodHandle SINH = unary("sinh");
  private static final MethodHandle COSH = unary("cosh");
  private static final MethodHandle TANH = unary("tanh");
  private static final MethodHandle ASINH = unary("asinh");
  private static final MethodHandle ACOSH = unary("acosh");
  private static final MethodHandle ATANH = unary("atanh");
  private static final MethodHandle ERF = unary("erf");
  private static final MethodHandle ERFC = unary("erfc");
  private static final MethodHandle TGAMMA = unary("tgamma");
  private static final MethodHandle LGAMMA = unary("lgamma");
  private static final MethodHandle POW = binary("pow");
  private static final MethodHandle ATAN2 = binary("atan2");

  private LibM() {}

  private static MethodHandle unary(String name) {
    return LibC.function(
        name,
        FunctionDescriptor.of(ValueLayout.JAVA_DOUBLE, ValueLayout.JAVA_DOUBLE),
        Linker.Option.critical(false));
  }

  private static MethodHandle binary(String name) {
    return LibC.function(
        name,
        FunctionDescriptor.of(
            ValueLayout.JAVA_DOUBLE, ValueLayout.JAVA_DOUBLE, ValueLayout.JAVA_DOUBLE),
        Linker.Option.critical(false));
  }

  private static RuntimeException unexpected(Throwable e) {
    return new IllegalStateException("could not call the C library", e);
  }

  private static double call(MethodHandle function, double x) {
    try {
      return (double) function.invokeExact(x);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static double call(MethodHandle function, double x, double y) {
    try {
      return (double) function.invokeExact(x, y);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static double exp(double x) {
    return call(EXP, x);
  }

  static double log(double x) {
    return call(LOG, x);
  }

  static double log10(double x) {
    return call(LOG10, x);
  }

  static double cbrt(double x) {
    return call(CBRT, x);
  }

  static double sin(double x) {
    return call(SIN, x);
  }

  static double cos(double x) {
    return call(COS, x);
  }

  static double tan(double x) {
    return call(TAN, x);
  }

  static double asin(double x) {
    return call(ASIN, x);
  }

  static double acos(double x) {
    return call(ACOS, x);
  }

  static double atan(double x) {
    return call(ATAN, x);
  }

  static double sinh(double x) {
    return call(SINH, x);
  }

  static double cosh(double x) {
    return call(COSH, x);
  }

  static double tanh(double x) {
    return call(TANH, x);
  }

  static double asinh(double x) {
    return call(ASINH, x);
  }

  static double acosh(double x) {
    return call(ACOSH, x);
  }

  static double atanh(double x) {
    return call(ATANH, x);
  }

  static double erf(double x) {
    return call(ERF, x);
  }

  static double erfc(double x) {
    return call(ERFC, x);
  }

  static double tgamma(double x) {
    return call(TGAMMA, x);
  }

  /// The library also sets its variable `signgam`, which nobody reads.
  static double lgamma(double x) {
    return call(LGAMMA, x);
  }

  static double pow(double x, double y) {
    return call(POW, x, y);
  }

  static double atan2(double y, double x) {
    return call(ATAN2, y, x);
  }
}
