package dev.kakehashi.formats;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.util.Arrays;

/// Makes a decimal of fixed precision and scale, little-endian two's complement, from PostgreSQL's base-10000 digits. Exact, or refused.
/// Not thread-safe.
final class ArrowDecimal {
  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int BASE = 10_000;
  private static final int GROUP = 4;
  private static final int LIMBS = 8;
  private static final long LIMB_MASK = 0xFFFF_FFFFL;
  private static final int LONG_DIGITS = 18;
  private static final int[] POWERS = {1, 10, 100, 1000};

  private final int precision;
  private final int scale;

  /// 10^precision, the first number that does not fit.
  private final int[] end = new int[LIMBS];

  /// The same, if it is a long.
  private final long endOfLong;

  private final int[] limbs = new int[LIMBS];

  ArrowDecimal(int precision, int scale) {
    this.precision = precision;
    this.scale = scale;
    BigInteger power = BigInteger.TEN.pow(precision);
    endOfLong = power.longValue();
    for (int i = 0; i < LIMBS; i++) {
      end[i] = power.shiftRight(32 * i).intValue();
    }
  }

  /// Writes a number of `width` bytes, 16 or 32.
  ///
  /// @param from a numeric's payload of `length` bytes
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE for NaN, an infinity, and a number of more digits
  /// @throws MalformedFrameException when it is no numeric
  void put(byte[] data, int at, int width, MemorySegment memory, long from, int length) {
    if (length < 2 || (length & 1) != 0) {
      throw new MalformedFrameException("value is no numeric");
    }
    int header = memory.get(U16, from) & 0xFFFF;
    if ((header & 0xC000) == 0xC000) {
      throw outOfRange("NaN and the infinities have no form in an Arrow decimal")
          .withHint(ArrowColumn.MISSING_HINT);
    }
    boolean isShort = (header & 0xC000) == 0x8000;
    int headerBytes = isShort ? 2 : 4;
    if (length < headerBytes) {
      throw new MalformedFrameException("value is no numeric");
    }
    int weight =
        isShort
            ? (header & 0x40) != 0 ? (header & 0x3F) | ~0x3F : header & 0x3F
            : memory.get(U16, from + 2);
    boolean negative = (header & (isShort ? 0x2000 : 0x4000)) != 0;
    int count = (length - headerBytes) / 2;
    long digitsAt = from + headerBytes;
    // The last group that is taken, and how many of its digits.
    int last = weight + (scale + GROUP - 1) / GROUP;
    int partial = scale % GROUP;
    for (int i = Math.max(0, last + 1); i < count; i++) {
      if (digit(memory, digitsAt, i) != 0) {
        throw tooLong();
      }
    }
    if (GROUP * (weight + 1L) + scale <= LONG_DIGITS) {
      long value = 0;
      for (int i = 0; i <= last; i++) {
        int digit = i < count ? digit(memory, digitsAt, i) : 0;
        value = i == last && partial != 0 ? append(value, digit, partial) : BASE * value + digit;
      }
      if (precision <= LONG_DIGITS && value >= endOfLong) {
        throw tooLong();
      }
      putLong(data, at, width, negative ? -value : value);
      return;
    }
    if (GROUP * (long) weight > precision) {
      throw tooLong();
    }
    limbs(memory, digitsAt, count, last, partial);
    putLimbs(data, at, width, negative);
  }

  private static long append(long value, int digit, int digits) {
    int rest = POWERS[GROUP - digits];
    if (digit % rest != 0) {
      throw tooLong();
    }
    return POWERS[digits] * value + digit / rest;
  }

  private static void putLong(byte[] data, int at, int width, long value) {
    ArrowColumn.LONGS.set(data, at, value);
    for (int i = 8; i < width; i += 8) {
      ArrowColumn.LONGS.set(data, at + i, value >> 63);
    }
  }

  private void limbs(MemorySegment memory, long digitsAt, int count, int last, int partial) {
    Arrays.fill(limbs, 0);
    for (int i = 0; i <= last; i++) {
      int digit = i < count ? digit(memory, digitsAt, i) : 0;
      if (i == last && partial != 0) {
        int rest = POWERS[GROUP - partial];
        if (digit % rest != 0) {
          throw tooLong();
        }
        multiplyAndAdd(POWERS[partial], digit / rest);
      } else {
        multiplyAndAdd(BASE, digit);
      }
    }
    for (int i = LIMBS - 1; i >= 0; i--) {
      int order = Integer.compareUnsigned(limbs[i], end[i]);
      if (order < 0) {
        return;
      }
      if (order > 0) {
        break;
      }
    }
    throw tooLong();
  }

  private void multiplyAndAdd(int factor, int summand) {
    long carry = summand;
    for (int i = 0; i < LIMBS; i++) {
      long product = (limbs[i] & LIMB_MASK) * factor + carry;
      limbs[i] = (int) product;
      carry = product >>> 32;
    }
    if (carry != 0) {
      throw tooLong();
    }
  }

  private void putLimbs(byte[] data, int at, int width, boolean negative) {
    long carry = 1;
    for (int i = 0; i < width / 4; i++) {
      int limb = limbs[i];
      if (negative) {
        long complement = (~limb & LIMB_MASK) + carry;
        limb = (int) complement;
        carry = complement >>> 32;
      }
      ArrowColumn.INTS.set(data, at + 4 * i, limb);
    }
  }

  private static int digit(MemorySegment memory, long digitsAt, int index) {
    int digit = memory.get(U16, digitsAt + 2L * index) & 0xFFFF;
    if (digit >= BASE) {
      throw new MalformedFrameException("value is no numeric");
    }
    return digit;
  }

  private static EngineException tooLong() {
    return outOfRange("a number has more digits than its column declares");
  }

  private static EngineException outOfRange(String message) {
    return new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, message)
        .withHint("Cast the column to text.");
  }
}
