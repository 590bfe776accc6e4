package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Calendars;

/// Times of nanoseconds, INT96, and timestamps that are whole days, where a factor does not do.
final class TimeColumnInput extends EachInput {
  /// Type of the words.
  enum Target {
    DATE,
    TIME,
    TIMESTAMP
  }

  private static final long NANOS_PER_MICRO = 1000;
  private static final long UNIX_EPOCH_MICROS =
      Calendars.UNIX_EPOCH_DAYS * Calendars.MICROS_PER_DAY;
  private static final long NANOS_PER_DAY = Calendars.MICROS_PER_DAY * NANOS_PER_MICRO;

  /// Julian day of 2000-01-01.
  private static final long EPOCH_JULIAN_DAY = 2_451_545;

  private final FileType type;
  private final Target target;
  private final boolean truncate;

  TimeColumnInput(String column, FileType type, Target target, ValueOptions options) {
    super(column);
    this.type = type;
    this.target = target;
    this.truncate = options.truncates();
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    if (type.kind() == Kind.INT96) {
      return int96(values.bytes(), values.starts()[index]);
    }
    long value = values.longs()[index];
    long micros;
    if (type.units() == TimeUnits.NANOS) {
      micros = micros(value);
    } else {
      try {
        micros = Math.multiplyExact(value, TimeUnits.MICROS.perSecond() / type.units().perSecond());
      } catch (ArithmeticException e) {
        throw outOfRange(e);
      }
    }
    if (target == Target.TIME) {
      if (micros < 0 || micros > Calendars.MICROS_PER_DAY) {
        throw outOfRange(null);
      }
      return micros;
    }
    return timestamp(micros, UNIX_EPOCH_MICROS);
  }

  private long int96(byte[] bytes, int start) {
    long nanos = (long) BatchFill.LONGS.get(bytes, start);
    long day = ((int) BatchFill.INTS.get(bytes, start + Long.BYTES) & 0xFFFF_FFFFL);
    if (nanos < 0 || nanos >= NANOS_PER_DAY) {
      throw outOfRange(null);
    }
    long micros = micros(nanos);
    long days = day - EPOCH_JULIAN_DAY;
    if (days >= Calendars.END_DATE) {
      throw outOfRange(null);
    }
    try {
      return timestamp(
          Math.addExact(Math.multiplyExact(days, Calendars.MICROS_PER_DAY), micros), 0);
    } catch (ArithmeticException e) {
      throw outOfRange(e);
    }
  }

  private long timestamp(long micros, long epoch) {
    if (micros < Calendars.MIN_TIMESTAMP + epoch || micros - epoch >= Calendars.END_TIMESTAMP) {
      throw outOfRange(null);
    }
    long since = micros - epoch;
    if (target == Target.TIMESTAMP) {
      return since;
    }
    if (Math.floorMod(since, Calendars.MICROS_PER_DAY) != 0 && !truncate) {
      throw new EngineException(
              ErrorCode.DATETIME_OVERFLOW, "timestamp has a time of day, which a date cannot hold")
          .withHint("The option truncate cuts it off.");
    }
    return Math.floorDiv(since, Calendars.MICROS_PER_DAY);
  }

  private long micros(long nanos) {
    long micros = Math.floorDiv(nanos, NANOS_PER_MICRO);
    if (micros * NANOS_PER_MICRO != nanos && !truncate) {
      throw new EngineException(
              ErrorCode.DATETIME_OVERFLOW, "value has nanoseconds, which would be lost")
          .withHint("The option truncate cuts them off.");
    }
    return micros;
  }

  private EngineException outOfRange(@org.jspecify.annotations.Nullable Throwable cause) {
    return new EngineException(
        ErrorCode.DATETIME_OVERFLOW,
        (target == Target.TIME ? "time" : "timestamp") + " out of range",
        cause);
  }
}
