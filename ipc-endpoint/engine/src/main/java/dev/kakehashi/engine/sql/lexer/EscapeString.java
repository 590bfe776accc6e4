package dev.kakehashi.engine.sql.lexer;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Reads a string with C-style escapes, `E'...'`, as PostgreSQL's scanner does: `\x` and octal escapes are bytes in UTF-8, `\\u` and `\U`
/// are code points or halves of a surrogate pair.
final class EscapeString {
  private final String sql;
  private final StringBuilder value = new StringBuilder();

  /// Bytes of escapes that are no character yet.
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /// The first half of a surrogate pair whose second half has to follow, or 0.
  private char high;

  private int at;

  /// @param quote where the opening quote is
  EscapeString(String sql, int quote) {
    this.sql = sql;
    this.at = quote;
  }

  /// Behind the closing quote, once the string was read.
  int end() {
    return at;
  }

  /// @throws EngineException SYNTAX_ERROR, INVALID_ESCAPE_SEQUENCE or CHARACTER_NOT_IN_REPERTOIRE with the position
  String read() {
    int start = at++;
    while (at < sql.length()) {
      char c = sql.charAt(at++);
      if (c == '\\' && at < sql.length()) {
        escape();
      } else if (c != '\'') {
        append(c);
      } else if (at < sql.length() && sql.charAt(at) == '\'') {
        at++;
        append('\'');
      } else {
        endCharacter();
        return value.toString();
      }
    }
    throw error(
        ErrorCode.SYNTAX_ERROR,
        "unterminated quoted string at or near \"" + sql.substring(start) + "\"",
        start);
  }

  private void escape() {
    char c = sql.charAt(at++);
    switch (c) {
      case 'b' -> append('\b');
      case 'f' -> append('\f');
      case 'n' -> append('\n');
      case 'r' -> append('\r');
      case 't' -> append('\t');
      case 'u' -> codePoint(4);
      case 'U' -> codePoint(8);
      case 'x' -> {
        int length = digits(16, 2);
        if (length == 0) {
          append(c);
        } else {
          addByte(length, 16);
        }
      }
      default -> {
        if (Character.digit(c, 8) < 0 || c > '7') {
          append(c);
        } else {
          at--;
          addByte(digits(8, 3), 8);
        }
      }
    }
  }

  /// How many digits follow, at most `most`.
  private int digits(int radix, int most) {
    int count = 0;
    while (count < most && at + count < sql.length() && isDigit(sql.charAt(at + count), radix)) {
      count++;
    }
    return count;
  }

  private static boolean isDigit(char c, int radix) {
    return c < 128 && Character.digit(c, radix) >= 0;
  }

  private void codePoint(int length) {
    if (digits(16, length) < length) {
      throw error(ErrorCode.INVALID_ESCAPE_SEQUENCE, "invalid Unicode escape", at - 2);
    }
    int code = Integer.parseUnsignedInt(sql, at, at + length, 16);
    at += length;
    if (code == 0 || !Character.isValidCodePoint(code)) {
      throw error(ErrorCode.SYNTAX_ERROR, "invalid Unicode escape value", at - length - 2);
    }
    if (Character.isBmpCodePoint(code) && Character.isSurrogate((char) code)) {
      surrogate((char) code);
    } else {
      endCharacter();
      value.appendCodePoint(code);
    }
  }

  private void surrogate(char half) {
    if (Character.isLowSurrogate(half) != (high != 0)) {
      throw badPair();
    }
    if (high == 0) {
      endCharacter();
      high = half;
    } else {
      value.append(high).append(half);
      high = 0;
    }
  }

  private void append(char c) {
    endCharacter();
    value.append(c);
  }

  /// Adds the byte that the next digits are; what octal ones are beyond a byte is cut.
  private void addByte(int length, int radix) {
    int code = Integer.parseInt(sql, at, at + length, radix) & 0xFF;
    at += length;
    if (high != 0) {
      throw badPair();
    }
    if (code == 0) {
      throw invalidBytes("0x00");
    }
    bytes.write(code);
  }

  /// Escapes so far have to be whole characters.
  private void endCharacter() {
    if (high != 0) {
      throw badPair();
    }
    if (bytes.size() == 0) {
      return;
    }
    try {
      value.append(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray())));
    } catch (CharacterCodingException e) {
      StringBuilder shown = new StringBuilder();
      for (byte each : bytes.toByteArray()) {
        shown.append(shown.isEmpty() ? "" : " ").append("0x%02x".formatted(each));
      }
      throw invalidBytes(shown.toString());
    }
    bytes.reset();
  }

  private EngineException badPair() {
    return error(ErrorCode.SYNTAX_ERROR, "invalid Unicode surrogate pair", at - 1);
  }

  private EngineException invalidBytes(String shown) {
    return error(
        ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
        "invalid byte sequence for encoding \"UTF8\": " + shown,
        at - 1);
  }

  private static EngineException error(ErrorCode code, String message, int start) {
    return new EngineException(code, message).withPosition(start + 1);
  }
}
