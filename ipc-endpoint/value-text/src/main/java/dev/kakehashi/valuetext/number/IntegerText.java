package dev.kakehashi.valuetext.number;

import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;

/// Input of integers.
public final class IntegerText {
  private IntegerText() {}

  /// Reads an integer in decimal digits, with blanks around it.
  ///
  /// @param typeName for messages: "smallint", "integer" or "bigint"
  /// @throws dev.kakehashi.engine.api.error.EngineException INVALID_TEXT_REPRESENTATION, or NUMERIC_VALUE_OUT_OF_RANGE
  public static long parse(String text, String typeName, long min, long max) {
    String trimmed = Spaces.trim(text);
    boolean negative = trimmed.startsWith("-");
    int begin = negative || trimmed.startsWith("+") ? 1 : 0;
    if (begin == trimmed.length()) {
      throw ValueErrors.invalidSyntax(typeName, text);
    }
    // Accumulated negatively, because there is one more negative number.
    long value = 0;
    boolean overflow = false;
    for (int i = begin; i < trimmed.length(); i++) {
      int digit = trimmed.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        throw ValueErrors.invalidSyntax(typeName, text);
      }
      overflow |= value < (min + digit) / 10;
      value = value * 10 - digit;
    }
    if (overflow || (!negative && value < -max)) {
      throw ValueErrors.valueOutOfRange(text, typeName);
    }
    return negative ? value : -value;
  }
}
