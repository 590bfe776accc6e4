package dev.kakehashi.bulk.csv.text;

import java.util.Locale;

/// Numbers that are words.
final class SpecialNumbers {
  private SpecialNumbers() {}

  /// A word for infinity or NaN, in any case, as PostgreSQL writes it; other text as it is.
  static String canonical(String text) {
    char last = text.isEmpty() ? '0' : text.charAt(text.length() - 1);
    if (last >= '0' && last <= '9') {
      return text;
    }
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "nan" -> "NaN";
      case "inf", "+inf", "infinity", "+infinity" -> "Infinity";
      case "-inf", "-infinity" -> "-Infinity";
      default -> text;
    };
  }
}
