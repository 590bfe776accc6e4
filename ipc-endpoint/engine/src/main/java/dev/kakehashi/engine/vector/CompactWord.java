package dev.kakehashi.engine.vector;

import org.agrona.UnsafeApi;

/// Small values of by-reference types that lie in the word itself. Addresses of values are multiples of 8, so the low three bits of a word
/// say what it is:
///
/// ```
/// ... 000   address of the value; 0: null
/// ... 001   bytes:   bits 3 to 7 their number, 0 to 7; then the bytes, the first one lowest
/// ... 010   numeric: bits 3 to 8 digits after the point, 0 to 18; then the value times 10^digits, signed
/// ```
///
/// Other words with low bits are the store's own.
///
/// A value has one word: it is compact if it can be, so that equal words are equal values of the same scale. In memory, a value is in
/// PostgreSQL's form, with a header of 4 bytes: a numeric as its `NumericChoice`, others as their bytes. Thread-safe.
public final class CompactWord {
  /// Bytes that [#write] may touch: the longest value, in whole words.
  public static final int MOST_BYTES = 16;

  private static final int TAG = 7;
  private static final int BYTES = 1;
  private static final int NUMERIC = 2;

  private static final int HEADER_BYTES = 4;
  private static final int MOST_INLINE_BYTES = 7;
  private static final int COUNT_SHIFT = 3;
  private static final int BYTES_SHIFT = 8;

  private static final int SCALE_SHIFT = 3;
  private static final int SCALE_MASK = 0x3F;
  private static final int NUMERIC_SHIFT = 9;
  private static final int MOST_SCALE = 18;
  private static final long MOST_MAGNITUDE = (1L << (Long.SIZE - 1 - NUMERIC_SHIFT)) - 1;

  // PostgreSQL's NumericChoice.
  private static final int SIGN_BITS = 0xC000;
  private static final int SPECIAL = 0xC000;
  private static final int SHORT = 0x8000;
  private static final int SHORT_NEGATIVE = 0x2000;
  private static final int LONG_NEGATIVE = 0x4000;
  private static final int WEIGHT_MASK = 0x7F;

  /// Decimal digits of a digit of PostgreSQL's.
  private static final int DIGITS = 4;

  private static final int BASE = 10_000;

  private static final long[] POWERS_OF_BASE = {
    1, 10_000L, 100_000_000L, 1_000_000_000_000L, 10_000_000_000_000_000L
  };

  private static final long[] POWERS = new long[19];

  static {
    POWERS[0] = 1;
    for (int i = 1; i < POWERS.length; i++) {
      POWERS[i] = POWERS[i - 1] * 10;
    }
  }

  private CompactWord() {}

  /// Whether the value lies in the word.
  public static boolean isCompact(long word) {
    return (word & (BYTES | NUMERIC)) != 0;
  }

  public static boolean isNumeric(long word) {
    return (word & TAG) == NUMERIC;
  }

  public static boolean isBytes(long word) {
    return (word & TAG) == BYTES;
  }

  // ---- bytes ----

  /// @param address of a varlena that is not a numeric
  /// @return its word; 0: it is too long
  public static long ofBytes(long address) {
    int count = (UnsafeApi.getInt(address) >>> 2) - HEADER_BYTES;
    return count > MOST_INLINE_BYTES ? 0 : ofBytes(address + HEADER_BYTES, count);
  }

  /// @param address of bytes without header
  /// @param count of them
  /// @return their word; 0: they are too many
  public static long ofBytes(long address, int count) {
    if (count > MOST_INLINE_BYTES) {
      return 0;
    }
    long word = 0;
    for (int i = count - 1; i >= 0; i--) {
      word = word << Byte.SIZE | (UnsafeApi.getByte(address + i) & 0xFFL);
    }
    return word << BYTES_SHIFT | (long) count << COUNT_SHIFT | BYTES;
  }

  /// Number of bytes of a word that is not a numeric.
  public static int count(long word) {
    return (int) (word >>> COUNT_SHIFT) & TAG;
  }

  /// The word of the first bytes of a word that is not a numeric.
  ///
  /// @param count at most [#count(long)]
  public static long first(long word, int count) {
    int bits = BYTES_SHIFT + Byte.SIZE * count;
    long bytes = ((word << (Long.SIZE - bits)) >>> (Long.SIZE - bits)) & (-1L << BYTES_SHIFT);
    return bytes | (long) count << COUNT_SHIFT | BYTES;
  }

  /// The bytes, the first one lowest.
  public static long bytes(long word) {
    return word >>> BYTES_SHIFT;
  }

  // ---- numeric ----

  /// The value times 10^[#scale(long)].
  public static long unscaled(long word) {
    return word >> NUMERIC_SHIFT;
  }

  public static int scale(long word) {
    return (int) (word >>> SCALE_SHIFT) & SCALE_MASK;
  }

