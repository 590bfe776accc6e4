package dev.kakehashi.tck.drive;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.protocol.value.PgNumeric;
import dev.kakehashi.protocol.value.PgTime;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Rows of parameters from values of Java, and values of result rows as text. An engine's own conversions are not used.
public final class RowValues {
  private static final int MAX_BYTES = 1 << 30;

  private RowValues() {}

  /// A batch of parameters in native memory.
  ///
  /// Dates and times are values of `java.time` or numbers as in a row batch; types in text form are strings.
  ///
  /// @param oids types of the parameters
  /// @param rows a value for each of them; null is NULL
  public static ParameterBatch batch(int[] oids, @Nullable Object[][] rows) {
    if (oids.length == 0 && rows.length <= 1) {
      return ParameterBatch.NONE;
    }
    RowBatchWriter writer = RowBatchWriter.growable(oids.length, rows.length, MAX_BYTES);
    for (@Nullable Object[] row : rows) {
      if (row.length != oids.length || !writer.addRow()) {
        throw new IllegalArgumentException(row.length + " values for " + oids.length);
      }
      for (int column = 0; column < oids.length; column++) {
        Object value = row[column];
        if (value == null) {
          writer.setNull(column);
        } else if (!set(writer, column, oids[column], value)) {
          throw new IllegalArgumentException("the parameters are too long");
        }
      }
    }
    int bytes = writer.finish();
    MemorySegment memory = Arena.ofAuto().allocate(bytes, 8);
    memory.copyFrom(writer.batch());
    return new ParameterBatch(memory, rows.length);
  }

  private static boolean set(RowBatchWriter writer, int column, int oid, Object value) {
    switch (value) {
      case Boolean bool -> writer.setBoolean(column, bool);
      case Float number -> writer.setFloat(column, number);
      case Double number -> writer.setDouble(column, number);
      case LocalDate date -> writer.setDate(column, date);
      case LocalTime time -> writer.setTime(column, time);
      case LocalDateTime timestamp -> writer.setTimestamp(column, timestamp);
      case Instant instant -> writer.setTimestamptz(column, instant);
      case BigDecimal number -> {
        return writer.setNumeric(column, number);
      }
      case PgNumeric number -> {
        return writer.setNumeric(column, number);
      }
      case PgInterval interval -> {
        return writer.setInterval(column, interval);
      }
      case UUID uuid -> {
        return writer.setUuid(column, uuid);
      }
      case byte[] bytes -> {
        return writer.setBytes(column, bytes);
      }
      case String text -> {
        return writer.setString(column, text);
      }
      case Number number -> {
        return setNumber(writer, column, oid, number);
      }
      default -> throw new IllegalArgumentException("a value of " + value.getClass());
    }
    return true;
  }

  /// An integer, for whichever type of numbers the engine has given the parameter.
  private static boolean setNumber(RowBatchWriter writer, int column, int oid, Number number) {
    switch (oid) {
      case TypeOid.NUMERIC -> {
        return writer.setNumeric(column, BigDecimal.valueOf(number.longValue()));
      }
      case TypeOid.FLOAT8 -> writer.setDouble(column, number.doubleValue());
      case TypeOid.FLOAT4 -> writer.setFloat(column, number.floatValue());
      default -> writer.setLong(column, number.longValue());
    }
    return true;
  }

  /// A row: its values with `|` between them.
  static String text(List<Statement.Column> columns, RowBatchReader batch, int row) {
    return IntStream.range(0, columns.size())
        .mapToObj(column -> text(columns.get(column).typeOid(), batch, row, column))
        .collect(Collectors.joining("|"));
  }

  /// A value: numbers and dates as Java writes them, NULL, text as it is, `bytea` in hexadecimal digits, infinities of times by their
  /// names, intervals as `months/days/micros`.
  private static String text(int oid, RowBatchReader batch, int row, int column) {
    if (batch.isNull(row, column)) {
      return "NULL";
    }
    long word = batch.getWord(row, column);
    return switch (oid) {
      case TypeOid.BOOL -> word == 0 ? "f" : "t";
      case TypeOid.INT2, TypeOid.INT4, TypeOid.INT8 -> Long.toString(word);
      case TypeOid.FLOAT4 -> Float.toString(batch.getFloat(row, column));
      case TypeOid.FLOAT8 -> Double.toString(batch.getDouble(row, column));
      case TypeOid.NUMERIC -> text(batch.getNumeric(row, column));
      case TypeOid.DATE -> date((int) word);
      case TypeOid.TIME -> word == 86_400_000_000L ? "24:00" : PgTime.toTime(word).toString();
      case TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ -> timestamp(word);
      case TypeOid.UUID -> batch.getUuid(row, column).toString();
      case TypeOid.BYTEA -> HexFormat.of().formatHex(batch.getBytes(row, column));
      case TypeOid.INTERVAL -> {
        PgInterval value = batch.getInterval(row, column);
        yield value.months() + "/" + value.days() + "/" + value.micros();
      }
      default -> batch.getString(row, column);
    };
  }

  private static String text(PgNumeric number) {
    return switch (number.kind()) {
      case FINITE -> number.bigDecimal().toPlainString();
      case NAN -> "NaN";
      case POSITIVE_INFINITY -> "Infinity";
      case NEGATIVE_INFINITY -> "-Infinity";
    };
  }

  private static String date(int days) {
    return switch (days) {
      case PgTime.DATE_POSITIVE_INFINITY -> "infinity";
      case PgTime.DATE_NEGATIVE_INFINITY -> "-infinity";
      default -> PgTime.toDate(days).toString();
    };
  }

  private static String timestamp(long micros) {
    if (micros == PgTime.TIMESTAMP_POSITIVE_INFINITY) {
      return "infinity";
    }
    return micros == PgTime.TIMESTAMP_NEGATIVE_INFINITY
        ? "-infinity"
        : PgTime.toTimestamp(micros).toString();
  }
}
