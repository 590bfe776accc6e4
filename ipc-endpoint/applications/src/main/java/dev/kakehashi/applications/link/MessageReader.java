package dev.kakehashi.applications.link;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads a message that has been copied out of the lane. Every read is checked against its end. Used by one thread.
///
/// All throw [EngineException] MALFORMED_MESSAGE for what no [MessageWriter] writes.
public final class MessageReader {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int MOST_SCALE = 20_000;
  private static final int MOST_NESTED = 6;
  private static final int KEPT = 1 << 20;
  private static final Map<Integer, ErrorCode> CODES =
      Stream.of(ErrorCode.values()).collect(Collectors.toMap(ErrorCode::number, code -> code));

  private byte[] bytes = new byte[512];
  private int at;
  private int end;

  /// Memory with room for a piece.
  byte[] room(int length, int piece) {
    if (length == 0 && bytes.length > KEPT && piece <= KEPT) {
      bytes = new byte[512];
    }
    if (length + piece > bytes.length) {
      bytes =
          Arrays.copyOf(
              bytes,
              (int)
                  Math.min(
                      Integer.MAX_VALUE - 64, Math.max(length + (long) piece, bytes.length * 2L)));
    }
    return bytes;
  }

  void begin(int length) {
    at = 0;
    end = length;
  }

  private int take(int count) {
    if (count < 0 || count > end - at) {
      throw malformed("ends within a field");
    }
    int from = at;
    at += count;
    return from;
  }

  public static EngineException malformed(String what) {
    return new EngineException(
        ErrorCode.MALFORMED_MESSAGE, "a message of a process of an application " + what);
  }

  /// Bytes of the message.
  public int length() {
    return end;
  }

  public byte get() {
    return bytes[take(1)];
  }

  public boolean getBoolean() {
    return get() != 0;
  }

  public int getInt() {
    return (int) INT.get(bytes, take(Integer.BYTES));
  }

  public long getLong() {
    return (long) LONG.get(bytes, take(Long.BYTES));
  }

  public double getDouble() {
    return Double.longBitsToDouble(getLong());
  }

  /// A count of things of one byte or more each.
  public int getCount() {
    int count = getInt();
    if (count < 0 || count > end - at) {
      throw malformed("has a wrong count");
    }
    return count;
  }

  public byte[] getBytes() {
    int length = getInt();
    int from = take(length);
    return Arrays.copyOfRange(bytes, from, from + length);
  }

  public String getText() {
    int length = getInt();
    return new String(bytes, take(length), length, StandardCharsets.UTF_8);
  }

  public @Nullable String getOptionalText() {
    return getBoolean() ? getText() : null;
  }

  public List<String> getTexts() {
    return getList(MessageReader::getText);
  }

  public <T> List<T> getList(Function<MessageReader, T> element) {
    int count = getCount();
    List<T> list = new ArrayList<>(Math.min(count, 1024));
    for (int i = 0; i < count; i++) {
      list.add(element.apply(this));
    }
    return list;
  }

  public @Nullable Object[] getValues() {
    return getValues(0);
  }

  private @Nullable Object[] getValues(int nested) {
    int count = getCount();
    @Nullable Object[] values = new Object[count];
    for (int i = 0; i < count; i++) {
      values[i] = getValue(nested);
    }
    return values;
  }

  public @Nullable Object getValue() {
    return getValue(0);
  }

  private @Nullable Object getValue(int nested) {
    byte tag = get();
    try {
      return switch (tag) {
        case ValueTag.NULL -> null;
        case ValueTag.FALSE -> false;
        case ValueTag.TRUE -> true;
        case ValueTag.SHORT -> (short) getInt();
        case ValueTag.INT -> getInt();
        case ValueTag.LONG -> getLong();
        case ValueTag.FLOAT -> Float.intBitsToFloat(getInt());
        case ValueTag.DOUBLE -> getDouble();
        case ValueTag.DECIMAL -> decimal();
        case ValueTag.SMALL_DECIMAL -> smallDecimal();
        case ValueTag.TEXT -> getText();
        case ValueTag.BYTES -> getBytes();
        case ValueTag.DATE -> LocalDate.ofEpochDay(getLong());
        case ValueTag.TIME -> LocalTime.ofNanoOfDay(getLong());
        case ValueTag.TIMESTAMP ->
            LocalDateTime.of(LocalDate.ofEpochDay(getLong()), LocalTime.ofNanoOfDay(getLong()));
        case ValueTag.INSTANT -> Instant.ofEpochSecond(getLong(), getInt());
        case ValueTag.DURATION -> Duration.ofSeconds(getLong(), getInt());
        case ValueTag.UUID -> new UUID(getLong(), getLong());
        case ValueTag.ARRAY -> {
          if (nested == MOST_NESTED) {
            throw malformed("has arrays within arrays");
          }
          yield getValues(nested + 1);
        }
        default -> throw malformed("has a value of kind " + tag);
      };
    } catch (DateTimeException | ArithmeticException e) {
      throw malformed("has a time out of range: " + e.getMessage());
    }
  }

  private BigDecimal decimal() {
    int scale = getScale();
    byte[] unscaled = getBytes();
    if (unscaled.length == 0) {
      throw malformed("has a number out of range");
    }
    return new BigDecimal(new BigInteger(unscaled), scale);
  }

  private BigDecimal smallDecimal() {
    int scale = getScale();
    return BigDecimal.valueOf(getLong(), scale);
  }

  private int getScale() {
    int scale = getInt();
    if (Math.abs((long) scale) > MOST_SCALE) {
      throw malformed("has a number out of range");
    }
    return scale;
  }

  public EngineException getFailure() {
    ErrorCode code = CODES.get(getInt());
    String sqlstate = getText();
    String message = getText();
    if (code == null || !sqlstate.matches("[0-9A-Z]{5}")) {
      throw malformed("has an unknown error");
    }
    // The other side has logged the failure already; its stack is not ours.
    EngineException failure = new EngineException(code, message);
    if (!sqlstate.equals(code.sqlstate())) {
      failure.withSqlstate(sqlstate);
    }
    failure.withDetail(getText()).withHint(getText());
    String schema = getText();
    return failure.withTable(schema, getText()).withColumn(getText()).withConstraint(getText());
  }
}
