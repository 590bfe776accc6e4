package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgNumeric;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteOrder;

/// Puts numbers into a numeric column as an assignment does: rounded to its scale, refused beyond its precision. Not thread-safe.
final class NumericAssignment {
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int BASE = 10_000;
  private static final int GROUP = 4;
  private static final int LONG_DIGITS = 18;
  private static final int SHORT_HEADER = 0x8000;
  private static final int SHORT_NEGATIVE = 0x2000;
  private static final int SHORT_WEIGHT_MASK = 0x7F;
  private static final int SHORT_SCALE_SHIFT = 7;
  private static final int VARLENA_HEADER_BYTES = 4;
  private static final int MAX_GROUPS = 10;
  private static final long[] POWERS = powers();

  private final boolean declared;
  private final int precision;
  private final int scale;
  private final short[] groups = new short[MAX_GROUPS];

  NumericAssignment(int typeModifier) {
    declared = typeModifier >= GROUP;
    precision = declared ? TypeName.precision(typeModifier) : 0;
    scale = declared ? TypeName.scale(typeModifier) : 0;
  }

  private static long[] powers() {
    long[] powers = new long[LONG_DIGITS + 1];
    powers[0] = 1;
    for (int i = 1; i <= LONG_DIGITS; i++) {
      powers[i] = 10 * powers[i - 1];
    }
    return powers;
  }

  /// Puts `unscaled / 10^places`.
  ///
  /// @return the word
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE
  long put(long unscaled, int places, BatchFill batch) {
    boolean simple =
        places >= 0
            && places <= LONG_DIGITS
            && unscaled != Long.MIN_VALUE
            && (!declared || (scale >= places && scale <= LONG_DIGITS));
    if (!simple) {
      return put(BigDecimal.valueOf(unscaled, places), batch);
    }
    long magnitude = Math.abs(unscaled);
    if (declared) {
      int digits = precision - scale + places;
      if (digits <= LONG_DIGITS && magnitude >= POWERS[Math.max(digits, 0)]) {
        throw overflow();
      }
    }
    return put(magnitude, unscaled < 0, places, declared ? scale : places, batch);
  }

  private long put(long magnitude, boolean negative, int places, int shown, BatchFill batch) {
    long whole = whole(magnitude, places);
    long fraction = magnitude - whole * POWERS[places];
    int fractionGroups = (places + GROUP - 1) / GROUP;
    int first = MAX_GROUPS - fractionGroups;
    int begin = first;
    while (whole != 0) {
      long quotient = whole / BASE;
      groups[--begin] = (short) (whole - quotient * BASE);
      whole = quotient;
    }
    int left = places;
    for (int i = first; i < MAX_GROUPS; i++) {
      left -= GROUP;
      if (left >= 0) {
        long group = fraction / POWERS[left];
        groups[i] = (short) group;
        fraction -= group * POWERS[left];
      } else {
        groups[i] = (short) (fraction * POWERS[-left]);
      }
    }
    int end = MAX_GROUPS;
    while (begin < end && groups[begin] == 0) {
      begin++;
    }
    while (end > begin && groups[end - 1] == 0) {
      end--;
    }
    boolean zero = begin == end;
    int weight = zero ? 0 : first - begin - 1;
    int at = batch.varlena(2 + 2 * (end - begin));
    byte[] bytes = batch.bytes();
    int header =
        SHORT_HEADER
            | (negative && !zero ? SHORT_NEGATIVE : 0)
            | shown << SHORT_SCALE_SHIFT
            | (weight & SHORT_WEIGHT_MASK);
    int next = at + VARLENA_HEADER_BYTES;
    SHORTS.set(bytes, next, (short) header);
    for (int i = begin; i < end; i++) {
      next += 2;
      SHORTS.set(bytes, next, groups[i]);
    }
    return at;
  }

  /// Divides by constants where it can, which takes a fraction of the time.
  private static long whole(long magnitude, int places) {
    return switch (places) {
      case 0 -> magnitude;
      case 1 -> magnitude / 10;
      case 2 -> magnitude / 100;
      case 3 -> magnitude / 1000;
      case 4 -> magnitude / BASE;
      default -> magnitude / POWERS[places];
    };
  }

  /// Puts a number of any size.
  ///
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE
  long put(BigDecimal value, BatchFill batch) {
    BigDecimal rounded = value;
    if (declared) {
      // A scale that is negative rounds to tens, hundreds, ... and has no display scale.
      rounded = value.setScale(scale, RoundingMode.HALF_UP);
      if (rounded.signum() != 0 && rounded.precision() - rounded.scale() > precision - scale) {
        throw overflow();
      }
    }
    return put(PgNumeric.of(rounded), batch);
  }

  /// Puts a number, NaN or an infinity.
  ///
  /// @throws EngineException NUMERIC_VALUE_OUT_OF_RANGE
  long putAny(PgNumeric value, BatchFill batch) {
    return switch (value.kind()) {
      case FINITE -> put(value.bigDecimal(), batch);
      case NAN -> put(value, batch);
      case POSITIVE_INFINITY, NEGATIVE_INFINITY -> {
        if (declared) {
          throw new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
              .withDetail(
                  "A field with precision %d, scale %d cannot hold an infinite value."
                      .formatted(precision, scale));
        }
        yield put(value, batch);
      }
    };
  }

  private static long put(PgNumeric value, BatchFill batch) {
    byte[] payload;
    try {
      payload = value.encode();
    } catch (ArithmeticException e) {
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format", e);
    }
    return batch.varlena(payload, 0, payload.length);
  }

  private EngineException overflow() {
    return new EngineException(ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
        .withDetail(
            "A field with precision %d, scale %d must round to an absolute value less than %s."
                .formatted(
                    precision, scale, precision == scale ? "1" : "10^" + (precision - scale)));
  }
}
