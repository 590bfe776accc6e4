package dev.kakehashi.bulk.parquet.write;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.value.PgNumeric;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteOrder;

/// Makes unscaled numbers of one scale from PostgreSQL's base-10000 digits. Exact, or refused.
final class DecimalDigits {
  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int BASE = 10_000;
  private static final int GROUP = 4;
  private static final int LONG_DIGITS = 18;
  private static final long[] POWERS = new long[LONG_DIGITS + 1];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = 10 * POWERS[i - 1];
    }
  }

  private DecimalDigits() {}

  /// Whether a numeric is NaN or an infinity.
  ///
  /// @param from a numeric's payload of `length` bytes
  static boolean isSpecial(MemorySegment memory, long from, int length) {
    if (length < 2 || (length & 1) != 0) {
      throw malformed();
    }
    return (memory.get(U16, from) & 0xC000) == 0xC000;
  }

  /// The unscaled number of a numeric that is finite.
  ///
  /// @param precision up to 18
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE for more digits
  static long unscaled(MemorySegment memory, long from, int length, int precision, int scale) {
    int header = memory.get(U16, from) & 0xFFFF;
    boolean isShort = (header & 0x8000) != 0;
    int headerBytes = isShort ? 2 : 4;
    if (length < headerBytes) {
      throw malformed();
    }
    int weight =
        isShort
            ? (header & 0x40) != 0 ? (header & 0x3F) | ~0x3F : header & 0x3F
            : memory.get(U16, from + 2);
    boolean negative = (header & (isShort ? 0x2000 : 0x4000)) != 0;
    int count = (length - headerBytes) / 2;
    long digitsAt = from + headerBytes;
    long value = 0;
    for (int i = 0; i < count; i++) {
      int digit = memory.get(U16, digitsAt + 2L * i) & 0xFFFF;
      if (digit >= BASE) {
        throw malformed();
      }
      // Decimal places that the last digit of this group is to the left of the unscaled number's.
      int shift = GROUP * (weight - i) + scale;
      if (digit == 0) {
        continue;
      }
      if (shift >= 0) {
        // Each group is below 10^18 at its place, so their sum is, too.
        if (shift >= LONG_DIGITS || digit >= POWERS[LONG_DIGITS - shift]) {
          throw tooLong(precision, scale);
        }
        value += digit * POWERS[shift];
      } else {
        int cut = -shift;
        if (cut >= GROUP || digit % POWERS[cut] != 0) {
          throw tooLong(precision, scale);
        }
        value += digit / POWERS[cut];
      }
    }
    if (value >= POWERS[precision]) {
      throw tooLong(precision, scale);
    }
    return negative ? -value : value;
  }

  /// Writes the unscaled number of a numeric that is finite.
  ///
  /// @param width bytes, most significant first
  static void put(
      ByteSpace out,
      MemorySegment memory,
      long from,
      int length,
      int precision,
      int scale,
      int width) {
    BigInteger unscaled;
    try {
      BigDecimal value = PgNumeric.decode(memory, from, length).bigDecimal();
      if ((long) value.precision() - value.scale() > precision - scale && value.signum() != 0) {
        throw tooLong(precision, scale);
      }
      BigDecimal plain = value.stripTrailingZeros();
      if (plain.scale() > scale) {
        throw tooLong(precision, scale);
      }
      unscaled = plain.setScale(scale).unscaledValue();
    } catch (IllegalArgumentException e) {
      throw new MalformedFrameException(String.valueOf(e.getMessage()));
    }
    byte[] bytes = unscaled.toByteArray();
    out.need(width);
    java.util.Arrays.fill(
        out.bytes,
        out.length,
        out.length + width - bytes.length,
        (byte) (unscaled.signum() < 0 ? -1 : 0));
    System.arraycopy(bytes, 0, out.bytes, out.length + width - bytes.length, bytes.length);
    out.length += width;
  }

  private static MalformedFrameException malformed() {
    return new MalformedFrameException("value is no numeric");
  }

  private static EngineException tooLong(int precision, int scale) {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        "a number has more digits than numeric(" + precision + "," + scale + ") holds");
  }
}
