package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/// Numerics from and to text, integers and floating-point numbers, and their type modifier.
public final class NumericConversion {
  /// Characters from which on a text is read group by group.
  private static final int LONG_TEXT = 1000;

  private static final BigInteger MIN_LONG = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MAX_LONG = BigInteger.valueOf(Long.MAX_VALUE);

  /// Up to here `unscaled` and `10^scale` are exact in a double, so that one division rounds correctly.
  private static final long MAX_EXACT_DOUBLE = 1L << 53;

  private static final int MAX_EXACT_POWER = 22;
  private static final double[] POWERS = new double[MAX_EXACT_POWER + 1];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = POWERS[i - 1] * 10;
    }
  }

  private NumericConversion() {}

  /// PostgreSQL's text form, for example "-12.30", "NaN", "Infinity".
  public static String toText(long value) {
    if (NumericForm.isSpecial(value)) {
      if (NumericForm.isNan(value)) {
        return "NaN";
      }
      return NumericForm.sign(value) < 0 ? "-Infinity" : "Infinity";
    }
    int header = NumericForm.header(value);
    int count = NumericForm.digitCount(value, header);
    int weight = NumericForm.weight(value, header);
    int scale = NumericForm.displayScale(value);
    long digits = NumericForm.digits(value, header);
    var out = new StringBuilder(4 * Math.max(0, weight) + scale + 8);
    if (count > 0 && NumericForm.isNegative(header)) {
      out.append('-');
    }
    int integers = count == 0 ? 0 : Math.max(0, weight + 1);
    for (int i = 0; i < integers; i++) {
      int group = i < count ? RawMemory.getShort(digits + 2L * i) : 0;
      if (i == 0) {
        out.append(group); // canonical: not 0
      } else {
        appendGroup(out, group);
      }
    }
    if (integers == 0) {
      out.append('0');
    }
    if (scale > 0) {
      out.append('.');
      int end = out.length() + scale;
      for (int i = weight + 1; out.length() < end; i++) {
        appendGroup(out, i >= 0 && i < count ? RawMemory.getShort(digits + 2L * i) : 0);
      }
      out.setLength(end);
    }
    return out.toString();
  }

  private static void appendGroup(StringBuilder out, int group) {
    out.append((char) ('0' + group / 1000))
        .append((char) ('0' + group / 100 % 10))
        .append((char) ('0' + group / 10 % 10))
        .append((char) ('0' + group % 10));
  }

  /// @throws EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static long parse(String text, VarHeap heap) {
    String trimmed = Spaces.trim(text);
    String lower = trimmed.toLowerCase(Locale.ROOT);
    switch (lower) {
      case "nan" -> {
        return NumericForm.nan(heap);
      }
      case "infinity", "+infinity", "inf", "+inf" -> {
        return NumericForm.infinity(heap, false);
      }
      case "-infinity", "-inf" -> {
        return NumericForm.infinity(heap, true);
      }
      default -> {}
    }
    if (!isDecimal(trimmed)) {
      throw ValueErrors.invalidSyntax("numeric", text);
    }
    int e = Math.max(trimmed.indexOf('e'), trimmed.indexOf('E'));
    if (e >= 0) {
      String exponent = trimmed.substring(e + 1);
      // PostgreSQL refuses exponents beyond half of int's range as a syntax error.
      if (exponent.length() > 11 || Math.abs(Long.parseLong(exponent)) >= Integer.MAX_VALUE / 2) {
        throw ValueErrors.invalidSyntax("numeric", text);
      }
    }
    if (trimmed.length() > LONG_TEXT) {
      return parseLong(trimmed, e, heap);
    }
    BigDecimal decimal = new BigDecimal(trimmed);
    if (vanishes(decimal.scale(), decimal.precision(), decimal.signum() == 0)) {
      return NumericForm.of(heap, BigInteger.ZERO, NumericForm.MAX_SCALE);
    }
    return NumericForm.of(heap, decimal);
  }

  /// The same for a text of many digits: BigDecimal would take a time that grows with their square, and could not be canceled.
  ///
  /// @param text as [#isDecimal] wants it
  /// @param e where the exponent begins; -1: there is none
  private static long parseLong(String text, int e, VarHeap heap) {
    int end = e < 0 ? text.length() : e;
    int begin = Character.isDigit(text.charAt(0)) || text.charAt(0) == '.' ? 0 : 1;
    int point = text.indexOf('.');
    String digits =
        point < 0
            ? text.substring(begin, end)
            : text.substring(begin, point) + text.substring(point + 1, end);
    long scale =
        (point < 0 ? 0 : end - point - 1) - (e < 0 ? 0 : Long.parseLong(text.substring(e + 1)));
    int zeros = 0;
    while (zeros < digits.length() && digits.charAt(zeros) == '0') {
      zeros++;
    }
    boolean isZero = zeros == digits.length();
    if (vanishes(scale, digits.length() - zeros, isZero)) {
      return NumericForm.of(heap, BigInteger.ZERO, NumericForm.MAX_SCALE);
    }
    if (isZero) {
      return NumericForm.of(heap, BigInteger.ZERO, (int) Math.max(0, scale));
    }
    String significant = digits.substring(zeros);
    return NumericForm.of(
        heap,
        text.charAt(0) == '-',
        scale < 0 ? significant + "0".repeat((int) -scale) : significant,
        (int) Math.max(0, scale));
  }

  /// Whether a number is too small to be told from zero.
  ///
  /// @param precision its digits, without zeros in front
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE: it has too many digits before or after the point
  private static boolean vanishes(long scale, long precision, boolean isZero) {
    long weight = precision - scale;
    if (scale > NumericForm.MAX_SCALE) {
      if (weight < -4L * (NumericForm.MAX_WEIGHT + 1) && !isZero) {
        return true;
      }
      throw SqlErrors.numericOverflow();
    }
    if (!isZero && weight > 4L * (NumericForm.MAX_WEIGHT + 1)) {
      throw SqlErrors.numericOverflow();
    }
    return false;
  }

  private static boolean isDecimal(String text) {
    int at = 0;
    int length = text.length();
    if (at < length && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
      at++;
    }
    int digits = 0;
    boolean point = false;
    for (; at < length; at++) {
      char c = text.charAt(at);
      if (c >= '0' && c <= '9') {
        digits++;
      } else if (c == '.' && !point) {
        point = true;
      } else {
        break;
      }
    }
    if (digits == 0) {
      return false;
    }
    if (at == length) {
      return true;
    }
    if (text.charAt(at) != 'e' && text.charAt(at) != 'E') {
      return false;
    }
    at++;
    if (at < length && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
      at++;
    }
    int begin = at;
    while (at < length && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    return at == length && at > begin;
  }

  /// Rounded half away from zero.
  ///
  /// @param typeName for messages: "smallint", "integer" or "bigint"
  public static long toInt8(long value, String typeName) {
    long x = NumericFast.unscaled(value);
    int scale = NumericFast.scale(value);
    if (x != NumericFast.NOT_FAST) {
      if (scale == 0) {
        return x;
      }
      if (scale > 19) {
        return 0;
      }
      if (scale <= 18) {
        long power = NumericFast.powerOfTen(scale);
        long quotient = x / power;
        return 2 * Math.abs(x - quotient * power) >= power ? quotient + Long.signum(x) : quotient;
      }
    }
    if (NumericForm.isSpecial(value)) {
      throw SqlErrors.notSupported(
          "cannot convert " + (NumericForm.isNan(value) ? "NaN" : "infinity") + " to " + typeName);
    }
    BigInteger rounded =
        NumericForm.toBigDecimal(value).setScale(0, RoundingMode.HALF_UP).unscaledValue();
    if (rounded.compareTo(MIN_LONG) < 0 || rounded.compareTo(MAX_LONG) > 0) {
      throw SqlErrors.outOfRange(typeName);
    }
    return rounded.longValue();
  }

  public static int toInt4(long value) {
    long wide = toInt8(value, "integer");
    if (wide != (int) wide) {
      throw SqlErrors.outOfRange("integer");
    }
    return (int) wide;
  }

  public static short toInt2(long value) {
    long wide = toInt8(value, "smallint");
    if (wide != (short) wide) {
      throw SqlErrors.outOfRange("smallint");
    }
    return (short) wide;
  }

  public static double toFloat8(long value) {
    long x = NumericFast.unscaled(value);
    int scale = NumericFast.scale(value);
    if (x != NumericFast.NOT_FAST && scale <= MAX_EXACT_POWER && Math.abs(x) <= MAX_EXACT_DOUBLE) {
      return x / POWERS[scale];
    }
    if (NumericForm.isSpecial(value)) {
      return NumericForm.isNan(value) ? Double.NaN : NumericForm.sign(value) / 0.0;
    }
    double result = Double.parseDouble(NumericForm.toBigDecimal(value).toString());
    if (Double.isInfinite(result) || (result == 0 && NumericForm.sign(value) != 0)) {
      throw ValueErrors.textOutOfRange(toText(value), "double precision");
    }
    return result;
  }

  public static float toFloat4(long value) {
    if (NumericForm.isSpecial(value)) {
      return NumericForm.isNan(value) ? Float.NaN : NumericForm.sign(value) / 0.0f;
    }
    float result = Float.parseFloat(NumericForm.toBigDecimal(value).toString());
    if (Float.isInfinite(result) || (result == 0 && NumericForm.sign(value) != 0)) {
      throw ValueErrors.textOutOfRange(toText(value), "real");
    }
    return result;
  }

  /// The first 15 significant digits, as PostgreSQL converts.
  public static long ofFloat8(double value, VarHeap heap) {
    return ofFloat(value, 15, heap);
  }

  /// The first 6 significant digits, as PostgreSQL converts.
  public static long ofFloat4(float value, VarHeap heap) {
    return ofFloat(value, 6, heap);
  }

  private static long ofFloat(double value, int digits, VarHeap heap) {
    if (Double.isNaN(value)) {
      return NumericForm.nan(heap);
    }
    if (Double.isInfinite(value)) {
      return NumericForm.infinity(heap, value < 0);
    }
    BigDecimal rounded =
        new BigDecimal(value).round(new MathContext(digits, RoundingMode.HALF_EVEN));
    if (rounded.signum() == 0) {
      return NumericFast.encode(heap, 0, 0);
    }
    rounded = rounded.stripTrailingZeros();
    return NumericForm.of(heap, rounded);
  }

  /// Rounds to the scale of a modifier and checks its precision.
  ///
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE "numeric field overflow"
  public static long coerce(long value, int typeModifier, VarHeap heap) {
    if (typeModifier < 4) {
      return value;
    }
    int precision = Types.precision(typeModifier);
    int scale = Types.scale(typeModifier);
    if (NumericForm.isSpecial(value)) {
      if (NumericForm.isNan(value)) {
        return value;
      }
      throw fieldOverflow()
          .withDetail(
              "A field with precision "
                  + precision
                  + ", scale "
                  + scale
                  + " cannot hold an infinite value.");
    }
    long x = NumericFast.unscaled(value);
    if (x != NumericFast.NOT_FAST
        && NumericFast.scale(value) == scale
        && (precision >= 18 || Math.abs(x) < NumericFast.powerOfTen(precision))) {
      return value;
    }
    long rounded = round(value, scale, heap);
    BigDecimal decimal = NumericForm.toBigDecimal(rounded);
    int integerDigits = decimal.precision() - decimal.scale();
    if (decimal.signum() != 0 && integerDigits > precision - scale) {
      int limit = precision - scale;
      throw fieldOverflow()
          .withDetail(
              "A field with precision "
                  + precision
                  + ", scale "
                  + scale
                  + " must round to an absolute value less than "
                  + (limit == 0 ? "1" : "10^" + limit)
                  + ".");
    }
    return rounded;
  }

  private static long round(long value, int scale, VarHeap heap) {
    return Numerics.round(value, scale, heap);
  }

  private static EngineException fieldOverflow() {
    return new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow");
  }
}
