package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;

/// Floats and decimals as integers, if they are whole.
final class IntegerInput extends EachInput {
  private static final double TWO_TO_63 = 0x1p63;

  private final Kind kind;
  private final String typeName;
  private final long min;
  private final long max;

  IntegerInput(String column, Kind kind, String typeName, long min, long max) {
    super(column);
    this.kind = kind;
    this.typeName = typeName;
    this.min = min;
    this.max = max;
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    if (kind == Kind.FLOAT) {
      double value = Double.longBitsToDouble(values.longs()[index]);
      long whole = (long) value;
      if (whole != value || value >= TWO_TO_63 || whole < min || whole > max) {
        throw refused(Double.toString(value));
      }
      return whole;
    }
    BigDecimal value = FileDecimals.of(values, index);
    long whole;
    try {
      whole = value.longValueExact();
    } catch (ArithmeticException e) {
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
          String.valueOf(refused(value.toString()).getMessage()),
          e);
    }
    if (whole < min || whole > max) {
      throw refused(value.toString());
    }
    return whole;
  }

  private EngineException refused(String value) {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        "value \"%s\" is out of range for type %s, or not whole".formatted(value, typeName));
  }
}
