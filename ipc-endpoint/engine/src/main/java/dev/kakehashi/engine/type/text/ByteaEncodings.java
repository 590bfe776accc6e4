package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.ByteStrings;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;

/// encode() and decode() as PostgreSQL's: hex, escape, base64 with a line feed after each 76 characters (RFC 2045), base64url and base32hex
/// (RFC 4648).
final class ByteaEncodings {
  private static final int LINE_CHARACTERS = 76;

  private static final String BASE64 =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  private static final String BASE32_HEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV";

  private ByteaEncodings() {}

  static long encode(long bytes, long format, VarHeap heap) {
    byte[] data = Varlena.bytes(bytes);
    return switch (name(format)) {
      case "hex" -> Varlena.of(heap, HexFormat.of().formatHex(data));
      case "base64" -> Varlena.of(heap, toBase64(data));
      case "base64url" ->
          Varlena.of(heap, Base64.getUrlEncoder().withoutPadding().encodeToString(data));
      case "base32hex" -> Varlena.of(heap, toBase32(data));
      case "escape" -> Varlena.of(heap, escape(data));
      default -> throw unrecognized(format);
    };
  }

  static long decode(long text, long format, VarHeap heap) {
    String in = Varlena.string(text);
    return switch (name(format)) {
      case "hex" -> Varlena.of(heap, ByteStrings.parseHex(in, 0));
      case "base64" -> Varlena.of(heap, fromBase64(in, false));
      case "base64url" -> Varlena.of(heap, fromBase64(in, true));
      case "base32hex" -> Varlena.of(heap, fromBase32(in));
      case "escape" -> Varlena.of(heap, ByteStrings.parseEscaped(in));
      default -> throw unrecognized(format);
    };
  }

  private static String name(long format) {
    return Varlena.string(format).toLowerCase(Locale.ROOT);
  }

  private static RuntimeException unrecognized(long format) {
    return SqlErrors.invalidParameter("unrecognized encoding: \"" + Varlena.string(format) + "\"");
  }

  private static String toBase64(byte[] data) {
    String all = Base64.getEncoder().encodeToString(data);
    // A group of fewer than three bytes at the end is never followed by a line feed, a full one is.
    int fullGroups = data.length / 3 * 4;
    StringBuilder out = new StringBuilder(all.length() + all.length() / LINE_CHARACTERS);
    for (int at = 0; at < all.length(); at += LINE_CHARACTERS) {
      int end = Math.min(all.length(), at + LINE_CHARACTERS);
      out.append(all, at, end);
      if (end - at == LINE_CHARACTERS && end <= fullGroups) {
        out.append('\n');
      }
    }
    return out.toString();
  }

  /// Blanks are skipped; after the padding more groups may follow, which PostgreSQL accepts, too.
  ///
  /// @param url of base64url, whose last group may be without padding
  private static byte[] fromBase64(String in, boolean url) {
    String encoding = url ? "base64url" : "base64";
    ByteArrayOutputStream out = new ByteArrayOutputStream(in.length());
    int group = 0;
    int position = 0;
    int padded = 0; // 0: no '=' yet, otherwise how many bytes of a group count
    for (int i = 0; i < in.length(); i++) {
      char c = in.charAt(i);
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        continue;
      }
      int value = 0;
      if (c == '=') {
        if (padded == 0) {
          if (position != 2 && position != 3) {
            throw unexpectedPadding(encoding);
          }
          padded = position - 1;
        }
      } else {
        value = base64Digit(in, i, url, encoding);
      }
      group = group << 6 | value;
      if (++position == 4) {
        int count = padded == 0 ? 3 : padded;
        for (int b = 0; b < count; b++) {
          out.write(group >> (16 - 8 * b));
        }
        group = 0;
        position = 0;
      }
    }
    if (url && position > 1) {
      group <<= 6 * (4 - position);
      for (int b = 0; b < position - 1; b++) {
        out.write(group >> (16 - 8 * b));
      }
      position = 0;
    }
    if (position != 0) {
      throw SqlErrors.invalidParameter("invalid " + encoding + " end sequence")
          .withHint("Input data is missing padding, is truncated, or is otherwise corrupted.");
    }
    return out.toByteArray();
  }

  private static EngineException unexpectedPadding(String encoding) {
    return SqlErrors.invalidParameter("unexpected \"=\" while decoding " + encoding + " sequence");
  }

  private static EngineException invalidSymbol(String in, int at, String encoding) {
    return SqlErrors.invalidParameter(
        "invalid symbol \""
            + Character.toString(in.codePointAt(at))
            + "\" found while decoding "
            + encoding
            + " sequence");
  }

  /// @param url whether `-` and `_` are digits, too
  private static int base64Digit(String in, int at, boolean url, String encoding) {
    char c = in.charAt(at);
    int digit = BASE64.indexOf(url && c == '-' ? '+' : url && c == '_' ? '/' : c);
    if (digit < 0) {
      throw invalidSymbol(in, at, encoding);
    }
    return digit;
  }

  private static String toBase32(byte[] data) {
    StringBuilder out = new StringBuilder((data.length + 4) / 5 * 8);
    long bits = 0;
    int count = 0;
    for (byte each : data) {
      bits = bits << 8 | (each & 0xFF);
      for (count += 8; count >= 5; count -= 5) {
        out.append(BASE32_HEX.charAt((int) (bits >> (count - 5)) & 31));
      }
    }
    if (count > 0) {
      out.append(BASE32_HEX.charAt((int) (bits << (5 - count)) & 31));
    }
    while (out.length() % 8 != 0) {
      out.append('=');
    }
    return out.toString();
  }

  /// Padding may be of any length, and bits behind the last whole byte do not count, as in PostgreSQL.
  private static byte[] fromBase32(String in) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(in.length());
    long bits = 0;
    int digits = 0;
    boolean padded = false;
    for (int i = 0; i < in.length(); i++) {
      char c = in.charAt(i);
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        continue;
      }
      if (c == '=') {
        if (digits % 8 == 0 || !endsByte(digits)) {
          throw unexpectedPadding("base32hex");
        }
        padded = true;
        continue;
      }
      int value = BASE32_HEX.indexOf(Character.toUpperCase(c));
      if (padded || value < 0) {
        throw invalidSymbol(in, i, "base32hex");
      }
      bits = bits << 5 | value;
      digits++;
      if (endsByte(digits)) {
        out.write((int) (bits >> (digits * 5L % 8)));
      }
    }
    return out.toByteArray();
  }

  /// Whether the last of so many digits brings a byte to its end.
  private static boolean endsByte(int digits) {
    return digits * 5L % 8 < 5;
  }

  private static byte[] escape(byte[] data) {
    StringBuilder out = new StringBuilder(data.length);
    for (byte b : data) {
      if (b <= 0) {
        out.append(String.format(Locale.ROOT, "\\%03o", b & 0xFF));
      } else if (b == '\\') {
        out.append("\\\\");
      } else {
        out.append((char) b);
      }
    }
    return out.toString().getBytes(StandardCharsets.US_ASCII);
  }
}
