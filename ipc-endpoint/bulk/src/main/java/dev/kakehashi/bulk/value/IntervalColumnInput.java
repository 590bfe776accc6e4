package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// Intervals of a file as interval.
final class IntervalColumnInput extends EachInput {
  private static final int BYTES = 16;
  private static final long MICROS_PER_MILLI = 1000;
  private static final long NANOS_PER_MICRO = 1000;

  private final Kind kind;
  private final boolean truncate;

  IntervalColumnInput(String column, Kind kind, ValueOptions options) {
    super(column);
    this.kind = kind;
    this.truncate = options.truncates();
  }

  @Override
  long word(FileValues values, int index, BatchFill batch) {
    if (kind == Kind.INTERVAL_MONTHS) {
      return put(batch, (int) values.longs()[index], 0, 0);
    }
    byte[] bytes = values.bytes();
    int start = values.starts()[index];
    int first = (int) BatchFill.INTS.get(bytes, start);
    int second = (int) BatchFill.INTS.get(bytes, start + 4);
    return switch (kind) {
      case INTERVAL_DAYS_MILLIS -> put(batch, 0, first, second * MICROS_PER_MILLI);
      case INTERVAL_UNSIGNED -> {
        int millis = (int) BatchFill.INTS.get(bytes, start + 8);
        if (first < 0 || second < 0) {
          throw new EngineException(ErrorCode.INTERVAL_FIELD_OVERFLOW, "interval out of range");
        }
        yield put(batch, first, second, Integer.toUnsignedLong(millis) * MICROS_PER_MILLI);
      }
      case INTERVAL_NANOS -> {
        long nanos = (long) BatchFill.LONGS.get(bytes, start + 8);
        long micros = nanos / NANOS_PER_MICRO;
        if (micros * NANOS_PER_MICRO != nanos && !truncate) {
          throw new EngineException(
                  ErrorCode.INTERVAL_FIELD_OVERFLOW,
                  "interval has nanoseconds, which would be lost")
              .withHint("The option truncate cuts them off.");
        }
        yield put(batch, first, second, micros);
      }
      default -> put(batch, first, second, (long) BatchFill.LONGS.get(bytes, start + 8));
    };
  }

  private static long put(BatchFill batch, int months, int days, long micros) {
    int at = batch.heap(BYTES);
    byte[] bytes = batch.bytes();
    BatchFill.LONGS.set(bytes, at, micros);
    BatchFill.INTS.set(bytes, at + 8, days);
    BatchFill.INTS.set(bytes, at + 12, months);
    return at;
  }
}
