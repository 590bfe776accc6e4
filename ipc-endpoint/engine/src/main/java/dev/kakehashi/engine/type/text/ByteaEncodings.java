package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.ByteStrings;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;

/// encode() and decode(): hex, escape and base64 with a line feed after each 76 characters (RFC 2045), as PostgreSQL's encode.c.
final class ByteaEncodings {
  private static final int LINE_CHARACTERS = 76;

  private ByteaEncodings() {}

  static long encode(long bytes, long format, VarHeap heap) {
    byte[] data = Varlena.bytes(bytes);
    return switch (name(format)) {
      case "hex" -> Varlena.of(heap, HexFormat.of().formatHex(data));
      case "base64" -> Varlena.of(heap, toBase64(data));
      case "escape" -> Varlena.of(heap, escape(data));
      default -> throw unrecognized(format);
    };
  }

  static long decode(long text, long format, VarHeap heap) {
    String in = Varlena.string(text);
    return switch (name(format)) {
      case "hex" -> Varlena.of(heap, ByteStrings.parseHex(in, 0));
      case "base64" -> Varlena.of(heap, fromBase64(in));
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
  private static byte[] fromBase64(String in) {
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
            throw SqlErrors.invalidParameter("unexpected \"=\" while decoding base64 sequence");
          }
          padded = position - 1;
        }
      } else {
        value = base64Digit(in, i);
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
    if (position != 0) {
      throw SqlErrors.invalidParameter("invalid base64 end sequence")
          .withHint("Input data is missing padding, is truncated, or is otherwise corrupted.");
    }
    return out.toByteArray();
  }

  private static int base64Digit(String in, int at) {
    char c = in.charAt(at);
    int digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".indexOf(c);
    if (digit < 0) {
      throw SqlErrors.invalidParameter(
          "invalid symbol \""
              + Character.toString(in.codePointAt(at))
              + "\" found while decoding base64 sequence");
    }
    return digit;
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
