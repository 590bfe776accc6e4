package dev.kakehashi.bulk.parquet;

import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgInterval;
import dev.kakehashi.protocol.value.PgNumeric;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/// Columns of all types, and random rows of them.
final class ParquetTable {
  static final int ENUM = TypeOid.TEXT;
  private static final long MIN_TIMESTAMP = -211_813_488_000_000_000L;
  private static final long MAX_TIMESTAMP = 9_223_371_331_199_999_999L - 1_000_000_000_000_000L;
  private final Random random;

  ParquetTable(long seed) {
    this.random = new Random(seed);
  }

  static LoadColumn column(String name, int oid, int modifier, String typeName) {
    return new LoadColumn(name, oid, modifier, typeName, true, List.of());
  }

  static int numericModifier(int precision, int scale) {
    return ((precision << 16) | (scale & 0x7FF)) + 4;
  }

  /// A column of each type.
  static List<LoadColumn> allTypes() {
    return List.of(
        column("b", TypeOid.BOOL, -1, "boolean"),
        column("i2", TypeOid.INT2, -1, "smallint"),
        column("i4", TypeOid.INT4, -1, "integer"),
        column("i8", TypeOid.INT8, -1, "bigint"),
        column("f4", TypeOid.FLOAT4, -1, "real"),
        column("f8", TypeOid.FLOAT8, -1, "double precision"),
        column("n9", TypeOid.NUMERIC, numericModifier(9, 2), "numeric(9,2)"),
        column("n18", TypeOid.NUMERIC, numericModifier(18, 4), "numeric(18,4)"),
        column("n38", TypeOid.NUMERIC, numericModifier(38, 10), "numeric(38,10)"),
        column("n70", TypeOid.NUMERIC, numericModifier(70, 33), "numeric(70,33)"),
        column("n", TypeOid.NUMERIC, -1, "numeric"),
        column("d", TypeOid.DATE, -1, "date"),
        column("t", TypeOid.TIME, -1, "time without time zone"),
        column("ts", TypeOid.TIMESTAMP, -1, "timestamp without time zone"),
        column("tz", TypeOid.TIMESTAMPTZ, -1, "timestamp with time zone"),
        column("iv", TypeOid.INTERVAL, -1, "interval"),
        column("u", TypeOid.UUID, -1, "uuid"),
        column("s", TypeOid.TEXT, -1, "text"),
        column("vc", TypeOid.VARCHAR, 24, "character varying(20)"),
        column("bin", TypeOid.BYTEA, -1, "bytea"),
        column("js", TypeOid.JSON, -1, "json"),
        column("ttz", TypeOid.TIMETZ, -1, "time with time zone"),
        new LoadColumn("en", ENUM, -1, "mood", true, List.of("sad", "ok", "happy")),
        column("ai", TypeOid.arrayOf(TypeOid.INT4), -1, "integer[]"),
        column("as", TypeOid.arrayOf(TypeOid.TEXT), -1, "text[]"),
        column("an", TypeOid.arrayOf(TypeOid.NUMERIC), -1, "numeric[]"),
        column("aiv", TypeOid.arrayOf(TypeOid.INTERVAL), -1, "interval[]"),
        column("af", TypeOid.arrayOf(TypeOid.FLOAT8), -1, "double precision[]"),
        column("au", TypeOid.arrayOf(TypeOid.UUID), -1, "uuid[]"));
  }

  /// A batch of random rows.
  ///
  /// @param nulls how many of a hundred values are null
  /// @param variety how many different values there are about; a small number makes dictionaries and runs
  MemorySegment rows(List<LoadColumn> ofColumns, int count, int nulls, int variety) {
    RowBatchWriter writer = RowBatchWriter.growable(ofColumns.size(), count, 1 << 29);
    for (int row = 0; row < count; row++) {
      if (!writer.addRow()) {
        throw new IllegalStateException("no room");
      }
      for (int i = 0; i < ofColumns.size(); i++) {
        if (random.nextInt(100) < nulls) {
          writer.setNull(i);
        } else {
          set(writer, i, ofColumns.get(i), variety);
        }
      }
    }
    writer.finish();
    return writer.batch();
  }

  private void set(RowBatchWriter writer, int i, LoadColumn column, int variety) {
    Random values = variety > 0 ? new Random(random.nextInt(variety) + 31L * i) : random;
    if (!column.labels().isEmpty()) {
      writer.setString(i, column.labels().get(values.nextInt(column.labels().size())));
      return;
    }
    switch (column.typeOid()) {
      case TypeOid.BOOL -> writer.setBoolean(i, values.nextBoolean());
      case TypeOid.INT2 ->
          writer.setLong(i, (short) extreme(values, Short.MIN_VALUE, Short.MAX_VALUE));
      case TypeOid.INT4 -> writer.setLong(i, extreme(values, Integer.MIN_VALUE, Integer.MAX_VALUE));
      case TypeOid.INT8 -> writer.setLong(i, extreme(values, Long.MIN_VALUE, Long.MAX_VALUE));
      case TypeOid.FLOAT4 -> writer.setFloat(i, (float) floating(values));
      case TypeOid.FLOAT8 -> writer.setDouble(i, floating(values));
      case TypeOid.NUMERIC -> setNumeric(writer, i, column.typeModifier(), values);
      case TypeOid.DATE -> writer.setLong(i, extreme(values, -2_451_545, 2_145_031_948));
      case TypeOid.TIME -> writer.setLong(i, extreme(values, 0, 86_399_999_999L));
      case TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ ->
          writer.setLong(i, extreme(values, MIN_TIMESTAMP, MAX_TIMESTAMP));
      case TypeOid.INTERVAL ->
          writer.setInterval(
              i, new PgInterval(values.nextInt(), values.nextInt(), values.nextLong()));
      case TypeOid.UUID -> writer.setUuid(i, new UUID(values.nextLong(), values.nextLong()));
      case TypeOid.TEXT -> writer.setString(i, text(values, 300));
      case TypeOid.VARCHAR -> writer.setString(i, text(values, 20));
      case TypeOid.BYTEA -> {
        byte[] bytes = new byte[values.nextInt(100)];
        values.nextBytes(bytes);
        writer.setBytes(i, bytes);
      }
      case TypeOid.JSON -> writer.setString(i, "{\"a\": " + values.nextInt() + "}");
      case TypeOid.TIMETZ -> writer.setString(i, "12:34:5" + values.nextInt(10) + "+02");
      default -> writer.setString(i, array(TypeOid.element(column.typeOid()), values));
    }
  }

