package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import java.util.Locale;

/// English endings of ordinal numbers.
public final class Ordinals {
  private Ordinals() {}

  /// st, nd, rd or th.
  ///
  /// @param number its digits
  /// @throws EngineException INVALID_TEXT_REPRESENTATION if it does not end in one
  public static String ending(String number, boolean upper) {
    char last = number.isEmpty() ? ' ' : number.charAt(number.length() - 1);
    if (last < '0' || last > '9') {
      throw SqlErrors.invalidSyntaxMessage('"' + number + "\" is not a number");
    }
    boolean teen = number.length() > 1 && number.charAt(number.length() - 2) == '1';
    String ending =
        switch (teen ? '0' : last) {
          case '1' -> "st";
          case '2' -> "nd";
          case '3' -> "rd";
          default -> "th";
        };
    return upper ? ending.toUpperCase(Locale.ROOT) : ending;
  }
}
