package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.ValueErrors;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/// Text forms of bytea and uuid.
public final class ByteStrings {
  private static final HexFormat HEX = HexFormat.of();
  private static final int UUID_BYTES = 16;

  private ByteStrings() {}

  public static String byteaText(byte[] bytes) {
    return "\\x" + HEX.formatHex(bytes);
  }

  /// Hex form (`\x`, blanks between bytes allowed) or escape form.
  public static byte[] parseBytea(String text) {
    if (text.startsWith("\\x")) {
      return parseHex(text, 2);
    }
    return parseEscaped(text);
  }

  /// Escape form: a backslash before three octal digits or another backslash.
  public static byte[] parseEscaped(String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] in = text.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < in.length; ) {
      if (in[i] != '\\') {
        out.write(in[i++]);
      } else if (i + 3 < in.length
          && in[i + 1] >= '0'
          && in[i + 1] <= '3'
          && isOctal(in[i + 2])
          && isOctal(in[i + 3])) {
        out.write((in[i + 1] - '0') << 6 | (in[i + 2] - '0') << 3 | (in[i + 3] - '0'));
        i += 4;
      } else if (i + 1 < in.length && in[i + 1] == '\\') {
        out.write('\\');
        i += 2;
      } else {
        throw new EngineException(
            ErrorCode.INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea");
      }
    }
    return out.toByteArray();
  }

  private static boolean isOctal(byte b) {
    return b >= '0' && b <= '7';
  }

  /// Digits from an index on; blanks between bytes are allowed.
  public static byte[] parseHex(String text, int from) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(text.length() / 2);
    int i = from;
    while (i < text.length()) {
      char c = text.charAt(i);
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        i++;
        continue;
      }
      int high = hexDigit(text, i);
      if (i + 1 >= text.length()) {
        throw SqlErrors.invalidParameter("invalid hexadecimal data: odd number of digits");
      }
      out.write(high << 4 | hexDigit(text, i + 1));
      i += 2;
    }
    return out.toByteArray();
  }

  private static int hexDigit(String text, int at) {
    char c = text.charAt(at);
    if (!HexFormat.isHexDigit(c)) {
      throw SqlErrors.invalidParameter(
          "invalid hexadecimal digit: \"" + Character.toString(text.codePointAt(at)) + "\"");
    }
    return HexFormat.fromHexDigit(c);
  }

  public static String uuidText(byte[] bytes) {
    String hex = HEX.formatHex(bytes);
    return hex.substring(0, 8)
        + '-'
        + hex.substring(8, 12)
        + '-'
        + hex.substring(12, 16)
        + '-'
        + hex.substring(16, 20)
        + '-'
        + hex.substring(20);
  }

  /// 32 digits, hyphens after any group of four, optional braces.
  public static byte[] parseUuid(String text) {
    boolean braces = text.startsWith("{") && text.endsWith("}");
    String body = braces ? text.substring(1, text.length() - 1) : text;
    byte[] bytes = new byte[UUID_BYTES];
    int at = 0;
    for (int i = 0; i < UUID_BYTES; i++) {
      if (at + 2 > body.length()
          || !HexFormat.isHexDigit(body.charAt(at))
          || !HexFormat.isHexDigit(body.charAt(at + 1))) {
        throw ValueErrors.invalidSyntax("uuid", text);
      }
      bytes[i] = (byte) HexFormat.fromHexDigits(body, at, at + 2);
      at += 2;
      if (i % 2 == 1 && i < UUID_BYTES - 1 && at < body.length() && body.charAt(at) == '-') {
        at++;
      }
    }
    if (at != body.length()) {
      throw ValueErrors.invalidSyntax("uuid", text);
    }
    return bytes;
  }
}
