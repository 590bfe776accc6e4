package dev.kakehashi.bulk.value;

import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.formats.TextInput;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.random.RandomGenerator;

/// Rows of random values of every type that typed files hold, with their extremes and nulls.
public final class RandomTable {
  private static final int BATCH_BYTES = 64 << 20;
  private static final long MAX_TIMESTAMP = Long.MAX_VALUE - 946_684_800_000_000L;
  private static final long MIN_TIMESTAMP = -211_813_488_000_000_000L;

  private final RandomGenerator random;
  private final List<LoadColumn> columns = new ArrayList<>();

  public RandomTable(RandomGenerator random) {
    this.random = random;
    add("bool", TypeOid.BOOL, -1);
    add("int2", TypeOid.INT2, -1);
    add("int4", TypeOid.INT4, -1);
    add("int8", TypeOid.INT8, -1);
    add("float4", TypeOid.FLOAT4, -1);
    add("float8", TypeOid.FLOAT8, -1);
    add("numeric", TypeOid.NUMERIC, -1);
    add("numeric9", TypeOid.NUMERIC, numeric(9, 2));
    add("numeric18", TypeOid.NUMERIC, numeric(18, 0));
    add("numeric38", TypeOid.NUMERIC, numeric(38, 10));
    add("numeric60", TypeOid.NUMERIC, numeric(60, 60));
    add("date", TypeOid.DATE, -1);
    add("time", TypeOid.TIME, -1);
    add("timetz", TypeOid.TIMETZ, -1);
    add("timestamp", TypeOid.TIMESTAMP, -1);
    add("timestamptz", TypeOid.TIMESTAMPTZ, -1);
    add("interval", TypeOid.INTERVAL, -1);
    add("uuid", TypeOid.UUID, -1);
    add("text", TypeOid.TEXT, -1);
    add("varchar", TypeOid.VARCHAR, 20 + 4);
    add("bpchar", TypeOid.BPCHAR, 10 + 4);
    add("name", TypeOid.NAME, -1);
    add("bytea", TypeOid.BYTEA, -1);
    add("json", TypeOid.JSON, -1);
    add("jsonb", TypeOid.JSONB, -1);
    columns.add(
        new LoadColumn("mood", TypeOid.TEXT, -1, "mood", true, List.of("sad", "ok", "happy")));
    add("ints", TypeOid.arrayOf(TypeOid.INT4), -1);
    add("texts", TypeOid.arrayOf(TypeOid.TEXT), -1);
    add("numerics", TypeOid.arrayOf(TypeOid.NUMERIC), -1);
    add("times", TypeOid.arrayOf(TypeOid.TIMESTAMPTZ), -1);
    add("uuids", TypeOid.arrayOf(TypeOid.UUID), -1);
    add("bools", TypeOid.arrayOf(TypeOid.BOOL), -1);
    add("last", TypeOid.INT4, -1);
  }

  private void add(String name, int typeOid, int typeModifier) {
    columns.add(
        new LoadColumn(
            name, typeOid, typeModifier, TypeName.of(typeOid, typeModifier), true, List.of()));
  }

  /// The modifier of numeric(precision, scale).
  public static int numeric(int precision, int scale) {
    return (precision << 16 | (scale & 0x7FF)) + 4;
  }

  public List<LoadColumn> columns() {
    return columns;
  }

  /// Some rows, in memory of their own.
  public MemorySegment batch(int rows) {
    RowBatchWriter writer = RowBatchWriter.growable(columns.size(), rows, BATCH_BYTES);
    for (int row = 0; row < rows; row++) {
      writer.addRow();
      for (int column = 0; column < columns.size(); column++) {
        if (random.nextInt(8) == 0) {
          writer.setNull(column);
        } else {
          set(writer, column, columns.get(column));
        }
      }
    }
    writer.finish();
    return MemorySegment.ofArray(writer.batch().toArray(ValueLayout.JAVA_BYTE));
  }

  private void set(RowBatchWriter writer, int column, LoadColumn type) {
    switch (type.typeOid()) {
      case TypeOid.BOOL -> writer.setBoolean(column, random.nextBoolean());
      case TypeOid.INT2 -> writer.setLong(column, (short) number());
      case TypeOid.INT4 -> writer.setLong(column, int4());
      case TypeOid.INT8 -> writer.setLong(column, number());
      case TypeOid.FLOAT4 ->
          writer.setFloat(
              column, random.nextInt(4) == 0 ? special() : Float.intBitsToFloat(finite()));
      case TypeOid.FLOAT8 ->
          writer.setDouble(column, random.nextInt(4) == 0 ? special() : random.nextGaussian());
      case TypeOid.DATE -> writer.setLong(column, random.nextInt(-2_451_545, 2_000_000_000));
      case TypeOid.TIME -> writer.setLong(column, random.nextLong(86_400_000_000L));
      case TypeOid.TIMESTAMP, TypeOid.TIMESTAMPTZ ->
          writer.setLong(
              column,
              random.nextInt(10) == 0
                  ? random.nextBoolean() ? MAX_TIMESTAMP : MIN_TIMESTAMP
                  : random.nextLong(MIN_TIMESTAMP, MAX_TIMESTAMP));
      case TypeOid.INTERVAL ->
          writer.setInterval(
              column,
              new dev.kakehashi.protocol.value.PgInterval(
                  (int) number(), (int) number(), number() / 1000));
      case TypeOid.UUID -> writer.setUuid(column, new UUID(number(), number()));
      case TypeOid.NUMERIC -> numeric(writer, column, type.typeModifier());
      case TypeOid.BYTEA -> writer.setBytes(column, bytes());
      case TypeOid.TIMETZ -> TextInput.set(writer, column, type.typeOid(), timetz());
      default -> writer.setBytes(column, text(type).getBytes(StandardCharsets.UTF_8));
    }
  }

