package dev.kakehashi.formats;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgTime;
import dev.kakehashi.valuetext.time.Calendars;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// Values of a fixed number of bytes, or of one bit.
final class ArrowFixedColumn extends ArrowColumn {
  private static final long UNIX_EPOCH_MICROS =
      Calendars.UNIX_EPOCH_DAYS * Calendars.MICROS_PER_DAY;
  private static final int NANOS_PER_MICRO = 1000;

  private final ArrowField field;
  private final ArrowDecimal decimal;
  private final int width;
  private final boolean missingIsNull;
  private byte[] data = new byte[1 << 10];

  ArrowFixedColumn(ArrowField field, boolean missingIsNull) {
    this.field = field;
    this.missingIsNull = missingIsNull;
    this.width = field.width();
    this.decimal = new ArrowDecimal(field.precision(), field.scale());
  }

  @Override
  void reserve(int total) {
    data = grown(data, bytes(total));
  }

  private long bytes(int count) {
    return width < 0 ? (count + 7) >>> 3 : (long) width * count;
  }

  @Override
  void putAll(BatchView view, int column, int from, int to, boolean anyNull) {
    MemorySegment memory = view.memory();
    int count = to - from;
    int stride = view.stride();
    long wordAt = view.wordAt(view.rowAt(from), column);
    switch (field.form()) {
      case BOOL -> {
        int target = rows;
        for (int i = 0; i < count; i++) {
          int bit = memory.get(BatchView.I64, wordAt) != 0 ? 1 : 0;
          data[target >>> 3] |= (byte) (bit << (target & 7));
          target++;
          wordAt += stride;
        }
      }
      case INT2 -> {
        for (int i = 0, at = 2 * rows; i < count; i++, at += 2) {
          SHORTS.set(data, at, (short) memory.get(BatchView.I64, wordAt));
          wordAt += stride;
        }
      }
      case INT4, FLOAT4 -> {
        for (int i = 0, at = 4 * rows; i < count; i++, at += 4) {
          INTS.set(data, at, (int) memory.get(BatchView.I64, wordAt));
          wordAt += stride;
        }
      }
      case INT8, FLOAT8 -> {
        for (int i = 0, at = 8 * rows; i < count; i++, at += 8) {
          LONGS.set(data, at, memory.get(BatchView.I64, wordAt));
          wordAt += stride;
        }
      }
      case DATE -> dates(memory, wordAt, stride, count);
      case TIME ->
          micros(
              memory,
              wordAt,
              stride,
              count,
              0,
              Calendars.MICROS_PER_DAY - 1,
              0,
              "the time 24:00:00");
      case TIMESTAMP, TIMESTAMPTZ ->
          micros(
              memory,
              wordAt,
              stride,
              count,
              Long.MIN_VALUE + 1,
              Long.MAX_VALUE - UNIX_EPOCH_MICROS,
              UNIX_EPOCH_MICROS,
              "an infinite timestamp or one after 294246");
      default -> {
        for (int i = 0; i < count; i++) {
          int row = rows + i;
          if (!anyNull || isPresent(row)) {
            put(view, row, memory.get(BatchView.I64, wordAt));
          }
          wordAt += stride;
        }
      }
    }
  }

  private void dates(MemorySegment memory, long firstAt, int stride, int count) {
    long wordAt = firstAt;
    for (int i = 0; i < count; i++) {
      int days = (int) memory.get(BatchView.I64, wordAt);
      wordAt += stride;
      if (days == PgTime.DATE_POSITIVE_INFINITY || days == PgTime.DATE_NEGATIVE_INFINITY) {
        missing(rows + i, "an infinite date", ErrorCode.DATETIME_OVERFLOW);
        continue;
      }
      INTS.set(data, 4 * (rows + i), days + Calendars.UNIX_EPOCH_DAYS);
    }
  }

  private void micros(
      MemorySegment memory,
      long firstAt,
      int stride,
      int count,
      long min,
      long max,
      long epoch,
      String missing) {
    long wordAt = firstAt;
    for (int i = 0; i < count; i++) {
      long word = memory.get(BatchView.I64, wordAt);
      wordAt += stride;
      if (word < min || word > max) {
        missing(rows + i, missing, ErrorCode.DATETIME_OVERFLOW);
        continue;
      }
      LONGS.set(data, 8 * (rows + i), word + epoch);
    }
  }

  private void put(BatchView view, int row, long word) {
    int at = width * row;
    switch (field.form()) {
      case INTERVAL -> interval(view.memory(), view.fixedAt(word, width), at, row);
      case UUID ->
          MemorySegment.copy(
              view.memory(), ValueLayout.JAVA_BYTE, view.fixedAt(word, width), data, at, width);
      default -> {
        long payload = view.payloadAt(word);
        int length = view.payloadBytes(word);
        if (missingIsNull && NumericText.isSpecial(view.memory(), payload, length)) {
          makeNull(row);
        } else {
          decimal.put(data, at, width, view.memory(), payload, length);
        }
      }
    }
  }

  private void interval(MemorySegment memory, long from, int at, int row) {
    long micros = memory.get(BatchView.I64, from);
    long nanos = micros * NANOS_PER_MICRO;
    if (nanos / NANOS_PER_MICRO != micros) {
      missing(
          row, "an interval of more than 292 years in hours", ErrorCode.INTERVAL_FIELD_OVERFLOW);
      return;
    }
    INTS.set(data, at, memory.get(BatchView.I32, from + 12));
    INTS.set(data, at + 4, memory.get(BatchView.I32, from + 8));
    LONGS.set(data, at + 8, nanos);
  }

  private void missing(int row, String what, ErrorCode code) {
    if (!missingIsNull) {
      throw new EngineException(
              code, "column \"" + field.name() + "\" has " + what + ", which has no form in Arrow")
          .withHint(MISSING_HINT);
    }
    makeNull(row);
  }

  @Override
  void values(Buffers buffers) {
    buffers.buffer(data, (int) bytes(rows));
  }

  @Override
  public void reset() {
    Arrays.fill(data, 0, (int) bytes(begun), (byte) 0);
    super.reset();
  }
}
