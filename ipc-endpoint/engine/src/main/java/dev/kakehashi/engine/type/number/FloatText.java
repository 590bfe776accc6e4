package dev.kakehashi.engine.type.number;

import dev.kakehashi.engine.type.SqlErrors;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// PostgreSQL's shortest-precise text form of floating-point numbers, and its input.
///
/// PostgreSQL prints the shortest decimal strictly inside the interval that rounds to the value. Java also accepts the
/// interval's bounds, and never prints fewer than two digits; both differences are corrected here.
public final class FloatText {
  private static final int MAX_FIXED_EXPONENT_8 = 15;
  private static final int MAX_FIXED_EXPONENT_4 = 6;
  private static final int MIN_FIXED_EXPONENT = -4;

  /// A midpoint of two doubles is an odd 54-bit number times a power of two: too long for 17 digits below this.
  private static final double MIDPOINT_POSSIBLE_8 = 0x1p50;

  private static final float MIDPOINT_POSSIBLE_4 = 0x1p19f;
  private static final Pattern INPUT =
      Pattern.compile("[+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?");
  private static final Pattern HEX_INPUT =
      Pattern.compile(
          "([+-]?0[xX](?:[0-9a-fA-F]+\\.?[0-9a-fA-F]*|\\.[0-9a-fA-F]+))([pP][+-]?[0-9]+)?");

  private FloatText() {}