  private static long extreme(Random values, long min, long max) {
    return switch (values.nextInt(8)) {
      case 0 -> min;
      case 1 -> max;
      case 2 -> Math.clamp(values.nextInt(100), min, max);
      default ->
          min
              + Math.floorMod(
                  values.nextLong(), Math.max(1, max - min < 0 ? Long.MAX_VALUE : max - min));
    };
  }

  private static double floating(Random values) {
    return switch (values.nextInt(8)) {
      case 0 -> Double.NaN;
      case 1 -> Double.POSITIVE_INFINITY;
      case 2 -> -0.0;
      case 3 -> 0.0;
      default -> values.nextGaussian();
    };
  }

  private static void setNumeric(RowBatchWriter writer, int i, int modifier, Random values) {
    if (modifier < 0) {
      switch (values.nextInt(10)) {
        case 0 -> writer.setNumeric(i, PgNumeric.NAN);
        case 1 -> writer.setNumeric(i, PgNumeric.NEGATIVE_INFINITY);
        default ->
            writer.setNumeric(
                i, new BigDecimal(new BigInteger(values.nextInt(300), values), values.nextInt(60)));
      }
      return;
    }
    int precision = (modifier - 4) >>> 16;
    int scale = (modifier - 4) & 0x7FF;
    BigInteger limit = BigInteger.TEN.pow(values.nextInt(precision) + 1);
    BigInteger unscaled =
        switch (values.nextInt(6)) {
          case 0 -> limit.subtract(BigInteger.ONE);
          case 1 -> BigInteger.ONE.subtract(limit);
          case 2 -> BigInteger.ZERO;
          default -> new BigInteger(limit.bitLength() + 4, values).mod(limit);
        };
    writer.setNumeric(i, new BigDecimal(unscaled, scale));
  }

  private static String text(Random values, int max) {
    int length = values.nextInt(max);
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      int kind = values.nextInt(10);
      text.append((char) (kind == 0 ? 0x3042 + values.nextInt(80) : 'a' + values.nextInt(26)));
    }
    return text.toString();
  }

  private static String array(int element, Random values) {
    int count = values.nextInt(5);
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < count; i++) {
      text.append(i == 0 ? "" : ",");
      text.append(
          values.nextInt(5) == 0
              ? "NULL"
              : switch (element) {
                case TypeOid.INT4 -> Integer.toString(values.nextInt());
                case TypeOid.NUMERIC -> values.nextInt(1000) + "." + values.nextInt(10) + "0";
                case TypeOid.INTERVAL -> "\"" + (2 + values.nextInt(7)) + " mons 3 days 04:05:06\"";
                case TypeOid.FLOAT8 -> Double.toString(values.nextInt(1000) + 0.5);
                case TypeOid.UUID -> new UUID(values.nextLong(), values.nextLong()).toString();
                default -> "\"x" + values.nextInt() + " \\\" y\"";
              });
    }
    return text.append("}").toString();
  }

  /// Rows as text: nulls, words, and what is on the heap in hexadecimal digits.
  static List<String> dump(MemorySegment batch, List<LoadColumn> columns) {
    RowBatchReader reader = new RowBatchReader().wrap(batch);
    List<String> rows = new ArrayList<>();
    for (int row = 0; row < reader.rowCount(); row++) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < columns.size(); i++) {
        text.append(columns.get(i).name()).append('=');
        text.append(
            reader.isNull(row, i) ? "null" : value(reader, row, i, columns.get(i).typeOid()));
        text.append(' ');
      }
      rows.add(text.toString());
    }
    return rows;
  }

  private static String value(RowBatchReader reader, int row, int i, int oid) {
    return switch (RowBatchReader.fixedBytes(oid)) {
      case -1 -> Long.toHexString(reader.getWord(row, i));
      case 0 ->
          oid == TypeOid.BYTEA || oid == TypeOid.NUMERIC
              ? HexFormat.of().formatHex(reader.getBytes(row, i))
              : new String(reader.getBytes(row, i), StandardCharsets.UTF_8);
      default ->
          oid == TypeOid.UUID
              ? reader.getUuid(row, i).toString()
              : reader.getInterval(row, i).toString();
    };
  }
}
