package dev.kakehashi.protocol.value;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// A PostgreSQL `numeric`: a finite decimal, NaN or an infinity.
///
/// Binary form (`NumericChoice` of numeric.c, without the varlena header), 16-bit words:
///
/// ```
/// short   10sddddddweeeeee            sign, display scale 0..63, weight -64..63
/// long    0s0000dd dddddddddddd, weight   (sign 0x4000), display scale 0..16383, weight int16
/// special 0xC000 NaN, 0xD000 +Infinity, 0xF000 -Infinity
/// then    digits 0..9999, most significant first; digit i counts 10000^(weight - i)
/// ```
///
/// @param value the decimal of a finite number; null otherwise
public record PgNumeric(Kind kind, @Nullable BigDecimal value) {
  /// Kind of the number.
  public enum Kind {
    FINITE,
    NAN,
    POSITIVE_INFINITY,
    NEGATIVE_INFINITY
  }

  public static final PgNumeric NAN = new PgNumeric(Kind.NAN, null);
  public static final PgNumeric POSITIVE_INFINITY = new PgNumeric(Kind.POSITIVE_INFINITY, null);
  public static final PgNumeric NEGATIVE_INFINITY = new PgNumeric(Kind.NEGATIVE_INFINITY, null);

  /// Largest display scale (NUMERIC_DSCALE_MAX).
  public static final int MAX_SCALE = 16383;

  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final BigInteger BASE = BigInteger.valueOf(10000);
  private static final int SPECIAL_NAN = 0xC000;
  private static final int SPECIAL_POSITIVE_INFINITY = 0xD000;
  private static final int SPECIAL_NEGATIVE_INFINITY = 0xF000;

  public static PgNumeric of(BigDecimal value) {
    return new PgNumeric(Kind.FINITE, value);
  }

  /// The finite value.
  ///
  /// @throws ArithmeticException for NaN and the infinities
  public BigDecimal bigDecimal() {
    if (value == null) {
      throw new ArithmeticException("numeric " + kind + " has no decimal value");
    }
    return value;
  }

  /// Binary form of this number.
  ///
  /// @throws ArithmeticException when scale or weight leave what `numeric` can hold
  public byte[] encode() {
    return switch (kind) {
      case FINITE -> encode(bigDecimal());
      case NAN -> words(SPECIAL_NAN);
      case POSITIVE_INFINITY -> words(SPECIAL_POSITIVE_INFINITY);
      case NEGATIVE_INFINITY -> words(SPECIAL_NEGATIVE_INFINITY);
    };
  }

  /// Binary form of a finite number; the short header where it fits, as PostgreSQL writes it.
  ///
  /// @throws ArithmeticException when scale or weight leave what `numeric` can hold
  public static byte[] encode(BigDecimal number) {
    BigDecimal decimal = number.scale() < 0 ? number.setScale(0) : number;
    int scale = decimal.scale();
    if (scale > MAX_SCALE) {
      throw new ArithmeticException("scale " + scale + " of numeric is larger than " + MAX_SCALE);
    }
    int padding = (4 - scale % 4) % 4;
    int fractionDigits = (scale + padding) / 4;
    short[] digits = digits(decimal.unscaledValue().abs().multiply(BigInteger.TEN.pow(padding)));
    int weight = digits.length == 0 ? 0 : digits.length - fractionDigits - 1;
    int count = digits.length;
    while (count > 0 && digits[count - 1] == 0) {
      count--;
    }
    if (weight > Short.MAX_VALUE) {
      throw new ArithmeticException("value overflows numeric format");
    }
    boolean negative = decimal.signum() < 0;
    if (scale <= 63 && weight >= -64 && weight <= 63) {
      int header =
          0x8000 | (negative ? 0x2000 : 0) | scale << 7 | (weight < 0 ? 0x40 : 0) | (weight & 0x3F);
      return withDigits(digits, count, header);
    }
    return withDigits(digits, count, (negative ? 0x4000 : 0) | scale, weight);
  }

