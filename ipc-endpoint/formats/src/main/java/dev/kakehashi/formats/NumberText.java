package dev.kakehashi.formats;

import dev.kakehashi.protocol.MalformedFrameException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Digits of integers and of PostgreSQL's numeric, written in place.
public final class NumberText {
  /// Longest integer.
  public static final int MAX_INTEGER_BYTES = 20;

  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /// "00", "01", … "99".
  private static final byte[] PAIRS = new byte[200];

  private static final int GROUP = 4;

  /// Most digits of a long.
  private static final int MOST_DIGITS = 19;

  static {
    for (int i = 0; i < 100; i++) {
      PAIRS[2 * i] = (byte) ('0' + i / 10);
      PAIRS[2 * i + 1] = (byte) ('0' + i % 10);
    }
  }

  private NumberText() {}

  /// Writes an integer; there must be room for MAX_INTEGER_BYTES.
  ///
  /// @return where it ends
  public static int putLong(byte[] bytes, int at, long value) {
    if (value >= 0) {
      return putDigits(bytes, at, value);
    }
    bytes[at] = '-';
    if (value == Long.MIN_VALUE) {
      int next = putDigits(bytes, at + 1, -(value / 10));
      bytes[next] = (byte) ('0' - value % 10);
      return next + 1;
    }
    return putDigits(bytes, at + 1, -value);
  }

  /// Writes a number that is not negative.
  public static int putDigits(byte[] bytes, int at, long value) {
    int end = at + digitCount(value);
    int next = end;
    long high = value;
    while (high > Integer.MAX_VALUE) {
      long quotient = high / 100;
      next = putPairBefore(bytes, next, (int) (high - quotient * 100));
      high = quotient;
    }
    int rest = (int) high;
    while (rest >= 100) {
      int quotient = hundredth(rest);
      next = putPairBefore(bytes, next, rest - quotient * 100);
      rest = quotient;
    }
    if (rest >= 10) {
      putPairBefore(bytes, next, rest);
    } else {
      bytes[next - 1] = (byte) ('0' + rest);
    }
    return end;
  }

  private static int putPairBefore(byte[] bytes, int end, int pair) {
    bytes[end - 1] = PAIRS[2 * pair + 1];
    bytes[end - 2] = PAIRS[2 * pair];
    return end - 2;
  }

  /// Quotient by 100 of an integer that is not negative: the JVM's first compiler divides by each constant.
  private static int hundredth(int value) {
    return (int) ((value * 1374389535L) >>> 37);
  }

  /// Digits of a number that is not negative.
  public static int digitCount(long value) {
    int count = 1;
    long least = 10;
    while (value >= least && count < MOST_DIGITS) {
      count++;
      least *= 10;
    }
    return count;
  }

  /// Writes the last two digits, with zeros in front.
  public static int putTwo(byte[] bytes, int at, int value) {
    bytes[at] = PAIRS[2 * value];
    bytes[at + 1] = PAIRS[2 * value + 1];
    return at + 2;
  }

  /// Writes `digits` digits of a number, with zeros in front.
  public static int putPadded(byte[] bytes, int at, long value, int digits) {
    long rest = value;
    int next = at + digits;
    for (; next > at + 1; next -= 2) {
      long quotient = rest > Integer.MAX_VALUE ? rest / 100 : hundredth((int) rest);
      putPairBefore(bytes, next, (int) (rest - quotient * 100));
      rest = quotient;
    }
    if (next > at) {
      bytes[at] = (byte) ('0' + rest);
    }
    return at + digits;
  }

  /// Whether a numeric is NaN or an infinity, which JSON has no number for.
  public static boolean isSpecial(MemorySegment memory, long at, int length) {
    return length >= 2 && (u16(memory, at) & 0xC000) == 0xC000;
  }

  /// Writes a numeric from its binary form (`NumericChoice`), as PostgreSQL does.
  ///
  /// @throws MalformedFrameException when it is none
  public static void putNumeric(Output out, BatchView view, long at, int length)
      throws IOException {
    if (length < 2 || (length & 1) != 0) {
      throw malformed();
    }
    int header = view.u16(at);
    if ((header & 0xC000) == 0xC000) {
      out.ascii(
          switch (header & 0xF000) {
            case 0xC000 -> "NaN";
            case 0xD000 -> "Infinity";
            case 0xF000 -> "-Infinity";
            default -> throw malformed();
          });
      return;
    }
    boolean isShort = (header & 0xC000) == 0x8000;
    int headerBytes = isShort ? 2 : 4;
    if (length < headerBytes) {
      throw malformed();
    }
    int scale = isShort ? header >>> 7 & 0x3F : header & 0x3FFF;
    int weight =
        isShort
            ? (header & 0x40) != 0 ? (header & 0x3F) | ~0x3F : header & 0x3F
            : (short) view.u16(at + 2);
    boolean negative = (header & (isShort ? 0x2000 : 0x4000)) != 0;
    int count = (length - headerBytes) / 2;
    long digitsAt = at + headerBytes;
    out.need(2 * GROUP);
    if (negative) {
      out.bytes[out.at++] = '-';
    }
    if (weight < 0) {
      out.bytes[out.at++] = '0';
    } else {
      out.at = putDigits(out.bytes, out.at, digit(view, digitsAt, 0, count));
      for (int i = 1; i <= weight; i++) {
        out.need(GROUP);
        out.at = putGroup(out.bytes, out.at, digit(view, digitsAt, i, count));
      }
    }
    if (scale > 0) {
      out.put('.');
      int group = weight + 1;
      for (int written = 0; written < scale; written += GROUP) {
        out.need(GROUP);
        putGroup(out.bytes, out.at, digit(view, digitsAt, group++, count));
        out.at += Math.min(GROUP, scale - written);
      }
    }
  }

  private static int putGroup(byte[] bytes, int at, int digit) {
    int high = hundredth(digit);
    return putTwo(bytes, putTwo(bytes, at, high), digit - 100 * high);
  }

  /// A base-10000 digit; 0 beyond those that are there.
  private static int digit(BatchView view, long digitsAt, int index, int count) {
    if (index < 0 || index >= count) {
      return 0;
    }
    int digit = view.u16(digitsAt + 2L * index);
    if (digit > 9999) {
      throw malformed();
    }
    return digit;
  }

  private static int u16(MemorySegment memory, long at) {
    return memory.get(U16, at) & 0xFFFF;
  }

  private static MalformedFrameException malformed() {
    return new MalformedFrameException("value is no numeric");
  }
}
