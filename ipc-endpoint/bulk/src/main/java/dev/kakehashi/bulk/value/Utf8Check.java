package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.StringJoiner;

/// Bytes as PostgreSQL's text: UTF-8 without U+0000.
public final class Utf8Check {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
  private static final long LOW_BITS = 0x0101_0101_0101_0101L;
  private static final int MAX_SHOWN = 4;

  private Utf8Check() {}

  /// @return whether all are ASCII
  /// @throws EngineException CHARACTER_NOT_IN_REPERTOIRE
  public static boolean check(byte[] bytes, int start, int length) {
    int end = start + length;
    int at = start;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      if (isSpecial((long) LONGS.get(bytes, at))) {
        return checkSlowly(bytes, at, end);
      }
    }
    int rest = end - at;
    if (rest == 0) {
      return true;
    }
    if (at + Long.BYTES <= bytes.length) {
      // The bytes behind the end are made ones.
      long mask = -1L >>> (Long.SIZE - rest * Byte.SIZE);
      long word = (long) LONGS.get(bytes, at);
      return !isSpecial((word & mask) | (LOW_BITS & ~mask)) || checkSlowly(bytes, at, end);
    }
    for (; at < end; at++) {
      if (bytes[at] <= 0) {
        return checkSlowly(bytes, at, end);
      }
    }
    return true;
  }

  /// Whether a byte is zero, or not ASCII.
  private static boolean isSpecial(long word) {
    return ((((word - LOW_BITS) & ~word) | word) & HIGH_BITS) != 0;
  }

  private static boolean checkSlowly(byte[] bytes, int start, int end) {
    boolean ascii = true;
    int at = start;
    while (at < end) {
      int first = bytes[at];
      if (first > 0) {
        at++;
        continue;
      }
      int length = sequence(bytes, at, end);
      if (length == 0) {
        throw refused(bytes, at, end);
      }
      ascii = false;
      at += length;
    }
    return ascii;
  }

  /// Bytes of the character; 0: it is none.
  private static int sequence(byte[] bytes, int at, int end) {
    int first = bytes[at] & 0xFF;
    int second = at + 1 < end ? bytes[at + 1] & 0xFF : 0;
    if (first >= 0xC2 && first <= 0xDF) {
      return isNext(bytes, at + 1, end) ? 2 : 0;
    }
    if (first >= 0xE0 && first <= 0xEF) {
      boolean allowed = first == 0xE0 ? second >= 0xA0 : first != 0xED || second < 0xA0;
      return allowed && isNext(bytes, at + 1, end) && isNext(bytes, at + 2, end) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
      boolean allowed = first == 0xF0 ? second >= 0x90 : first != 0xF4 || second < 0x90;
      return allowed
              && isNext(bytes, at + 1, end)
              && isNext(bytes, at + 2, end)
              && isNext(bytes, at + 3, end)
          ? 4
          : 0;
    }
    return 0;
  }

  private static boolean isNext(byte[] bytes, int at, int end) {
    return at < end && (bytes[at] & 0xC0) == 0x80;
  }

  private static EngineException refused(byte[] bytes, int at, int end) {
    int first = bytes[at] & 0xFF;
    int shown = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : MAX_SHOWN;
    StringJoiner hex = new StringJoiner(" ");
    for (int i = at; i < Math.min(end, at + shown); i++) {
      hex.add("0x%02x".formatted(bytes[i] & 0xFF));
    }
    return new EngineException(
        ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
        "invalid byte sequence for encoding \"UTF8\": " + hex);
  }

  /// Characters of bytes that have been checked.
  public static int characters(byte[] bytes, int start, int length) {
    int count = 0;
    for (int i = start; i < start + length; i++) {
      if ((bytes[i] & 0xC0) != 0x80) {
        count++;
      }
    }
    return count;
  }

  /// Where the character number `characters` begins, at most the end.
  public static int offsetOf(byte[] bytes, int start, int length, int characters) {
    int left = characters;
    int at = start;
    for (; at < start + length; at++) {
      if ((bytes[at] & 0xC0) != 0x80 && left-- == 0) {
        break;
      }
    }
    return at;
  }
}
