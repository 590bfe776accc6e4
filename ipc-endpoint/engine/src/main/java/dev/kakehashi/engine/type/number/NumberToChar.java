package dev.kakehashi.engine.type.number;

import static dev.kakehashi.protocol.TypeOid.FLOAT4;
import static dev.kakehashi.protocol.TypeOid.FLOAT8;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.NUMERIC;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.number.NumberTemplate.Flag;
import dev.kakehashi.engine.type.numeric.NumericConversion;
import dev.kakehashi.engine.type.numeric.NumericForm;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/// to_char() of numbers.
final class NumberToChar {
  /// Digits that a float4 and a float8 always keep.
  private static final int FLOAT4_DIGITS = 6;

  private static final int FLOAT8_DIGITS = 15;

  private NumberToChar() {}

  /// Writes a number that came as a word.
  @FunctionalInterface
  private interface Writer {
    String text(long word, NumberTemplate template);
  }

  static void register(FunctionSet set) {
    add(set, INT4, NumberToChar::ofInt4);
    add(set, INT8, NumberToChar::ofInt8);
    add(set, NUMERIC, NumberToChar::ofNumeric);
    add(set, FLOAT4, (word, t) -> ofFloat(FloatMath.ofWord4(word), true, t));
    add(set, FLOAT8, (word, t) -> ofFloat(FloatMath.ofWord8(word), false, t));
  }

  private static void add(FunctionSet set, int oid, Writer writer) {
    // Stable as in PostgreSQL, where the signs depend on the session.
    set.addStable("to_char", TEXT, (a, _, c) -> text(writer, a, c), oid, TEXT);
  }

  private static long text(Writer writer, long[] arguments, FunctionContext context) {
    String template = Varlena.string(arguments[1]);
    return Varlena.of(
        context.heap,
        template.isEmpty() ? "" : writer.text(arguments[0], NumberTemplate.of(template)));
  }

  private static String ofInt4(long value, NumberTemplate template) {
    if (template.has(Flag.ROMAN)) {
      return NumberLayout.roman(template, value);
    }
    if (template.has(Flag.SCIENTIFIC)) {
      return scientific(new BigDecimal(value), value < 0, template.post(), RoundingMode.HALF_EVEN);
    }
    if (!template.has(Flag.SHIFT)) {
      return ofInteger(value, template);
    }
    long product = value * FloatMath.toInt4(Math.pow(10, template.shift()));
    if (product != (int) product) {
      throw SqlErrors.outOfRange("integer");
    }
    return ofInteger(product, template);
  }

  private static String ofInt8(long value, NumberTemplate template) {
    if (template.has(Flag.ROMAN)) {
      if (value != (int) value) {
        throw SqlErrors.outOfRange("integer");
      }
      return NumberLayout.roman(template, value);
    }
    if (template.has(Flag.SCIENTIFIC)) {
      return scientific(new BigDecimal(value), value < 0, template.post(), RoundingMode.HALF_UP);
    }
    if (!template.has(Flag.SHIFT)) {
      return ofInteger(value, template);
    }
    long factor = FloatMath.toInt8(Math.pow(10, template.shift()));
    long product = value * factor;
    if (Math.multiplyHigh(value, factor) != product >> 63) {
      throw SqlErrors.outOfRange("bigint");
    }
    return ofInteger(product, template);
  }

  private static String ofInteger(long value, NumberTemplate template) {
    String zeros = template.post() > 0 ? "." + "0".repeat(template.post()) : "";
    return layOut(Long.toString(value) + zeros, template, template.post());
  }

  /// @param number with a sign if it is negative
  private static String layOut(String number, NumberTemplate template, int post) {
    boolean negative = number.startsWith("-");
    return NumberLayout.number(
        template,
        negative ? number.substring(1) : number,
        negative ? '-' : '+',
        template.pre() + template.shift(),
        post);
  }

  private static String ofNumeric(long value, NumberTemplate template) {
    if (template.has(Flag.ROMAN)) {
      return NumberLayout.roman(template, NumericConversion.toInt4(value));
    }
    boolean special = NumericForm.isSpecial(value);
    if (template.has(Flag.SCIENTIFIC)) {
      return special
          ? unwritable(template)
          : scientific(
              NumericForm.toBigDecimal(value),
              NumericForm.sign(value) < 0,
              template.post(),
              RoundingMode.HALF_UP);
    }
    if (special) {
      return layOut(NumericConversion.toText(value), template, template.post());
    }
    BigDecimal rounded =
        NumericForm.toBigDecimal(value)
            .scaleByPowerOfTen(template.shift())
            .setScale(template.post(), RoundingMode.HALF_UP);
    return layOut(rounded.toPlainString(), template, template.post());
  }

  private static String ofFloat(double value, boolean single, NumberTemplate template) {
    if (template.has(Flag.ROMAN)) {
      return NumberLayout.roman(template, (long) Math.rint(value));
    }
    boolean finite = Double.isFinite(value);
    boolean negative = !Double.isNaN(value) && Math.copySign(1, value) < 0;
    if (template.has(Flag.SCIENTIFIC)) {
      return finite
          ? scientific(new BigDecimal(value), negative, template.post(), RoundingMode.HALF_EVEN)
          : unwritable(template);
    }
    double shifted = value;
    if (template.has(Flag.SHIFT)) {
      double power = Math.pow(10, template.shift());
      shifted = single ? (float) value * (float) power : value * power;
    }
    String sign = negative ? "-" : "";
    if (!Double.isFinite(shifted)) {
      boolean infinite = Double.isInfinite(shifted);
      int length = infinite ? 8 : 3;
      return layOut(
          sign + (infinite ? "Infinity" : "NaN"), template, post(template, length, single));
    }
    BigDecimal exact = new BigDecimal(Math.abs(shifted));
    int length = exact.setScale(0, RoundingMode.HALF_EVEN).toPlainString().length();
    int post = post(template, length, single);
    String number = exact.setScale(post, RoundingMode.HALF_EVEN).toPlainString();
    return layOut(sign + number, template, post);
  }

  /// Digits after the point, so that there are not more than the type has.
  private static int post(NumberTemplate template, int length, boolean single) {
    int digits = single ? FLOAT4_DIGITS : FLOAT8_DIGITS;
    return Math.min(template.post(), Math.max(0, digits - length));
  }

  /// NaN and infinity in scientific notation.
  private static String unwritable(NumberTemplate template) {
    StringBuilder text = new StringBuilder("#".repeat(template.pre() + template.post() + 6));
    text.setCharAt(0, ' ');
    text.setCharAt(template.pre() + 1, '.');
    return text.toString();
  }

  private static String scientific(
      BigDecimal value, boolean negative, int post, RoundingMode rounding) {
    BigDecimal size = value.abs();
    // PostgreSQL rounds numerics when their exponent is known: 99.9 may become 10.0e+01.
    BigDecimal leading =
        rounding == RoundingMode.HALF_UP ? size : size.round(new MathContext(post + 1, rounding));
    int exponent = leading.signum() == 0 ? 0 : leading.precision() - leading.scale() - 1;
    String significand = size.scaleByPowerOfTen(-exponent).setScale(post, rounding).toPlainString();
    String digits = Integer.toString(Math.abs(exponent));
    return (negative ? "-" : " ")
        + significand
        + (exponent < 0 ? "e-" : "e+")
        + (digits.length() < 2 ? "0" : "")
        + digits;
  }
}
