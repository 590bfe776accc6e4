package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgNumeric;
import dev.kakehashi.valuetext.number.DecimalText;
import java.math.BigDecimal;
import java.math.RoundingMode;

/// numeric, in PostgreSQL's binary form (see [PgNumeric]).
final class TextToNumeric extends TextColumn {
  private static final int BASE = 10_000;

  /// Groups of four digits in front of the point: 16 digits, and what rounding carries.
  private static final int WHOLE_GROUPS = 5;

  private static final int FRACTION_GROUPS = 4;

  private final boolean hasModifier;
  private final int precision;
  private final int scale;

  /// Bound that the part before the point has to be less than; 0: the modifier is for the slow way.
  private final long wholeLimit;

  private final Decimals decimal = new Decimals();
  private final int[] groups = new int[WHOLE_GROUPS + FRACTION_GROUPS];

  TextToNumeric(int modifier) {
    hasModifier = modifier >= 4;
    precision = hasModifier ? TypeName.precision(modifier) : 0;
    scale = hasModifier ? TypeName.scale(modifier) : 0;
    boolean isSimple = scale >= 0 && scale <= Decimals.MAX_DIGITS && precision >= scale;
    int wholeDigits = precision - scale;
    if (!hasModifier || (isSimple && wholeDigits > Decimals.MAX_DIGITS)) {
      wholeLimit = Long.MAX_VALUE;
    } else {
      wholeLimit = isSimple ? Decimals.power(wholeDigits) : 0;
    }
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    if (wholeLimit == 0 || !decimal.read(bytes, from, to)) {
      slow(bytes, from, to, batch, column);
      return;
    }
    if (hasModifier) {
      decimal.round(scale);
      if (decimal.whole >= wholeLimit) {
        throw overflow();
      }
    }
    if (decimal.whole < BASE * BASE && decimal.fractionDigits <= 4) {
      putShort(batch, column);
    } else {
      put(batch, column);
    }
  }

  /// Writes a number of at most two groups before the point and one behind it.
  private void putShort(TextBatch batch, int column) {
    int digits = decimal.fractionDigits;
    int whole = (int) decimal.whole;
    int high = whole / BASE;
    int low = whole - high * BASE;
    int behind = digits == 0 ? 0 : (int) (decimal.fraction * Decimals.power(4 - digits));
    // Groups in the order in which they are written, the first in the lowest bits.
    int weight = high != 0 ? 1 : low != 0 ? 0 : -1;
    long groupBits = (high | (long) low << 16 | (long) behind << 32) >>> ((1 - weight) << 4);
    int count = (79 - Long.numberOfLeadingZeros(groupBits)) >>> 4;
    boolean isZero = groupBits == 0;
    weight = isZero ? 0 : weight;
    int header =
        0x8000
            | (decimal.negative && !isZero ? 0x2000 : 0)
            | digits << 7
            | (weight < 0 ? 0x40 : 0)
            | (weight & 0x3F);
    int at = batch.varlena(column, 2 + 2 * count);
    Eight.store(batch.memory, at, header | groupBits << 16);
  }

  /// Writes the number in short form: its scale and weight fit.
  private void put(TextBatch batch, int column) {
    int digits = decimal.fractionDigits;
    int fractionGroups = (digits + 3) >>> 2;
    long fraction = decimal.fraction * Decimals.power((fractionGroups << 2) - digits);
    int end = WHOLE_GROUPS + fractionGroups;
    for (int i = end - 1; i >= WHOLE_GROUPS; i--) {
      long rest = fraction / BASE;
      groups[i] = (int) (fraction - rest * BASE);
      fraction = rest;
    }
    int begin = WHOLE_GROUPS;
    for (long whole = decimal.whole; whole != 0; begin--) {
      long rest = whole / BASE;
      groups[begin - 1] = (int) (whole - rest * BASE);
      whole = rest;
    }
    if (begin == WHOLE_GROUPS) {
      while (begin < end && groups[begin] == 0) {
        begin++;
      }
    }
    while (end > begin && groups[end - 1] == 0) {
      end--;
    }
    int count = end - begin;
    int weight = count == 0 ? 0 : WHOLE_GROUPS - 1 - begin;
    boolean negative = decimal.negative && count > 0;
    int header =
        0x8000 | (negative ? 0x2000 : 0) | digits << 7 | (weight < 0 ? 0x40 : 0) | (weight & 0x3F);
    int at = batch.varlena(column, 2 + 2 * count);
    byte[] memory = batch.memory;
    Eight.SHORTS.set(memory, at, (short) header);
    for (int i = begin; i < end; i++) {
      at += 2;
      Eight.SHORTS.set(memory, at, (short) groups[i]);
    }
  }

  private void slow(byte[] bytes, int from, int to, TextBatch batch, int column) {
    String text = FileUtf8.stripped(bytes, from, to);
    PgNumeric number = DecimalText.parse(text);
    if (hasModifier) {
      number = modified(number);
    }
    try {
      batch.setVarlena(column, number.encode());
    } catch (ArithmeticException e) {
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format", e);
    }
  }

  private PgNumeric modified(PgNumeric number) {
    switch (number.kind()) {
      case NAN -> {
        return number;
      }
      case POSITIVE_INFINITY, NEGATIVE_INFINITY ->
          throw new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
              .withDetail(
                  "A field with precision %d, scale %d cannot hold an infinite value."
                      .formatted(precision, scale));
      case FINITE -> {
        // below
      }
    }
    BigDecimal rounded = number.bigDecimal().setScale(scale, RoundingMode.HALF_UP);
    if (rounded.signum() != 0 && rounded.precision() - rounded.scale() > precision - scale) {
      throw overflow();
    }
    return PgNumeric.of(scale < 0 ? rounded.setScale(0) : rounded);
  }

  private EngineException overflow() {
    int power = precision - scale;
    return new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
        .withDetail(
            "A field with precision %d, scale %d must round to an absolute value less than %s."
                .formatted(precision, scale, power == 0 ? "1" : "10^" + power));
  }
}
