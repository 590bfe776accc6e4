package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.protocol.ErrorCode;

/// unistr(): a backslash and four hexadecimal digits, or six behind a plus sign, or four behind a u, or eight behind a U, are a character;
/// two of them may be a pair of surrogates, and two backslashes are one.
final class UnicodeEscapes {
  private UnicodeEscapes() {}

  static String decode(String text) {
    StringBuilder out = new StringBuilder();
    int at = 0;
    char high = 0;
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c != '\\' || text.startsWith("\\\\", at)) {
        refuseHalf(high);
        out.append(c);
        at += c == '\\' ? 2 : 1;
        continue;
      }
      int prefix = prefix(text, at + 1);
      int digits =
          prefix == 0 ? 4 : text.charAt(at + 1) == '+' ? 6 : text.charAt(at + 1) == 'u' ? 4 : 8;
      int begin = at + 1 + prefix;
      int value = hex(text, begin, digits);
      at = begin + digits;
      if (value <= 0 || value > Character.MAX_CODE_POINT) {
        throw SqlErrors.invalidParameter("invalid Unicode escape value");
      }
      boolean low = value >= Character.MIN_LOW_SURROGATE && value <= Character.MAX_LOW_SURROGATE;
      if (high != 0) {
        if (!low) {
          throw invalid("invalid Unicode surrogate pair");
        }
        out.append(high).append((char) value);
        high = 0;
      } else if (low) {
        throw invalid("invalid Unicode surrogate pair");
      } else if (value >= Character.MIN_HIGH_SURROGATE && value <= Character.MAX_HIGH_SURROGATE) {
        high = (char) value;
      } else {
        out.appendCodePoint(value);
      }
    }
    refuseHalf(high);
    return out.toString();
  }

  private static int prefix(String text, int at) {
    return at < text.length() && "+uU".indexOf(text.charAt(at)) >= 0 ? 1 : 0;
  }

  private static int hex(String text, int begin, int digits) {
    long value = 0;
    for (int i = begin; i < begin + digits; i++) {
      int digit =
          i < text.length() && text.charAt(i) < 0x80 ? Character.digit(text.charAt(i), 16) : -1;
      if (digit < 0) {
        throw invalid("invalid Unicode escape")
            .withHint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.");
      }
      value = 16 * value + digit;
    }
    return value > Character.MAX_CODE_POINT ? -1 : (int) value;
  }

  private static void refuseHalf(char high) {
    if (high != 0) {
      throw invalid("invalid Unicode surrogate pair");
    }
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.SYNTAX_ERROR, message);
  }
}