  /// Reads the binary form of `bytes` bytes at `offset`.
  ///
  /// @throws IllegalArgumentException when it is not one
  public static PgNumeric decode(MemorySegment segment, long offset, int bytes) {
    if (bytes < 2 || (bytes & 1) != 0) {
      throw new IllegalArgumentException("numeric of " + bytes + " bytes");
    }
    int header = u16(segment, offset);
    if ((header & 0xC000) == 0xC000) {
      return special(header);
    }
    boolean isShort = (header & 0xC000) == 0x8000;
    int headerBytes = isShort ? 2 : 4;
    if (bytes < headerBytes) {
      throw new IllegalArgumentException("numeric of " + bytes + " bytes lacks its weight");
    }
    boolean negative = (header & (isShort ? 0x2000 : 0x4000)) != 0;
    int scale = isShort ? header >>> 7 & 0x3F : header & 0x3FFF;
    int weight =
        isShort
            ? (header & 0x40) != 0 ? (header & 0x3F) | ~0x3F : header & 0x3F
            : (short) u16(segment, offset + 2);
    int count = (bytes - headerBytes) / 2;
    BigInteger unscaled = BigInteger.ZERO;
    long chunk = 0;
    for (int i = 0; i < count; i++) {
      int digit = u16(segment, offset + headerBytes + 2L * i);
      if (digit > 9999) {
        throw new IllegalArgumentException("digit " + digit + " of numeric");
      }
      if (count <= 4) {
        chunk = chunk * 10000 + digit;
      } else {
        unscaled = unscaled.multiply(BASE).add(BigInteger.valueOf(digit));
      }
    }
    if (count <= 4) {
      unscaled = BigInteger.valueOf(chunk);
    }
    int digitScale = 4 * (count - 1 - weight);
    BigDecimal value = new BigDecimal(negative ? unscaled.negate() : unscaled, digitScale);
    if (count == 0) {
      return of(BigDecimal.valueOf(0, scale));
    }
    if (digitScale > scale && value.stripTrailingZeros().scale() > scale) {
      throw new IllegalArgumentException("numeric has digits beyond its scale " + scale);
    }
    return of(value.setScale(scale));
  }

  private static PgNumeric special(int header) {
    return switch (header & 0xF000) {
      case SPECIAL_NAN -> NAN;
      case SPECIAL_POSITIVE_INFINITY -> POSITIVE_INFINITY;
      case SPECIAL_NEGATIVE_INFINITY -> NEGATIVE_INFINITY;
      default ->
          throw new IllegalArgumentException("numeric header " + Integer.toHexString(header));
    };
  }

  /// Base-10000 digits, most significant first; none for zero.
  private static short[] digits(BigInteger magnitude) {
    if (magnitude.signum() == 0) {
      return new short[0];
    }
    if (magnitude.bitLength() < 64) {
      long rest = magnitude.longValue();
      short[] reversed = new short[5];
      int count = 0;
      while (rest != 0) {
        reversed[count++] = (short) (rest % 10000);
        rest /= 10000;
      }
      short[] digits = new short[count];
      for (int i = 0; i < count; i++) {
        digits[i] = reversed[count - 1 - i];
      }
      return digits;
    }
    String text = magnitude.toString();
    int first = text.length() % 4 == 0 ? 4 : text.length() % 4;
    short[] digits = new short[(text.length() + 3) / 4];
    int at = 0;
    for (int i = 0; i < digits.length; i++) {
      int end = i == 0 ? first : at + 4;
      digits[i] = (short) Integer.parseInt(text, at, end, 10);
      at = end;
    }
    return digits;
  }

  private static byte[] withDigits(short[] digits, int count, int... header) {
    byte[] bytes = new byte[2 * (header.length + count)];
    int at = 0;
    for (int word : header) {
      at = put(bytes, at, word);
    }
    for (int i = 0; i < count; i++) {
      at = put(bytes, at, digits[i]);
    }
    return bytes;
  }

  private static byte[] words(int word) {
    byte[] bytes = new byte[2];
    put(bytes, 0, word);
    return bytes;
  }

  private static int put(byte[] bytes, int at, int word) {
    bytes[at] = (byte) word;
    bytes[at + 1] = (byte) (word >>> 8);
    return at + 2;
  }

  private static int u16(MemorySegment segment, long offset) {
    return segment.get(U16, offset) & 0xFFFF;
  }
}
