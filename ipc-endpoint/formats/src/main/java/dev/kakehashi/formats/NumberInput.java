package dev.kakehashi.formats;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgNumeric;
import dev.kakehashi.valuetext.ValueErrors;
import java.math.BigDecimal;

/// Reads numbers from text, as PostgreSQL's input functions do. Blanks around them are refused.
public final class NumberInput {
  /// Digits of a numeric before its point.
  private static final int MAX_WHOLE_DIGITS = 131_072;

  /// Characters of a numeric that has no needless zeros.
  private static final int MAX_NUMERIC_CHARACTERS = MAX_WHOLE_DIGITS + PgNumeric.MAX_SCALE + 32;

  private NumberInput() {}

  /// @param type for messages
  /// @throws EngineException INVALID_TEXT_REPRESENTATION, NUMERIC_VALUE_OUT_OF_RANGE
  public static long integer(String text, String type, long min, long max) {
    int begin = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
    boolean negative = text.startsWith("-");
    if (begin == text.length()) {
      throw invalid(type, text);
    }
    // Accumulated negatively, because there is one more negative number.
    long value = 0;
    boolean overflow = false;
    for (int i = begin; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        throw invalid(type, text);
      }
      overflow |= value < (min + digit) / 10;
      value = value * 10 - digit;
    }
    if (overflow || (!negative && value < -max)) {
      throw outOfRange(type, text);
    }
    return negative ? value : -value;
  }

  /// @throws EngineException INVALID_TEXT_REPRESENTATION, NUMERIC_VALUE_OUT_OF_RANGE
  public static PgNumeric numeric(String text) {
    return switch (text) {
      case "NaN" -> PgNumeric.NAN;
      case "Infinity", "+Infinity", "inf" -> PgNumeric.POSITIVE_INFINITY;
      case "-Infinity", "-inf" -> PgNumeric.NEGATIVE_INFINITY;
      default -> PgNumeric.of(decimal(text));
    };
  }

  /// A number that fits into a numeric.
  ///
  /// @throws EngineException INVALID_TEXT_REPRESENTATION, NUMERIC_VALUE_OUT_OF_RANGE
  public static BigDecimal decimal(String text) {
    if (!isDecimal(text)) {
      throw invalid("numeric", text);
    }
    if (text.length() > MAX_NUMERIC_CHARACTERS) {
      throw outOfRange("numeric", text);
    }
    BigDecimal value;
    try {
      value = new BigDecimal(text);
    } catch (NumberFormatException e) {
      // Its exponent leaves the range of int.
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
          String.valueOf(outOfRange("numeric", text).getMessage()),
          e);
    }
    long wholeDigits = (long) value.precision() - value.scale();
    if (value.signum() == 0) {
      return value.scale() < 0 ? BigDecimal.ZERO : checkedScale(value, text);
    }
    if (wholeDigits > MAX_WHOLE_DIGITS) {
      throw outOfRange("numeric", text);
    }
    return checkedScale(value, text);
  }

  private static BigDecimal checkedScale(BigDecimal value, String text) {
    if (value.scale() > PgNumeric.MAX_SCALE) {
      throw outOfRange("numeric", text);
    }
    return value.scale() < 0 ? value.setScale(0) : value;
  }

  /// @throws EngineException INVALID_TEXT_REPRESENTATION, NUMERIC_VALUE_OUT_OF_RANGE
  public static double float8(String text) {
    return switch (text) {
      case "NaN" -> Double.NaN;
      case "Infinity", "+Infinity", "inf" -> Double.POSITIVE_INFINITY;
      case "-Infinity", "-inf" -> Double.NEGATIVE_INFINITY;
      default -> finite8(text);
    };
  }

  private static double finite8(String text) {
    if (!isDecimal(text)) {
      throw invalid("double precision", text);
    }
    double value = Double.parseDouble(text);
    if (Double.isInfinite(value) || (value == 0 && hasNonZeroDigit(text))) {
      throw outOfRange("double precision", text);
    }
    return value;
  }

  /// @throws EngineException INVALID_TEXT_REPRESENTATION, NUMERIC_VALUE_OUT_OF_RANGE
  public static float float4(String text) {
    return switch (text) {
      case "NaN", "Infinity", "+Infinity", "inf", "-Infinity", "-inf" -> (float) float8(text);
      default -> finite4(text);
    };
  }

  private static float finite4(String text) {
    if (!isDecimal(text)) {
      throw invalid("real", text);
    }
    float value = Float.parseFloat(text);
    if (Float.isInfinite(value) || (value == 0 && hasNonZeroDigit(text))) {
      throw outOfRange("real", text);
    }
    return value;
  }

  private static boolean hasNonZeroDigit(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 'e' || c == 'E') {
        return false;
      }
      if (c >= '1' && c <= '9') {
        return true;
      }
    }
    return false;
  }

  private static boolean isDecimal(String text) {
    int length = text.length();
    int at = length > 0 && (text.charAt(0) == '+' || text.charAt(0) == '-') ? 1 : 0;
    int whole = digitsFrom(text, at);
    int digits = whole - at;
    at = whole;
    if (at < length && text.charAt(at) == '.') {
      int end = digitsFrom(text, at + 1);
      digits += end - at - 1;
      at = end;
    }
    if (digits == 0) {
      return false;
    }
    if (at < length && (text.charAt(at) == 'e' || text.charAt(at) == 'E')) {
      at++;
      if (at < length && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
        at++;
      }
      int end = digitsFrom(text, at);
      if (end == at) {
        return false;
      }
      at = end;
    }
    return at == length;
  }

  private static int digitsFrom(String text, int from) {
    int at = from;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    return at;
  }

  public static EngineException invalid(String type, String text) {
    return new EngineException(
        ErrorCode.INVALID_TEXT_REPRESENTATION,
        "invalid input syntax for type " + type + ": \"" + ValueErrors.shown(text) + "\"");
  }

  public static EngineException outOfRange(String type, String text) {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        "value \"" + ValueErrors.shown(text) + "\" is out of range for type " + type);
  }
}
