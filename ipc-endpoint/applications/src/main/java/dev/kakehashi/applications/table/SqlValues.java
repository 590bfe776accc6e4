package dev.kakehashi.applications.table;

import dev.kakehashi.application.EngineFailure;
import dev.kakehashi.applications.type.JavaType;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/// Values that users' code gives without a type: parameters of statements, and keys.
public final class SqlValues {
  private SqlValues() {}

  /// Each by its class.
  ///
  /// @throws EngineFailure DATATYPE_MISMATCH
  public static @Nullable Object[] ofAll(@Nullable Object[] values) {
    @Nullable Object[] converted = new Object[values.length];
    for (int i = 0; i < values.length; i++) {
      converted[i] = of(values[i], i);
    }
    return converted;
  }

  private static @Nullable Object of(@Nullable Object value, int index) {
    if (value == null) {
      return null;
    }
    JavaType type = JavaType.of(value.getClass());
    if (type == null) {
      throw mismatch(
          "parameter $"
              + (index + 1)
              + " is a "
              + value.getClass().getName()
              + ", which has no counterpart in SQL");
    }
    return type.toSql(value);
  }

  /// A key's value for a column: a whole number may be of any class that it fits into.
  ///
  /// @throws EngineFailure DATATYPE_MISMATCH, NUMERIC_VALUE_OUT_OF_RANGE
  static Object key(Object value, int typeOid, String column) {
    switch (typeOid) {
      case TypeOid.INT8 -> {
        if (value instanceof Long) {
          return value;
        }
        if (value instanceof Integer || value instanceof Short) {
          return ((Number) value).longValue();
        }
      }
      case TypeOid.INT4 -> {
        if (value instanceof Integer) {
          return value;
        }
        if (value instanceof Long || value instanceof Short) {
          return (int) within((Number) value, Integer.MIN_VALUE, Integer.MAX_VALUE, column);
        }
      }
      case TypeOid.INT2 -> {
        if (value instanceof Short) {
          return value;
        }
        if (value instanceof Long || value instanceof Integer) {
          return (short) within((Number) value, Short.MIN_VALUE, Short.MAX_VALUE, column);
        }
      }
      case TypeOid.NUMERIC -> {
        if (value instanceof Long || value instanceof Integer || value instanceof Short) {
          return BigDecimal.valueOf(((Number) value).longValue());
        }
      }
      default -> {}
    }
    JavaType type = JavaType.of(value.getClass());
    if (type == null || !type.fits(typeOid)) {
      throw mismatch("a value for column \"" + column + "\" is a " + value.getClass().getName());
    }
    return java.util.Objects.requireNonNull(type.toSql(value));
  }

  private static long within(Number value, long least, long most, String column) {
    long number = value.longValue();
    if (number < least || number > most) {
      EngineException cause =
          new EngineException(
              ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
              number + " is out of the range of column \"" + column + "\"");
      throw new EngineFailure(cause.sqlstate(), String.valueOf(cause.getMessage()), cause);
    }
    return number;
  }

  static EngineFailure mismatch(String message) {
    return failure(ErrorCode.DATATYPE_MISMATCH, message);
  }

  static EngineFailure failure(ErrorCode code, String message) {
    return new EngineFailure(code.sqlstate(), message, new EngineException(code, message));
  }
}
