package dev.kakehashi.applications.link;

/// First byte of a value in a message.
final class ValueTag {
  static final byte NULL = 0;
  static final byte FALSE = 1;
  static final byte TRUE = 2;
  static final byte SHORT = 3;
  static final byte INT = 4;
  static final byte LONG = 5;
  static final byte FLOAT = 6;
  static final byte DOUBLE = 7;
  static final byte DECIMAL = 8;
  static final byte TEXT = 9;
  static final byte BYTES = 10;
  static final byte DATE = 11;
  static final byte TIME = 12;
  static final byte TIMESTAMP = 13;
  static final byte INSTANT = 14;
  static final byte DURATION = 15;
  static final byte UUID = 16;
  static final byte ARRAY = 17;

  /// A decimal whose digits fit a long.
  static final byte SMALL_DECIMAL = 18;

  private ValueTag() {}
}
