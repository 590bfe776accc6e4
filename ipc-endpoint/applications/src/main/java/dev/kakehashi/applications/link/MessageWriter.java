package dev.kakehashi.applications.link;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Writes a message to memory of its own, which grows. Numbers are little-endian; a text is its bytes in UTF-8 after their count. Used by
/// one thread.
public final class MessageWriter {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int KEPT = 1 << 20;

  /// Decimal digits that each fit a long.
  private static final int LONG_DIGITS = 18;

  private byte[] bytes = new byte[512];
  private int length;

  /// Begins a message.
  public MessageWriter begin(byte kind) {
    length = 0;
    if (bytes.length > KEPT) {
      bytes = new byte[512];
    }
    return put(kind);
  }

  byte[] bytes() {
    return bytes;
  }

  public int length() {
    return length;
  }

  private int room(int more) {
    if (more > Integer.MAX_VALUE - 64 - length) {
      throw new EngineException(ErrorCode.LIMIT_EXCEEDED, "a message of more than 2 GB");
    }
    if (length + more > bytes.length) {
      bytes =
          Arrays.copyOf(
              bytes,
              (int) Math.min(Integer.MAX_VALUE - 64, Math.max(length + more, bytes.length * 2L)));
    }
    int at = length;
    length += more;
    return at;
  }

  public MessageWriter put(byte value) {
    int at = room(1);
    bytes[at] = value;
    return this;
  }

  public MessageWriter put(boolean value) {
    return put((byte) (value ? 1 : 0));
  }

  public MessageWriter putInt(int value) {
    int at = room(Integer.BYTES);
    INT.set(bytes, at, value);
    return this;
  }

  public MessageWriter putLong(long value) {
    int at = room(Long.BYTES);
    LONG.set(bytes, at, value);
    return this;
  }

  public MessageWriter putDouble(double value) {
    return putLong(Double.doubleToRawLongBits(value));
  }

  public MessageWriter putBytes(byte[] value) {
    putInt(value.length);
    int at = room(value.length);
    System.arraycopy(value, 0, bytes, at, value.length);
    return this;
  }

  /// Adds the bytes of another message after its kind.
  public MessageWriter putRest(MessageWriter other) {
    int more = other.length - 1;
    int at = room(more);
    System.arraycopy(other.bytes, 1, bytes, at, more);
    return this;
  }

  public MessageWriter putText(String value) {
    return putBytes(value.getBytes(StandardCharsets.UTF_8));
  }

  public MessageWriter putOptionalText(@Nullable String value) {
    put(value != null);
    return value == null ? this : putText(value);
  }

  public MessageWriter putTexts(List<String> values) {
    putInt(values.size());
    values.forEach(this::putText);
    return this;
  }

  public MessageWriter putValues(@Nullable Object[] values) {
    putInt(values.length);
    for (Object value : values) {
      putValue(value);
    }
    return this;
  }

  /// A value as it crosses the seam to the engine.
  ///
  /// @throws EngineException INTERNAL_ERROR of another class
  public MessageWriter putValue(@Nullable Object value) {
    switch (value) {
      case null -> put(ValueTag.NULL);
      case Boolean b -> put(b ? ValueTag.TRUE : ValueTag.FALSE);
      case Short s -> put(ValueTag.SHORT).putInt(s);
      case Integer i -> put(ValueTag.INT).putInt(i);
      case Long l -> put(ValueTag.LONG).putLong(l);
      case Float f -> put(ValueTag.FLOAT).putInt(Float.floatToRawIntBits(f));
      case Double d -> put(ValueTag.DOUBLE).putDouble(d);
      case BigDecimal d when d.precision() <= LONG_DIGITS ->
          put(ValueTag.SMALL_DECIMAL).putInt(d.scale()).putLong(d.unscaledValue().longValue());
      case BigDecimal d ->
          put(ValueTag.DECIMAL).putInt(d.scale()).putBytes(d.unscaledValue().toByteArray());
      case String s -> put(ValueTag.TEXT).putText(s);
      case byte[] b -> put(ValueTag.BYTES).putBytes(b);
      case LocalDate d -> put(ValueTag.DATE).putLong(d.toEpochDay());
      case LocalTime t -> put(ValueTag.TIME).putLong(t.toNanoOfDay());
      case LocalDateTime t ->
          put(ValueTag.TIMESTAMP)
              .putLong(t.toLocalDate().toEpochDay())
              .putLong(t.toLocalTime().toNanoOfDay());
      case Instant i -> put(ValueTag.INSTANT).putLong(i.getEpochSecond()).putInt(i.getNano());
      case Duration d -> put(ValueTag.DURATION).putLong(d.getSeconds()).putInt(d.getNano());
      case UUID u ->
          put(ValueTag.UUID)
              .putLong(u.getMostSignificantBits())
              .putLong(u.getLeastSignificantBits());
      case Object[] array -> put(ValueTag.ARRAY).putValues(array);
      default ->
          throw new EngineException(
              ErrorCode.INTERNAL_ERROR, "a value of class " + value.getClass().getName());
    }
    return this;
  }

  /// A failure: its code, SQLSTATE and fields.
  public MessageWriter putFailure(EngineException failure) {
    return putInt(failure.code().number())
        .putText(failure.sqlstate())
        .putText(String.valueOf(failure.getMessage()))
        .putText(failure.detail())
        .putText(failure.hint())
        .putText(failure.schemaName())
        .putText(failure.tableName())
        .putText(failure.columnName())
        .putText(failure.constraintName());
  }
}
