package dev.kakehashi.bulk.parquet.read;

import dev.kakehashi.bulk.parquet.thrift.ChunkStatistics;
import dev.kakehashi.bulk.parquet.thrift.Physical;
import dev.kakehashi.bulk.value.FileType;
import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.bulk.value.TimeUnits;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.time.Calendars;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/// Bounds of a column's values in a row group, as values of the table's column. Only for types of which each value of the file becomes one
/// of the table in the same order.
///
/// @param least null: not known
/// @param greatest null: not known
/// @param hasNan whether there may be values that are greater than all others and not within the bounds
record GroupBounds(@Nullable Object least, @Nullable Object greatest, boolean hasNan) {
  private static final long UNIX_EPOCH_MICROS =
      Calendars.UNIX_EPOCH_DAYS * Calendars.MICROS_PER_DAY;

  private static final long MICROS_PER_MILLI = 1000;
  private static final long NANOS_PER_MICRO = 1000;

  /// Null: nothing is known.
  static @Nullable GroupBounds of(
      FileColumn source, LoadColumn target, ChunkStatistics statistics) {
    Reader reader = reader(source, target);
    if (reader == null) {
      return null;
    }
    Object least = value(reader, statistics.min());
    Object greatest = value(reader, statistics.max());
    if (least != null && greatest != null && compare(least, greatest) > 0) {
      return null;
    }
    return new GroupBounds(least, greatest, source.valueType().kind() == Kind.FLOAT);
  }

  boolean leastIs(Object value, IntPredicate order) {
    return least != null && order.test(compare(least, value));
  }

  boolean greatestIs(Object value, IntPredicate order) {
    return !hasNan && greatestWithoutNanIs(value, order);
  }

  boolean greatestWithoutNanIs(Object value, IntPredicate order) {
    return greatest != null && order.test(compare(greatest, value));
  }

  /// Compares values of one class, except that texts of files are bytes.
  private static int compare(Object bound, Object value) {
    return switch (bound) {
      case Long number -> Long.compare(number, (Long) value);
      case BigDecimal number -> number.compareTo((BigDecimal) value);
      // Zeros are equal, whatever their sign.
      case Double number -> {
        double other = (Double) value;
        yield number < other ? -1 : number > other ? 1 : 0;
      }
      case byte[] text ->
          Arrays.compareUnsigned(
              text,
              value instanceof String other
                  ? other.getBytes(StandardCharsets.UTF_8)
                  : (byte[]) value);
      default -> throw new IllegalArgumentException("a bound is a " + bound.getClass());
    };
  }

  /// Makes a value of the table of a bound. It may throw ArithmeticException for one that the table's type does not hold.
  private interface Reader {
    @Nullable Object value(byte[] plain);
  }

  private static @Nullable Object value(Reader reader, byte @Nullable [] plain) {
    if (plain == null) {
      return null;
    }
    try {
      return reader.value(plain);
    } catch (ArithmeticException e) {
      return null; // no bound: what is beyond the type is an error where it is read
    }
  }

  private static @Nullable Reader reader(FileColumn source, LoadColumn target) {
    FileType type = source.valueType();
    int physical = source.leaves().getFirst().physical();
    if (!target.labels().isEmpty()) {
      return null;
    }
    return switch (ValueForm.of(target.typeOid())) {
      case INT2, INT4, INT8 -> isWhole(type) ? plain -> whole(plain, physical, type) : null;
      case DATE ->
          type.kind() == Kind.DATE
              ? plain -> {
                Long days = number(plain, physical);
                return days == null ? null : days - Calendars.UNIX_EPOCH_DAYS;
              }
              : null;
      case TIMESTAMP, TIMESTAMPTZ ->
          type.kind() == Kind.TIMESTAMP && target.typeModifier() < 0
              ? plain -> timestamp(plain, physical, type.units())
              : null;
      case FLOAT4, FLOAT8 -> type.kind() == Kind.FLOAT ? plain -> real(plain, physical) : null;
      case NUMERIC -> numeric(type, target, physical);
      case TEXT ->
          type.kind() == Kind.TEXT
                  && (target.typeOid() == TypeOid.TEXT
                      || (target.typeOid() == TypeOid.VARCHAR && target.typeModifier() < 0))
              ? plain -> plain
              : null;
      default -> null;
    };
  }

  private static boolean isWhole(FileType type) {
    return type.kind() == Kind.INT
        || (type.kind() == Kind.UINT && type.bits() < Long.SIZE)
        || (type.kind() == Kind.DECIMAL && type.scale() == 0);
  }

  private static @Nullable Object whole(byte[] plain, int physical, FileType type) {
    Long number = number(plain, physical);
    return number != null && type.kind() == Kind.UINT && physical == Physical.INT32
        ? (Long) (number & 0xFFFF_FFFFL)
        : number;
  }

  private static @Nullable Long number(byte[] plain, int physical) {
    ByteBuffer bytes = ByteBuffer.wrap(plain).order(ByteOrder.LITTLE_ENDIAN);
    if (physical == Physical.INT32 && plain.length == Integer.BYTES) {
      return (long) bytes.getInt();
    }
    return physical == Physical.INT64 && plain.length == Long.BYTES ? bytes.getLong() : null;
  }

  private static @Nullable Object timestamp(byte[] plain, int physical, TimeUnits units) {
    Long number = number(plain, physical);
    if (number == null) {
      return null;
    }
    long micros =
        switch (units) {
          case SECONDS -> Math.multiplyExact(number, Calendars.MICROS_PER_DAY / 86_400);
          case MILLIS -> Math.multiplyExact(number, MICROS_PER_MILLI);
          case MICROS -> number;
          case NANOS -> Math.floorDiv(number, NANOS_PER_MICRO);
        };
    return Math.subtractExact(micros, UNIX_EPOCH_MICROS);
  }

  private static @Nullable Object real(byte[] plain, int physical) {
    ByteBuffer bytes = ByteBuffer.wrap(plain).order(ByteOrder.LITTLE_ENDIAN);
    double value;
    if (physical == Physical.FLOAT && plain.length == Float.BYTES) {
      value = bytes.getFloat();
    } else if (physical == Physical.DOUBLE && plain.length == Double.BYTES) {
      value = bytes.getDouble();
    } else {
      return null;
    }
    return Double.isNaN(value) ? null : (Object) value;
  }

  private static @Nullable Reader numeric(FileType type, LoadColumn target, int physical) {
    // A number that is rounded may come to lie beyond the bounds.
    if (target.typeModifier() >= 0) {
      return null;
    }
    return switch (type.kind()) {
      case INT ->
          plain -> {
            Long number = number(plain, physical);
            return number == null ? null : BigDecimal.valueOf(number);
          };
      case DECIMAL, DECIMAL_BIG_ENDIAN ->
          plain -> {
            if (physical == Physical.INT32 || physical == Physical.INT64) {
              Long number = number(plain, physical);
              return number == null ? null : BigDecimal.valueOf(number, type.scale());
            }
            return plain.length == 0 ? null : new BigDecimal(new BigInteger(plain), type.scale());
          };
      default -> null;
    };
  }
}
