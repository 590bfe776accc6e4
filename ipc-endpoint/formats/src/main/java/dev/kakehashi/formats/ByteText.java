package dev.kakehashi.formats;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/// bytea and uuid as PostgreSQL writes them.
public final class ByteText {
  /// Length of a uuid.
  public static final int UUID_BYTES = 36;

  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final int PIECE = 1 << 10;

  private ByteText() {}

  public static int putUuid(byte[] bytes, int at, MemorySegment memory, long from) {
    int next = at;
    for (int i = 0; i < 16; i++) {
      if (i == 4 || i == 6 || i == 8 || i == 10) {
        bytes[next++] = '-';
      }
      next = putByte(bytes, next, memory.get(ValueLayout.JAVA_BYTE, from + i));
    }
    return next;
  }

  /// Two digits a byte, without a prefix.
  public static void putHex(Output out, MemorySegment memory, long from, int length)
      throws IOException {
    for (int done = 0; done < length; done += PIECE) {
      int piece = Math.min(PIECE, length - done);
      out.need(2 * piece);
      int next = out.at;
      for (int i = 0; i < piece; i++) {
        next = putByte(out.bytes, next, memory.get(ValueLayout.JAVA_BYTE, from + done + i));
      }
      out.at = next;
    }
  }

  private static int putByte(byte[] bytes, int at, byte value) {
    bytes[at] = HEX[value >>> 4 & 0xF];
    bytes[at + 1] = HEX[value & 0xF];
    return at + 2;
  }
}