  /// @param address of a numeric
  /// @return its word; 0: it has too many digits, or is no number
  public static long ofNumeric(long address) {
    int payload = (UnsafeApi.getInt(address) >>> 2) - HEADER_BYTES;
    return ofNumeric(address + HEADER_BYTES, payload);
  }

  /// @param address of a numeric behind its header
  /// @param payload its bytes
  public static long ofNumeric(long address, int payload) {
    if (payload < 2) {
      return 0;
    }
    int header = UnsafeApi.getShort(address) & 0xFFFF;
    boolean isShort = (header & SIGN_BITS) == SHORT;
    if ((header & SIGN_BITS) == SPECIAL || (!isShort && payload < 4)) {
      return 0;
    }
    int scale = isShort ? (header >>> 7) & SCALE_MASK : header & 0x3FFF;
    int weight = isShort ? header << 25 >> 25 : UnsafeApi.getShort(address + 2);
    long digits = address + (isShort ? 2 : 4);
    int count = (payload - (isShort ? 2 : 4)) >> 1;
    boolean negative = (header & (isShort ? SHORT_NEGATIVE : LONG_NEGATIVE)) != 0;
    if (scale > MOST_SCALE) {
      return 0;
    }
    if (count == 0) {
      return numeric(0, scale);
    }
    int shift = scale - DIGITS * (count - 1 - weight);
    if (count > 5 || shift > MOST_SCALE || shift <= -DIGITS) {
      return 0;
    }
    long magnitude = 0;
    for (int i = 0; i < count; i++) {
      int digit = UnsafeApi.getShort(digits + 2L * i);
      if (magnitude > Long.MAX_VALUE / BASE - 1 || digit < 0 || digit >= BASE) {
        return 0;
      }
      magnitude = magnitude * BASE + digit;
    }
    if (shift < 0) {
      long whole = magnitude / POWERS[-shift];
      if (whole * POWERS[-shift] != magnitude) {
        return 0;
      }
      magnitude = whole;
    } else if (magnitude > MOST_MAGNITUDE / POWERS[shift]) {
      return 0;
    } else {
      magnitude *= POWERS[shift];
    }
    return magnitude > MOST_MAGNITUDE ? 0 : numeric(negative ? -magnitude : magnitude, scale);
  }

  /// The word of `unscaled / 10^scale`.
  ///
  /// @param scale at least 0
  /// @return 0: it has too many digits
  public static long ofUnscaled(long unscaled, int scale) {
    return scale <= MOST_SCALE && Math.abs(unscaled) <= MOST_MAGNITUDE && unscaled != Long.MIN_VALUE
        ? numeric(unscaled, scale)
        : 0;
  }

  private static long numeric(long unscaled, int scale) {
    return unscaled << NUMERIC_SHIFT | (long) scale << SCALE_SHIFT | NUMERIC;
  }

  // ---- PostgreSQL's form ----

  /// Bytes of the value in memory, with its header.
  public static int memoryBytes(long word) {
    if (!isNumeric(word)) {
      return HEADER_BYTES + count(word);
    }
    return HEADER_BYTES + 2 + 2 * new Digits(word).count;
  }

  /// Writes the value.
  ///
  /// @param to multiple of 8, with room for [#MOST_BYTES]
  /// @return bytes of the value, with its header
  public static int write(long word, long to) {
    if (isNumeric(word)) {
      return writeNumeric(word, to);
    }
    int total = HEADER_BYTES + count(word);
    long bytes = bytes(word);
    UnsafeApi.putLong(to, (long) total << 2 | bytes << Integer.SIZE);
    UnsafeApi.putLong(to + Long.BYTES, bytes >>> Integer.SIZE);
    return total;
  }

  /// Up to four digits are put together in a register, the first one lowest, without a branch for their number.
  private static int writeNumeric(long word, long to) {
    long unscaled = unscaled(word);
    int scale = scale(word);
    long magnitude = Math.abs(unscaled);
    long rest = wholeDigits(magnitude, scale);
    long last = lastDigit(magnitude, rest, scale);
    // Power of 10000 of the last whole digit.
    int weight = -(scale >> 2);
    if (rest >= 1_000_000_000_000L) {
      return writeLongNumeric(word, to);
    }
    // Most numbers are short, and a division of these takes half of the time.
    long middle = rest <= Integer.MAX_VALUE ? (int) rest / BASE : rest / BASE;
    long digits = (rest - middle * BASE) << 32 | last << 48;
    if (rest < 100_000_000) {
      digits |= middle << 16;
    } else {
      long first = middle / BASE;
      digits |= first | (middle - first * BASE) << 16;
    }
    return write(unscaled < 0, scale, digits, weight + 2, to);
  }

  /// A number without the decimal digits behind its last whole digit of base 10000.
  private static long wholeDigits(long magnitude, int scale) {
    // Constants, which the compiler multiplies by: a division takes many times as long.
    return switch (scale % DIGITS) {
      case 1 -> magnitude / 10;
      case 2 -> magnitude / 100;
      case 3 -> magnitude / 1000;
      default -> magnitude;
    };
  }

