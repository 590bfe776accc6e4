package dev.kakehashi.engine.type.numeric;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgNumeric.Kind;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.number.DecimalText;
import dev.kakehashi.valuetext.number.Digits;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;

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
    int integers = count == 0 ? 0 : Math.max(0, weight + 1);
    byte[] out = new byte[4 * integers + scale + 8];
    int at = 0;
    if (count > 0 && NumericForm.isNegative(header)) {
      out[at++] = '-';
    }
    // The first group is canonical: not 0.
    at = Digits.putDigits(out, at, integers == 0 ? 0 : RawMemory.getShort(digits));
    for (int i = 1; i < integers; i++) {
      at = Digits.putFour(out, at, i < count ? RawMemory.getShort(digits + 2L * i) : 0);
    }
    if (scale > 0) {
      out[at++] = '.';
      int end = at + scale;
      for (int i = weight + 1; at < end; i++) {
        at = Digits.putFour(out, at, i >= 0 && i < count ? RawMemory.getShort(digits + 2L * i) : 0);
      }
      at = end;
    }
    return new String(out, 0, at, StandardCharsets.ISO_8859_1);
  }

  /// @throws EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static long parse(String text, VarHeap heap) {
    String trimmed = Spaces.trim(text);
    Kind word = DecimalText.word(trimmed);
    if (word != null) {
      return word == Kind.NAN
          ? NumericForm.nan(heap)
          : NumericForm.infinity(heap, word == Kind.NEGATIVE_INFINITY);
    }
    int e = DecimalText.checkNumeric(trimmed, text);
    if (trimmed.length() > LONG_TEXT) {
      return parseLong(trimmed, e, heap);
    }
    BigDecimal decimal = new BigDecimal(trimmed);
    if (DecimalText.vanishes(decimal.scale(), decimal.precision(), decimal.signum() == 0)) {
      return NumericForm.of(heap, BigInteger.ZERO, NumericForm.MAX_SCALE);
    }
    return NumericForm.of(heap, decimal);
  }

  /// The same for a text of many digits: BigDecimal would take a time that grows with their square, and could not be canceled.
  ///
  /// @param text as [DecimalText#isDecimal] wants it
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
    if (DecimalText.vanishes(scale, digits.length() - zeros, isZero)) {
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
