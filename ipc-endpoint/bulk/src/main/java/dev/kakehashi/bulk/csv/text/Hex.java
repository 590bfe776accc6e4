package dev.kakehashi.bulk.csv.text;

/// Hexadecimal digits.
final class Hex {
  private static final byte[] DIGITS = new byte[256];

  static {
    for (int i = 0; i < DIGITS.length; i++) {
      DIGITS[i] = (byte) (i < 128 ? Character.digit(i, 16) : -1);
    }
  }

  private Hex() {}

  /// Its value; -1: it is none.
  static int digit(byte each) {
    return DIGITS[each & 0xFF];
  }
}
