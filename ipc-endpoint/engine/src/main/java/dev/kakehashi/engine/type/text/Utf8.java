package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.type.RawMemory;

/// UTF-8 at native addresses. Texts are valid UTF-8: they were checked when they came in.
public final class Utf8 {
  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /// Bytes of the character that begins at an address.
  public static int characterBytes(long address) {
    int first = RawMemory.getByte(address);
    if (first >= 0) {
      return 1;
    }
    if ((first & 0xE0) == 0xC0) {
      return 2;
    }
    return (first & 0xF0) == 0xE0 ? 3 : 4;
  }

  public static boolean isAscii(long address, long bytes) {
    long at = 0;
    for (; at + 8 <= bytes; at += 8) {
      if ((RawMemory.getLong(address + at) & HIGH_BITS) != 0) {
        return false;
      }
    }
    for (; at < bytes; at++) {
      if (RawMemory.getByte(address + at) < 0) {
        return false;
      }
    }
    return true;
  }

  /// Number of characters.
  public static int count(long address, int bytes) {
    int continuation = 0;
    int at = 0;
    for (; at + 8 <= bytes; at += 8) {
      long word = RawMemory.getLong(address + at);
      // A continuation byte is 10xxxxxx.
      continuation += Long.bitCount(word & ~(word << 1) & HIGH_BITS);
    }
    for (; at < bytes; at++) {
      if ((RawMemory.getByte(address + at) & 0xC0) == 0x80) {
        continuation++;
      }
    }
    return bytes - continuation;
  }

  /// Bytes of the first `characters` characters, or all when there are fewer.
  public static int prefixBytes(long address, int bytes, long characters) {
    if (characters >= bytes) {
      return bytes;
    }
    if (isAscii(address, characters)) {
      // Only true when the first characters are one byte each.
      return (int) characters;
    }
    int at = 0;
    for (long i = 0; i < characters && at < bytes; i++) {
      at += characterBytes(address + at);
    }
    return Math.min(at, bytes);
  }

  /// Code point of the character that begins at an address.
  public static int codePoint(long address) {
    int first = RawMemory.getByte(address);
    return switch (characterBytes(address)) {
      case 1 -> first;
      case 2 -> (first & 0x1F) << 6 | (RawMemory.getByte(address + 1) & 0x3F);
      case 3 ->
          (first & 0x0F) << 12
              | (RawMemory.getByte(address + 1) & 0x3F) << 6
              | (RawMemory.getByte(address + 2) & 0x3F);
      default ->
          (first & 0x07) << 18
              | (RawMemory.getByte(address + 1) & 0x3F) << 12
              | (RawMemory.getByte(address + 2) & 0x3F) << 6
              | (RawMemory.getByte(address + 3) & 0x3F);
    };
  }
}
