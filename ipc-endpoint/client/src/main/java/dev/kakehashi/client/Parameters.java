package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchLayout;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.protocol.value.PgNumeric;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Rows of parameters: the statement runs once per row.
///
/// [#tryAddRow] tells when a batch is full; send it then, [#reset()], and add the row again. For values without boxing use [#writer()]
/// directly.
public final class Parameters {
  private static final int MAX_ROWS_INLINE = 1024;

  private final int[] typeOids;
  private final RowBatchWriter writer;

  private Parameters(int[] typeOids, RowBatchWriter writer) {
    this.typeOids = typeOids;
    this.writer = writer;
  }

  static Parameters inline(int[] typeOids, int maxBytes) {
    int fit = RowBatchWriter.rowsThatFit(typeOids.length, maxBytes / 2);
    int rows = Math.clamp(fit, 1, MAX_ROWS_INLINE);
    return new Parameters(typeOids, RowBatchWriter.growable(typeOids.length, rows, maxBytes));
  }

  /// Rows in memory of an inbound buffer; `meanHeapBytes` is a guess of the heap bytes of a row.
  static Parameters inbound(int[] typeOids, MemorySegment memory, int meanHeapBytes) {
    int stride = RowBatchLayout.rowStride(typeOids.length) + meanHeapBytes;
    int rows = (int) Math.max(1, (memory.byteSize() - RowBatchLayout.HEADER_BYTES) / stride);
    return new Parameters(
        typeOids,
        RowBatchWriter.fixed(
            memory,
            typeOids.length,
            Math.min(rows, RowBatchWriter.rowsThatFit(typeOids.length, (int) memory.byteSize()))));
  }

  public RowBatchWriter writer() {
    return writer;
  }

  public int rowCount() {
    return writer.rowCount();
  }

  /// Adds a row; null is SQL's NULL.
  ///
  /// @throws EndpointException 54000 when the batch is full, 42804 when a value does not fit its type
  public Parameters addRow(@Nullable Object... values) {
    if (!tryAddRow(values)) {
      throw EndpointException.of(
          ErrorCode.LIMIT_EXCEEDED, "parameters exceed the longest batch of one request");
    }
    return this;
  }

  /// Adds a row if it fits.
  public boolean tryAddRow(@Nullable Object... values) {
    if (values.length != typeOids.length) {
      throw EndpointException.of(
          ErrorCode.UNDEFINED_PARAMETER,
          "statement has " + typeOids.length + " parameters, " + values.length + " were given");
    }
    if (!writer.addRow()) {
      return false;
    }
    boolean done = false;
    try {
      done = setAll(values);
    } finally {
      // Also when a value is refused: a program that goes on has the rows before.
      if (!done) {
        writer.dropRow();
      }
    }
    return done;
  }

  private boolean setAll(@Nullable Object[] values) {
    for (int column = 0; column < values.length; column++) {
      Object value = values[column];
      if (value == null) {
        writer.setNull(column);
      } else if (!set(column, value)) {
        return false;
      }
    }
    return true;
  }

  private boolean set(int column, Object value) {
    try {
      switch (typeOids[column]) {
        case TypeOid.BOOL -> writer.setBoolean(column, (Boolean) value);
        case TypeOid.INT2 -> writer.setLong(column, exact(value, Short.MIN_VALUE, Short.MAX_VALUE));
        case TypeOid.INT4 ->
            writer.setLong(column, exact(value, Integer.MIN_VALUE, Integer.MAX_VALUE));
        case TypeOid.INT8 -> writer.setLong(column, exact(value, Long.MIN_VALUE, Long.MAX_VALUE));
        case TypeOid.FLOAT4 -> writer.setFloat(column, ((Number) value).floatValue());
        case TypeOid.FLOAT8 -> writer.setDouble(column, ((Number) value).doubleValue());
        case TypeOid.DATE -> writer.setDate(column, (LocalDate) value);
        case TypeOid.TIME -> writer.setTime(column, (LocalTime) value);
        case TypeOid.TIMESTAMP -> writer.setTimestamp(column, (LocalDateTime) value);
        case TypeOid.TIMESTAMPTZ ->
            writer.setTimestamptz(
                column, value instanceof OffsetDateTime t ? t.toInstant() : (Instant) value);
        case TypeOid.UUID -> {
          return writer.setUuid(column, (UUID) value);
        }
        case TypeOid.INTERVAL -> {
          return writer.setInterval(column, (PgInterval) value);
        }
        case TypeOid.NUMERIC -> {
          return writer.setNumeric(column, numeric(value));
        }
        case TypeOid.BYTEA -> {
          return writer.setBytes(column, (byte[]) value);
        }
        default -> {
          return writer.setString(column, checked((String) value, column));
        }
      }
      return true;
    } catch (ClassCastException | ArithmeticException e) {
      throw EndpointException.of(
          ErrorCode.DATATYPE_MISMATCH,
          "value of %s does not fit parameter $%d of type %d"
              .formatted(value.getClass().getName(), column + 1, typeOids[column]),
          e);
    }
  }

  /// @throws EndpointException CHARACTER_NOT_IN_REPERTOIRE for what PostgreSQL's text cannot hold
  private static String checked(String text, int column) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0) {
        throw EndpointException.of(
            ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
            "parameter $" + (column + 1) + " has the character U+0000");
      }
      if (Character.isSurrogate(c)) {
        boolean pair = Character.isHighSurrogate(c) && i + 1 < text.length();
        if (!pair || !Character.isLowSurrogate(text.charAt(i + 1))) {
          throw EndpointException.of(
              ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
              "parameter $%d has half a surrogate pair: U+%04X".formatted(column + 1, (int) c));
        }
        i++;
      }
    }
    return text;
  }

  private static long exact(Object value, long min, long max) {
    long number =
        switch (value) {
          case Long l -> l;
          case Integer i -> i;
          case Short s -> s;
          case Byte b -> b;
          default -> throw new ClassCastException(value.getClass() + " is not an integer");
        };
    if (number < min || number > max) {
      throw new ArithmeticException("out of range");
    }
    return number;
  }

  private static PgNumeric numeric(Object value) {
    return switch (value) {
      case PgNumeric n -> n;
      case BigDecimal d -> PgNumeric.of(d);
      default -> PgNumeric.of(BigDecimal.valueOf(exact(value, Long.MIN_VALUE, Long.MAX_VALUE)));
    };
  }

  /// Forgets all rows.
  public void reset() {
    writer.reset();
  }
}
