package dev.kakehashi.valuetext.number;

import dev.kakehashi.protocol.value.PgNumeric.Kind;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Floating-point numbers as strings: PostgreSQL's shortest text, made by [FloatDigits], and its input.
public final class FloatText {
  private static final Pattern HEX_INPUT =
      Pattern.compile(
          "([+-]?0[xX](?:[0-9a-fA-F]+\\.?[0-9a-fA-F]*|\\.[0-9a-fA-F]+))([pP][+-]?[0-9]+)?");

  private FloatText() {}

  public static String toText(double value) {
    byte[] bytes = new byte[FloatDigits.MAX_BYTES];
    return new String(bytes, 0, FloatDigits.put(bytes, 0, value), StandardCharsets.ISO_8859_1);
  }

  public static String toText(float value) {
    byte[] bytes = new byte[FloatDigits.MAX_BYTES];
    return new String(bytes, 0, FloatDigits.put(bytes, 0, value), StandardCharsets.ISO_8859_1);
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static double parse8(String text) {
    String trimmed = Spaces.trim(text);
    Kind word = DecimalText.word(trimmed);
    if (word != null) {
      return special(word);
    }
    String number = javaForm(trimmed, text, "double precision");
    double value = Double.parseDouble(number);
    if (Double.isInfinite(value) || (value == 0 && hasNonZeroDigit(number))) {
      throw ValueErrors.textOutOfRange(trimmed, "double precision");
    }
    return value;
  }

  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static float parse4(String text) {
    String trimmed = Spaces.trim(text);
    Kind word = DecimalText.word(trimmed);
    if (word != null) {
      return (float) special(word);
    }
    String number = javaForm(trimmed, text, "real");
    float value = Float.parseFloat(number);
    if (Float.isInfinite(value) || (value == 0 && hasNonZeroDigit(number))) {
      throw ValueErrors.textOutOfRange(trimmed, "real");
    }
    return value;
  }

  private static String javaForm(String trimmed, String text, String typeName) {
    if (DecimalText.isDecimal(trimmed)) {
      return trimmed;
    }
    Matcher hex = HEX_INPUT.matcher(trimmed);
    if (hex.matches()) {
      return hex.group(2) == null ? trimmed + "p0" : trimmed;
    }
    throw ValueErrors.invalidSyntax(typeName, text);
  }

  private static boolean hasNonZeroDigit(String number) {
    boolean hex = number.indexOf('x') > 0 || number.indexOf('X') > 0;
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

  private static double special(Kind word) {
    return switch (word) {
      case POSITIVE_INFINITY -> Double.POSITIVE_INFINITY;
      case NEGATIVE_INFINITY -> Double.NEGATIVE_INFINITY;
      default -> Double.NaN;
    };
  }
}
