package dev.kakehashi.formats;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// Strings of JSON: what must be escaped is, all else goes through as UTF-8.
final class JsonText {
  static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101_0101_0101_0101L;
  private static final long HIGHS = 0x8080_8080_8080_8080L;
  private static final long QUOTES = ONES * '"';
  private static final long BACKSLASHES = ONES * '\\';
  private static final long CONTROLS = ONES * 0x20;
  private static final int PIECE = 1 << 10;

  /// Longest escape.
  private static final int MAX_ESCAPE = 6;

  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private JsonText() {}

  /// Writes a string with its quotes.
  static void putString(Output out, MemorySegment memory, long from, long length)
      throws IOException {
    out.put('"');
    putEscaped(out, memory, from, length);
    out.put('"');
  }

  /// A string with its quotes in UTF-8.
  static byte[] quoted(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    byte[] escaped = new byte[MAX_ESCAPE * utf8.length + 2];
    int at = 0;
    escaped[at++] = '"';
    for (byte each : utf8) {
      at = putByte(escaped, at, each);
    }
    escaped[at++] = '"';
    return java.util.Arrays.copyOf(escaped, at);
  }

  private static void putEscaped(Output out, MemorySegment memory, long from, long length)
      throws IOException {
    long next = from;
    long end = from + length;
    while (next < end) {
      long pieceEnd = Math.min(end, next + PIECE);
      out.need(MAX_ESCAPE * (int) (pieceEnd - next));
      byte[] bytes = out.bytes;
      int at = out.at;
      while (next + 8 <= pieceEnd) {
        long eight = memory.get(BatchView.I64, next);
        if (isPlain(eight)) {
          LONGS.set(bytes, at, eight);
          at += 8;
        } else {
          for (int i = 0; i < 8; i++) {
            at = putByte(bytes, at, (byte) (eight >>> (8 * i)));
          }
        }
        next += 8;
      }
      for (; next < pieceEnd; next++) {
        at = putByte(bytes, at, memory.get(ValueLayout.JAVA_BYTE, next));
      }
      out.at = at;
    }
  }

  /// Whether none of eight bytes is a quote, a backslash or a control character.
  private static boolean isPlain(long eight) {
    long quotes = eight ^ QUOTES;
    long backslashes = eight ^ BACKSLASHES;
    long found =
        ((quotes - ONES) & ~quotes)
            | ((backslashes - ONES) & ~backslashes)
            | ((eight - CONTROLS) & ~eight);
    return (found & HIGHS) == 0;
  }

  static int putByte(byte[] bytes, int at, byte value) {
    if (value == '"' || value == '\\') {
      bytes[at] = '\\';
      bytes[at + 1] = value;
      return at + 2;
    }
    if (value >= 0x20 || value < 0) {
      bytes[at] = value;
      return at + 1;
    }
    bytes[at] = '\\';
    byte letter =
        switch (value) {
          case '\b' -> 'b';
          case '\f' -> 'f';
          case '\n' -> 'n';
          case '\r' -> 'r';
          case '\t' -> 't';
          default -> 'u';
        };
    bytes[at + 1] = letter;
    if (letter != 'u') {
      return at + 2;
    }
    bytes[at + 2] = '0';
    bytes[at + 3] = '0';
    bytes[at + 4] = HEX[value >>> 4];
    bytes[at + 5] = HEX[value & 0xF];
    return at + MAX_ESCAPE;
  }

  /// Writes a JSON text as it is, on one line: line ends between its parts become blanks. Within strings there are none.
  static void putEmbedded(Output out, MemorySegment memory, long from, long length)
      throws IOException {
    long next = from;
    long end = from + length;
    while (next < end) {
      long pieceEnd = Math.min(end, next + PIECE);
      out.need((int) (pieceEnd - next));
      int begin = out.at;
      out.put(memory, next, pieceEnd - next);
      for (int i = begin; i < out.at; i++) {
        if (out.bytes[i] == '\n' || out.bytes[i] == '\r') {
          out.bytes[i] = ' ';
        }
      }
      next = pieceEnd;
    }
  }
}
