package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.math.BigDecimal;

/// Numbers as float4 or float8. Integers and binary floats exactly; decimals if the float's shortest form is the same number.
final class FloatInput extends EachInput {
  private static final double TWO_TO_63 = 0x1p63;

  /// Beyond the digits of a double in 64 bits.
  private static final int LOST_BITS = 11;

  private final Kind kind;
  private final boolean isDouble;

  FloatInput(String column, Kind kind, boolean isDouble) {
    super(column);
    this.kind = kind;
    this.isDouble = isDouble;
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    return switch (kind) {
      case FLOAT -> of(Double.longBitsToDouble(values.longs()[index]));
      case INT -> ofSigned(values.longs()[index]);
      case UINT -> {
        long value = values.longs()[index];
        yield value >= 0 ? ofSigned(value) : ofUnsigned(value);
      }
      default -> of(FileDecimals.of(values, index));
    };
  }

  private long of(double value) {
    if (isDouble) {
      return Double.doubleToRawLongBits(value);
    }
    float narrow = (float) value;
    if (narrow != value && !Double.isNaN(value)) {
      throw refused(Double.toString(value));
    }
    return Float.floatToRawIntBits(narrow) & 0xFFFF_FFFFL;
  }

  private long ofSigned(long value) {
    double wide = value;
    if (wide >= TWO_TO_63 || (long) wide != value) {
      throw refused(Long.toString(value));
    }
    return of(wide);
  }

  private long ofUnsigned(long value) {
    if ((value & ((1 << LOST_BITS) - 1)) != 0) {
      throw refused(Long.toUnsignedString(value));
    }
    return of((double) (value >>> LOST_BITS) * (1 << LOST_BITS));
  }

  private long of(BigDecimal value) {
    if (isDouble) {
      double wide = value.doubleValue();
      if (Double.isInfinite(wide) || new BigDecimal(Double.toString(wide)).compareTo(value) != 0) {
        throw refused(value.toString());
      }
      return Double.doubleToRawLongBits(wide);
    }
    float narrow = value.floatValue();
    if (Float.isInfinite(narrow) || new BigDecimal(Float.toString(narrow)).compareTo(value) != 0) {
      throw refused(value.toString());
    }
    return Float.floatToRawIntBits(narrow) & 0xFFFF_FFFFL;
  }

  private EngineException refused(String value) {
    return new EngineException(
        ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
        "value \"%s\" has no exact form in type %s"
            .formatted(value, isDouble ? "double precision" : "real"));
  }
}
