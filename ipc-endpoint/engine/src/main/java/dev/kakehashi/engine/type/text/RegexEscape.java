package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.SqlErrors;

/// A character given by an escape of PostgreSQL's regular expressions.
///
/// @param codePoint the character
/// @param end index behind the escape
record RegexEscape(int codePoint, int end) {
  /// Reads the escape whose backslash is at an index.
  static RegexEscape read(int[] in, int at) {
    int c = in[at + 1];
    int next = at + 2;
    return switch (c) {
      case 'a' -> new RegexEscape(7, next);
      case 'b' -> new RegexEscape('\b', next);
      case 'B' -> new RegexEscape('\\', next);
      case 'e' -> new RegexEscape(27, next);
      case 'f' -> new RegexEscape('\f', next);
      case 'n' -> new RegexEscape('\n', next);
      case 'r' -> new RegexEscape('\r', next);
      case 't' -> new RegexEscape('\t', next);
      case 'v' -> new RegexEscape(11, next);
      case '0' -> octal(in, next);
      case 'c' -> {
        if (next >= in.length) {
          throw RegexTranslator.invalid("invalid escape \\ sequence");
        }
        yield new RegexEscape(in[next] & 0x1F, next + 1);
      }
      case 'u' -> hexadecimal(in, next, 4, 4);
      case 'U' -> hexadecimal(in, next, 8, 8);
      case 'x' -> hexadecimal(in, next, 1, 255);
      default -> {
        boolean alphanumeric =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (alphanumeric) {
          throw RegexTranslator.invalid("invalid escape \\ sequence");
        }
        yield new RegexEscape(c, next);
      }
    };
  }

  private static RegexEscape octal(int[] in, int from) {
    int value = 0;
    int i = from;
    while (i < in.length && i < from + 2 && in[i] >= '0' && in[i] <= '7') {
      value = value * 8 + in[i++] - '0';
    }
    return new RegexEscape(value, i);
  }

  private static RegexEscape hexadecimal(int[] in, int from, int min, int max) {
    long value = 0;
    int i = from;
    while (i < in.length && i < from + max && Character.digit(in[i], 16) >= 0 && in[i] < 128) {
      value = value * 16 + Character.digit(in[i++], 16);
      if (value > Character.MAX_CODE_POINT) {
        // PostgreSQL has characters up to 31 bits, which no text holds.
        throw SqlErrors.notSupported("regular expression names a character that is not in Unicode");
      }
    }
    if (i - from < min) {
      throw RegexTranslator.invalid("invalid escape \\ sequence");
    }
    return new RegexEscape((int) value, i);
  }

  /// Writes a character so that RE2 takes it literally, within brackets too.
  static void append(StringBuilder out, int c) {
    boolean plain =
        (c >= 'a' && c <= 'z')
            || (c >= 'A' && c <= 'Z')
            || (c >= '0' && c <= '9')
            || c == ' '
            || c == '_';
    if (plain) {
      out.append((char) c);
    } else {
      out.append("\\x{").append(Integer.toHexString(c)).append('}');
    }
  }
}
