package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Kind;
import java.math.BigDecimal;
import java.math.BigInteger;

/// Decimals of a file.
final class FileDecimals {
  private FileDecimals() {}

  /// Whether a value's unscaled number is a long: then [#unscaledLong] is it.
  static boolean isLong(FileValues values, int index) {
    if (values.type().kind() == Kind.DECIMAL) {
      return true;
    }
    byte[] bytes = values.bytes();
    int start = values.starts()[index];
    int length = values.lengths()[index];
    if (length <= Long.BYTES) {
      return length > 0;
    }
    boolean bigEndian = values.type().kind() == Kind.DECIMAL_BIG_ENDIAN;
    int extra = length - Long.BYTES;
    int from = bigEndian ? start : start + Long.BYTES;
    int top = bigEndian ? start + extra : start + Long.BYTES - 1;
    int sign = bytes[top] >> 7;
    for (int i = from; i < from + extra; i++) {
      if (bytes[i] != sign) {
        return false;
      }
    }
    return true;
  }

  /// The unscaled number of a value for which [#isLong] holds.
  static long unscaledLong(FileValues values, int index) {
    if (values.type().kind() == Kind.DECIMAL) {
      return values.longs()[index];
    }
    byte[] bytes = values.bytes();
    int start = values.starts()[index];
    int length = values.lengths()[index];
    int taken = Math.min(length, Long.BYTES);
    if (values.type().kind() == Kind.DECIMAL_BIG_ENDIAN) {
      int from = start + length - taken;
      long value = bytes[from];
      for (int i = 1; i < taken; i++) {
        value = (value << 8) | (bytes[from + i] & 0xFF);
      }
      return value;
    }
    long value = bytes[start + taken - 1];
    for (int i = taken - 2; i >= 0; i--) {
      value = (value << 8) | (bytes[start + i] & 0xFF);
    }
    return value;
  }

  static BigDecimal of(FileValues values, int index) {
    int scale = values.type().scale();
    if (isLong(values, index)) {
      return BigDecimal.valueOf(unscaledLong(values, index), scale);
    }
    int start = values.starts()[index];
    int length = values.lengths()[index];
    if (length == 0) {
      return BigDecimal.valueOf(0, scale);
    }
    if (values.type().kind() == Kind.DECIMAL_BIG_ENDIAN) {
      return new BigDecimal(new BigInteger(values.bytes(), start, length), scale);
    }
    byte[] reversed = new byte[length];
    for (int i = 0; i < length; i++) {
      reversed[i] = values.bytes()[start + length - 1 - i];
    }
    return new BigDecimal(new BigInteger(reversed), scale);
  }
}
