package dev.kakehashi.formats;

import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.valuetext.number.Digits;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// PostgreSQL's numeric, written in place.
final class NumericText {
  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int GROUP = 4;

  private NumericText() {}

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
      out.at = Digits.putDigits(out.bytes, out.at, digit(view, digitsAt, 0, count));
      for (int i = 1; i <= weight; i++) {
        out.need(GROUP);
        out.at = Digits.putFour(out.bytes, out.at, digit(view, digitsAt, i, count));
      }
    }
    if (scale > 0) {
      out.put('.');
      int group = weight + 1;
      for (int written = 0; written < scale; written += GROUP) {
        out.need(GROUP);
        Digits.putFour(out.bytes, out.at, digit(view, digitsAt, group++, count));
        out.at += Math.min(GROUP, scale - written);
      }
    }
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
