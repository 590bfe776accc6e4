package dev.kakehashi.formats;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.value.PgTime;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// Values of a fixed number of bytes, or of one bit.
final class ArrowFixedColumn extends ArrowColumn {
  private static final long UNIX_EPOCH_MICROS =
      CivilDate.UNIX_EPOCH_DAYS * CivilDate.MICROS_PER_DAY;
  private static final int NANOS_PER_MICRO = 1000;

  private final ArrowField field;
  private final ArrowDecimal decimal;
  private final int width;
  private byte[] data = new byte[1 << 10];

  ArrowFixedColumn(ArrowField field) {
    this.field = field;
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
  void put(BatchView view, long word) {
    int at = width * rows;
    switch (field.form()) {
      case BOOL -> {
        if (word != 0) {
          data[rows >>> 3] |= (byte) (1 << (rows & 7));
        }
      }
      case INT2 -> SHORTS.set(data, at, (short) word);
      case INT4, FLOAT4 -> INTS.set(data, at, (int) word);
      case INT8, FLOAT8 -> LONGS.set(data, at, word);
      case DATE -> {
        if (word == PgTime.DATE_POSITIVE_INFINITY || word == PgTime.DATE_NEGATIVE_INFINITY) {
          throw hasNoForm("an infinite date", ErrorCode.DATETIME_OVERFLOW);
        }
        INTS.set(data, at, (int) word + CivilDate.UNIX_EPOCH_DAYS);
      }
      case TIME -> {
        if (word >= CivilDate.MICROS_PER_DAY) {
          throw hasNoForm("the time 24:00:00", ErrorCode.DATETIME_OVERFLOW);
        }
        LONGS.set(data, at, word);
      }
      case TIMESTAMP, TIMESTAMPTZ -> {
        if (word == PgTime.TIMESTAMP_NEGATIVE_INFINITY
            || word > Long.MAX_VALUE - UNIX_EPOCH_MICROS) {
          throw hasNoForm("an infinite timestamp or one after 294246", ErrorCode.DATETIME_OVERFLOW);
        }
        LONGS.set(data, at, word + UNIX_EPOCH_MICROS);
      }
      case INTERVAL -> interval(view.memory(), view.fixedAt(word, width), at);
      case UUID ->
          MemorySegment.copy(
              view.memory(), ValueLayout.JAVA_BYTE, view.fixedAt(word, width), data, at, width);
      default -> {
        long payload = view.payloadAt(word);
        decimal.put(data, at, width, view.memory(), payload, view.payloadBytes(word));
      }
    }
  }

  private void interval(MemorySegment memory, long from, int at) {
    long micros = memory.get(BatchView.I64, from);
    long nanos = micros * NANOS_PER_MICRO;
    if (nanos / NANOS_PER_MICRO != micros) {
      throw hasNoForm(
          "an interval of more than 292 years in hours", ErrorCode.INTERVAL_FIELD_OVERFLOW);
    }
    INTS.set(data, at, memory.get(BatchView.I32, from + 12));
    INTS.set(data, at + 4, memory.get(BatchView.I32, from + 8));
    LONGS.set(data, at + 8, nanos);
  }

  private EngineException hasNoForm(String what, ErrorCode code) {
    return new EngineException(
            code, "column \"" + field.name() + "\" has " + what + ", which has no form in Arrow")
        .withHint("Cast the column to text.");
  }

  @Override
  void putNull() {
    // The bytes are zero since the last reset.
  }

  @Override
  void values(Buffers buffers) {
    buffers.buffer(data, (int) bytes(rows));
  }

  @Override
  void reset() {
    Arrays.fill(data, 0, (int) bytes(rows), (byte) 0);
    super.reset();
  }
}