  private int int4() {
    return (int) number();
  }

  private long number() {
    return switch (random.nextInt(6)) {
      case 0 -> Long.MIN_VALUE >> random.nextInt(64);
      case 1 -> Long.MAX_VALUE >> random.nextInt(64);
      case 2 -> random.nextInt(100);
      default -> random.nextLong();
    };
  }

  private int finite() {
    return random.nextInt() & 0xFEFF_FFFF;
  }

  private float special() {
    return switch (random.nextInt(5)) {
      case 0 -> Float.NaN;
      case 1 -> Float.POSITIVE_INFINITY;
      case 2 -> Float.NEGATIVE_INFINITY;
      case 3 -> -0.0f;
      default -> Float.MIN_VALUE;
    };
  }

  private void numeric(RowBatchWriter writer, int column, int modifier) {
    if (modifier < 0) {
      if (random.nextInt(10) == 0) {
        TextInput.set(
            writer,
            column,
            TypeOid.NUMERIC,
            List.of("NaN", "Infinity", "-Infinity").get(random.nextInt(3)));
      } else {
        writer.setNumeric(
            column,
            new BigDecimal(
                new BigInteger(random.nextInt(1, 400), new java.util.Random(random.nextLong())),
                random.nextInt(100)));
      }
      return;
    }
    int precision = TypeName.precision(modifier);
    int scale = TypeName.scale(modifier);
    BigInteger end =
        BigInteger.TEN.pow(random.nextInt(3) == 0 ? precision : random.nextInt(1, precision + 1));
    BigInteger digits =
        random.nextInt(5) == 0
            ? end.subtract(BigInteger.ONE)
            : new BigInteger(end.bitLength() + 8, new java.util.Random(random.nextLong())).mod(end);
    writer.setNumeric(
        column, new BigDecimal(random.nextBoolean() ? digits : digits.negate(), scale));
  }

  private byte[] bytes() {
    byte[] bytes = new byte[random.nextInt(40)];
    random.nextBytes(bytes);
    return bytes;
  }

  private String timetz() {
    return "%02d:%02d:%02d.%06d%s%02d:%02d"
        .formatted(
            random.nextInt(24),
            random.nextInt(60),
            random.nextInt(60),
            random.nextInt(1_000_000),
            random.nextBoolean() ? "+" : "-",
            random.nextInt(15),
            random.nextInt(60));
  }

  private String text(LoadColumn type) {
    if (!type.labels().isEmpty()) {
      return type.labels().get(random.nextInt(type.labels().size()));
    }
    return switch (type.typeOid()) {
      case TypeOid.JSON -> random.nextBoolean() ? "{\"a\" : [1,  null]}" : "\"ä\\u0041\"";
      case TypeOid.JSONB ->
          random.nextBoolean() ? "{\"a\": [1, 2.50], \"bc\": {}}" : "[true, null, \"x\"]";
      case TypeOid.VARCHAR -> words(20);
      case TypeOid.BPCHAR -> {
        String text = words(10);
        yield text + " ".repeat(10 - text.codePointCount(0, text.length()));
      }
      case TypeOid.NAME -> words(15);
      case TypeOid.TEXT -> words(random.nextInt(20) == 0 ? 5000 : 40);
      default -> array(type);
    };
  }

  private String words(int characters) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(characters + 1);
    for (int i = 0; i < length; i++) {
      text.appendCodePoint(
          switch (random.nextInt(12)) {
            case 0 -> 'ä';
            case 1 -> 0x1F600;
            case 2 -> '"';
            case 3 -> '\n';
            case 4 -> 0x20AC;
            default -> 'a' + random.nextInt(26);
          });
    }
    return text.toString();
  }

  private String array(LoadColumn type) {
    int length = random.nextInt(5);
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < length; i++) {
      text.append(i == 0 ? "" : ",");
      text.append(random.nextInt(5) == 0 ? "NULL" : element(TypeOid.element(type.typeOid())));
    }
    return text.append('}').toString();
  }

  private String element(int typeOid) {
    return switch (typeOid) {
      case TypeOid.INT4 -> Integer.toString((int) number());
      case TypeOid.NUMERIC -> random.nextInt(4) == 0 ? "NaN" : number() + ".50";
      case TypeOid.TIMESTAMPTZ -> "\"2024-02-29 12:00:00.%d+00\"".formatted(random.nextInt(1, 10));
      case TypeOid.UUID -> new UUID(number(), number()).toString();
      case TypeOid.BOOL -> random.nextBoolean() ? "t" : "f";
      default ->
          switch (random.nextInt(5)) {
            case 0 -> "\"\"";
            case 1 -> "\"null\"";
            case 2 -> "\"a \\\\\\\"{,}\"";
            case 3 -> "€";
            default -> "plain";
          };
    };
  }
}
