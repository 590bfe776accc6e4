package dev.kakehashi.rest.json;

import dev.kakehashi.rest.problem.Problem;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Whether bytes are UTF-8 text. Stateless.
///
/// The JSON parser guesses UTF-16 and UTF-32 by zero bytes and takes some malformed UTF-8: both are refused here, before it.
public final class Utf8Text {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long LOW_BITS = 0x0101010101010101L;

  private Utf8Text() {}

  /// @throws Problem 400: it is not, or has a zero byte
  public static void check(byte[] bytes) {
    int at = 0;
    // A zero byte borrows from its high bit. So do bytes beside it, which the slow way sorts out.
    while (at + Long.BYTES <= bytes.length) {
      long word = (long) LONGS.get(bytes, at);
      if (((word | word - LOW_BITS) & HIGH_BITS) != 0) {
        checkSlowly(bytes);
        return;
      }
      at += Long.BYTES;
    }
    for (; at < bytes.length; at++) {
      if (bytes[at] <= 0) {
        checkSlowly(bytes);
        return;
      }
    }
  }

  private static void checkSlowly(byte[] bytes) {
    for (byte b : bytes) {
      if (b == 0) {
        throw broken();
      }
    }
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
    } catch (CharacterCodingException e) {
      throw broken();
    }
  }

  private static Problem broken() {
    return Problem.of(400, "broken-utf-8", "Broken UTF-8", "the body is not UTF-8");
  }

  static boolean hasLoneSurrogate(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean isPair =
            Character.isHighSurrogate(c)
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!isPair) {
          return true;
        }
        i++;
      }
    }
    return false;
  }
}
