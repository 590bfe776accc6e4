package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.protocol.value.PgNumeric;
import dev.kakehashi.valuetext.number.DecimalText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

/// Numbers, and texts of numbers, as numeric. A binary float becomes the number that it is, with all its digits.
final class NumericInput extends EachInput {
  private static final int LONG_DIGITS = 18;

  private final Kind kind;
  private final NumericAssignment form;

  NumericInput(String column, Kind kind, int typeModifier) {
    super(column);
    this.kind = kind;
    this.form = new NumericAssignment(typeModifier);
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    return switch (kind) {
      case INT -> form.put(values.longs()[index], 0, batch);
      case UINT -> {
        long value = values.longs()[index];
        yield value >= 0
            ? form.put(value, 0, batch)
            : form.put(new BigDecimal(new BigInteger(Long.toUnsignedString(value))), batch);
      }
      case FLOAT -> floating(Double.longBitsToDouble(values.longs()[index]), batch);
      case TEXT -> text(values.bytes(), values.starts()[index], values.lengths()[index], batch);
      default ->
          FileDecimals.isLong(values, index)
              ? form.put(FileDecimals.unscaledLong(values, index), values.type().scale(), batch)
              : form.put(FileDecimals.of(values, index), batch);
    };
  }

  private long floating(double value, BatchFill batch) {
    if (Double.isFinite(value)) {
      return form.put(new BigDecimal(value), batch);
    }
    return form.putAny(
        Double.isNaN(value)
            ? PgNumeric.NAN
            : value > 0 ? PgNumeric.POSITIVE_INFINITY : PgNumeric.NEGATIVE_INFINITY,
        batch);
  }

  private long text(byte[] bytes, int start, int length, BatchFill batch) {
    int end = start + length;
    int at = start;
    boolean negative = length > 0 && bytes[at] == '-';
    if (negative) {
      at++;
    }
    long unscaled = 0;
    int digits = 0;
    int point = -1;
    for (; at < end; at++) {
      int digit = bytes[at] - '0';
      if (digit >= 0 && digit <= 9 && digits < LONG_DIGITS) {
        unscaled = 10 * unscaled + digit;
        digits++;
      } else if (bytes[at] == '.' && point < 0) {
        point = digits;
      } else {
        break;
      }
    }
    if (at == end && digits > 0) {
      return form.put(negative ? -unscaled : unscaled, point < 0 ? 0 : digits - point, batch);
    }
    String text = new String(bytes, start, length, StandardCharsets.UTF_8);
    return form.putAny(DecimalText.parse(text), batch);
  }
}