  public static String toText(double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return special(value);
    }
    if (value == 0) {
      return 1 / value < 0 ? "-0" : "0";
    }
    BigDecimal shortest = oneDigit(new BigDecimal(Double.toString(Math.abs(value))), value);
    if (Math.abs(value) >= MIDPOINT_POSSIBLE_8) {
      BigDecimal exact = new BigDecimal(Math.abs(value));
      BigDecimal above = exact.add(new BigDecimal(Math.ulp(value) / 2));
      BigDecimal below =
          exact.subtract(
              exact
                  .subtract(new BigDecimal(Math.nextDown(Math.abs(value))))
                  .divide(BigDecimal.TWO));
      shortest = strictlyInside(shortest, exact, below, above, 17);
    }
    return layOut(shortest, value < 0, MAX_FIXED_EXPONENT_8);
  }

  public static String toText(float value) {
    if (Float.isNaN(value) || Float.isInfinite(value)) {
      return special(value);
    }
    if (value == 0) {
      return 1 / value < 0 ? "-0" : "0";
    }
    float magnitude = Math.abs(value);
    BigDecimal shortest = new BigDecimal(Float.toString(magnitude)).stripTrailingZeros();
    if (shortest.precision() == 2) {
      BigDecimal rounded = shortest.round(new MathContext(1, RoundingMode.HALF_EVEN));
      shortest = rounded.floatValue() == magnitude ? rounded : shortest;
    }
    if (magnitude >= MIDPOINT_POSSIBLE_4) {
      BigDecimal exact = new BigDecimal(magnitude);
      BigDecimal above = exact.add(new BigDecimal(Math.ulp(magnitude)).divide(BigDecimal.TWO));
      BigDecimal below =
          exact.subtract(
              exact.subtract(new BigDecimal(Math.nextDown(magnitude))).divide(BigDecimal.TWO));
      shortest = strictlyInside(shortest, exact, below, above, 9);
    }
    return layOut(shortest, value < 0, MAX_FIXED_EXPONENT_4);
  }

  private static BigDecimal oneDigit(BigDecimal java, double value) {
    BigDecimal stripped = java.stripTrailingZeros();
    if (stripped.precision() == 2) {
      BigDecimal rounded = stripped.round(new MathContext(1, RoundingMode.HALF_EVEN));
      if (rounded.doubleValue() == Math.abs(value)) {
        return rounded;
      }
    }
    return stripped;
  }

  private static BigDecimal strictlyInside(
      BigDecimal shortest, BigDecimal exact, BigDecimal below, BigDecimal above, int maxDigits) {
    if (shortest.compareTo(below) > 0 && shortest.compareTo(above) < 0) {
      return shortest;
    }
    for (int digits = shortest.precision(); digits <= maxDigits; digits++) {
      BigDecimal rounded = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
      if (rounded.compareTo(below) > 0 && rounded.compareTo(above) < 0) {
        return rounded.stripTrailingZeros();
      }
    }
    return exact.round(new MathContext(maxDigits, RoundingMode.HALF_EVEN)).stripTrailingZeros();
  }

  private static String layOut(BigDecimal decimal, boolean negative, int maxFixedExponent) {
    String digits = decimal.unscaledValue().toString();
    int exponent = digits.length() - 1 - decimal.scale();
    StringBuilder out = new StringBuilder(26);
    if (negative) {
      out.append('-');
    }
    if (exponent >= MIN_FIXED_EXPONENT && exponent < maxFixedExponent) {
      if (exponent < 0) {
        out.append("0.").repeat('0', -exponent - 1).append(digits);
      } else if (digits.length() <= exponent + 1) {
        out.append(digits).repeat('0', exponent + 1 - digits.length());
      } else {
        out.append(digits, 0, exponent + 1)
            .append('.')
            .append(digits, exponent + 1, digits.length());
      }
      return out.toString();
    }
    out.append(digits.charAt(0));
    if (digits.length() > 1) {
      out.append('.').append(digits, 1, digits.length());
    }
    out.append('e').append(exponent < 0 ? '-' : '+');
    int magnitude = Math.abs(exponent);
    if (magnitude < 10) {
      out.append('0');
    }
    return out.append(magnitude).toString();
  }

  private static String special(double value) {
    if (Double.isNaN(value)) {
      return "NaN";
    }
    return value > 0 ? "Infinity" : "-Infinity";
  }

  /// @throws dev.kakehashi.engine.api.EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static double parse8(String text) {
    String trimmed = trim(text);
    Double special = specialValue(trimmed);
    if (special != null) {
      return special;
    }
    String number = javaForm(trimmed, text, "double precision");
    double value = Double.parseDouble(number);
    if (Double.isInfinite(value) || (value == 0 && hasNonZeroDigit(number))) {
      throw SqlErrors.textOutOfRange(trimmed, "double precision");
    }
    return value;
  }

  /// @throws dev.kakehashi.engine.api.EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static float parse4(String text) {
    String trimmed = trim(text);
    Double special = specialValue(trimmed);
    if (special != null) {
      return special.floatValue();
    }
    String number = javaForm(trimmed, text, "real");
    float value = Float.parseFloat(number);
    if (Float.isInfinite(value) || (value == 0 && hasNonZeroDigit(number))) {
      throw SqlErrors.textOutOfRange(trimmed, "real");
    }
    return value;
  }

  private static String javaForm(String trimmed, String text, String typeName) {
    if (INPUT.matcher(trimmed).matches()) {
      return trimmed;
    }
    Matcher hex = HEX_INPUT.matcher(trimmed);
    if (hex.matches()) {
      return hex.group(2) == null ? trimmed + "p0" : trimmed;
    }
    throw SqlErrors.invalidSyntax(typeName, text);
  }

  private static boolean hasNonZeroDigit(String number) {
    boolean hex = number.startsWith("0x") || number.indexOf('x') > 0 || number.indexOf('X') > 0;
    for (int i = 0; i < number.length(); i++) {
      char c = number.charAt(i);
      if ((!hex && (c == 'e' || c == 'E')) || c == 'p' || c == 'P') {
        return false;
      }
      if (c != '0' && (hex ? HexFormat.isHexDigit(c) : c >= '1' && c <= '9')) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable Double specialValue(String trimmed) {
    return switch (trimmed.toLowerCase(Locale.ROOT)) {
      case "nan" -> Double.NaN;
      case "infinity", "+infinity", "inf", "+inf" -> Double.POSITIVE_INFINITY;
      case "-infinity", "-inf" -> Double.NEGATIVE_INFINITY;
      default -> null;
    };
  }

  /// Without C's isspace() characters at both ends.
  public static String trim(String text) {
    int begin = 0;
    int end = text.length();
    while (begin < end && isSpace(text.charAt(begin))) {
      begin++;
    }
    while (end > begin && isSpace(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(begin, end);
  }

  private static boolean isSpace(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }
}