  /// The digit that these decimal digits are the beginning of.
  private static long lastDigit(long magnitude, long whole, int scale) {
    int odd = scale % DIGITS;
    return (magnitude - whole * POWERS[odd]) * POWERS[DIGITS - odd];
  }

  /// Writes up to four digits.
  ///
  /// @param digits the first one lowest
  /// @param weight of the first one
  private static int write(boolean negative, int scale, long digits, int weight, long to) {
    int zeros = Long.numberOfTrailingZeros(digits) >>> 4;
    long present = zeros == 4 ? 0 : digits >>> (16 * zeros);
    int count = (79 - Long.numberOfLeadingZeros(present)) >>> 4;
    int total = HEADER_BYTES + 2 + 2 * count;
    long header = header(negative, scale, zeros == 4 ? 0 : weight - zeros);
    UnsafeApi.putLong(to, (long) total << 2 | header << 32 | present << 48);
    UnsafeApi.putLong(to + Long.BYTES, present >>> 16);
    return total;
  }

  /// Writes the numerics among some words side by side, and puts their addresses in place of the words.
  ///
  /// @param words compact ones, addresses, and 0
  public static void writeNumerics(long[] words, int from, int end, VarHeap heap) {
    long to = heap.allocate((long) MOST_BYTES * (end - from));
    for (int i = from; i < end; i++) {
      if (isNumeric(words[i])) {
        writeNumeric(words[i], to);
        words[i] = to;
        to += MOST_BYTES;
      }
    }
  }

  private static int header(boolean negative, int scale, int weight) {
    return SHORT | (negative ? SHORT_NEGATIVE : 0) | scale << 7 | (weight & WEIGHT_MASK);
  }

  private static int writeLongNumeric(long word, long to) {
    Digits digits = new Digits(word);
    int total = HEADER_BYTES + 2 + 2 * digits.count;
    UnsafeApi.putInt(to, total << 2);
    UnsafeApi.putShort(to + HEADER_BYTES, (short) digits.header);
    for (int i = 0; i < digits.count; i++) {
      UnsafeApi.putShort(to + HEADER_BYTES + 2 + 2L * i, (short) digits.digit(i));
    }
    return total;
  }

  /// Writes the value without its header of 4 bytes, which are [#memoryBytes] less these.
  ///
  /// @return where the next one begins
  public static int write(long word, byte[] to, int from) {
    if (!isNumeric(word)) {
      int count = count(word);
      long bytes = bytes(word);
      for (int i = 0; i < count; i++) {
        to[from + i] = (byte) (bytes >>> (Byte.SIZE * i));
      }
      return from + count;
    }
    Digits digits = new Digits(word);
    to[from] = (byte) digits.header;
    to[from + 1] = (byte) (digits.header >>> Byte.SIZE);
    for (int i = 0; i < digits.count; i++) {
      int digit = digits.digit(i);
      to[from + 2 + 2 * i] = (byte) digit;
      to[from + 3 + 2 * i] = (byte) (digit >>> Byte.SIZE);
    }
    return from + 2 + 2 * digits.count;
  }

  /// A numeric as PostgreSQL keeps it: digits of base 10000, without zeros outside.
  public static final class Digits {
    /// Number of digits; 0: the value is 0.
    public final int count;

    public final boolean negative;

    /// Power of 10000 of the first digit.
    public final int weight;

    /// Short form of the header.
    final int header;

    /// Digits but the last one, if that is not 0.
    final long whole;

    /// The last digit, if it is only partly behind the scale; else 0.
    final int last;

    public Digits(long word) {
      long unscaled = unscaled(word);
      int scale = scale(word);
      long magnitude = Math.abs(unscaled);
      long rest = wholeDigits(magnitude, scale);
      int partly = (int) lastDigit(magnitude, rest, scale);
      int behind = (scale + DIGITS - 1) / DIGITS;
      // Digits so far below the first one of `rest`.
      int below = scale % DIGITS != 0 ? 1 : 0;
      int dropped = 0;
      if (partly == 0) {
        dropped = below;
        while (rest != 0 && rest % BASE == 0) {
          rest /= BASE;
          dropped++;
          below++;
        }
      }
      int above = 0;
      while (above < 5 && rest >= POWERS_OF_BASE[above]) {
        above++;
      }
      count = below + above - dropped;
      negative = unscaled < 0;
      weight = count == 0 ? 0 : below + above - 1 - behind;
      whole = rest;
      last = partly;
      header = CompactWord.header(negative, scale, weight);
    }

    /// Digit `i`, the most significant first.
    public int digit(int i) {
      int fromEnd = count - 1 - i;
      if (last != 0) {
        if (fromEnd == 0) {
          return last;
        }
        fromEnd--;
      }
      return (int) (whole / POWERS[DIGITS * fromEnd] % BASE);
    }
  }
}
