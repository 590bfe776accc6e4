package dev.kakehashi.client.direct;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// From a numeric that lies in a word, as the store's `CompactWord` has it, to PostgreSQL's digits. Stateless.
final class InlineNumeric {
  /// Longest one behind a varlena's header.
  static final int MOST_BYTES = 16;

  private static final int SCALE_SHIFT = 3;
  private static final int SCALE_MASK = 0x3F;
  private static final int NUMERIC_SHIFT = 9;
  private static final int BASE = 10_000;

  /// Decimal digits of a digit.
  private static final int DECIMALS = 4;

  /// 55 bits have 17 decimal digits, of which some may be in a digit of their own behind the others.
  private static final int MOST_DIGITS = 6;

  // PostgreSQL's NumericShort.
  private static final int SHORT = 0x8000;
  private static final int SHORT_NEGATIVE = 0x2000;
  private static final int SHORT_SCALE_SHIFT = 7;
  private static final int SHORT_WEIGHT_MASK = 0x7F;

  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int[] POWERS = {1, 10, 100, 1000, BASE};

  private InlineNumeric() {}

  /// Writes a numeric as PostgreSQL has it behind a varlena's header.
  ///
  /// @param to has room for [#MOST_BYTES]
  /// @return its bytes
  static int write(long word, MemorySegment to) {
    long unscaled = word >> NUMERIC_SHIFT;
    long rest = Math.abs(unscaled);
    int scale = (int) (word >>> SCALE_SHIFT) & SCALE_MASK;
    int odd = scale % DECIMALS;
    int weight = -((scale + DECIMALS - 1) / DECIMALS); // of the next digit, from the least one on
    int count = 0;
    // Digits are written from the end of the room to its begin, then moved.
    if (odd != 0) {
      int digit = (int) (rest % POWERS[odd]) * POWERS[DECIMALS - odd];
      rest /= POWERS[odd];
      if (digit != 0) {
        put(to, ++count, digit);
      }
      weight++;
    }
    for (; rest != 0; rest /= BASE, weight++) {
      int digit = (int) (rest % BASE);
      // Zeros behind the others are left out.
      if (digit != 0 || count > 0) {
        put(to, ++count, digit);
      }
    }
    int header =
        SHORT
            | (unscaled < 0 ? SHORT_NEGATIVE : 0)
            | scale << SHORT_SCALE_SHIFT
            | (count == 0 ? 0 : (weight - 1) & SHORT_WEIGHT_MASK);
    to.set(U16, 0, (short) header);
    MemorySegment.copy(to, placeOf(count), to, Short.BYTES, (long) count * Short.BYTES);
    return Short.BYTES + count * Short.BYTES;
  }

  private static void put(MemorySegment to, int number, int digit) {
    to.set(U16, placeOf(number), (short) digit);
  }

  private static long placeOf(int number) {
    return Short.BYTES + (long) (MOST_DIGITS - number) * Short.BYTES;
  }
}
