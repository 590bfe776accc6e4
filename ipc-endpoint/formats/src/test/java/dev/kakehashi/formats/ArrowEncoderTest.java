package dev.kakehashi.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.Period;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.PeriodDuration;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.message.MessageChannelReader;
import org.apache.arrow.vector.ipc.message.MessageResult;
import org.apache.arrow.vector.types.pojo.ArrowType.ArrowTypeID;
import org.apache.arrow.vector.types.pojo.Field;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Streams of the encoder, as the Arrow project's reader reads them.
class ArrowEncoderTest {
  private static final FormatOptions OPTIONS = FormatOptions.of(Format.ARROW);

  /// Fields, columns and batches that a reader has seen.
  private record Read(List<Field> fields, List<List<Object>> columns, List<Integer> batches) {
    Object only() {
      return columns.getFirst().getFirst();
    }
  }

  private static Read read(byte[] stream) throws IOException {
    try (BufferAllocator allocator = new RootAllocator();
        ArrowStreamReader reader =
            new ArrowStreamReader(new ByteArrayInputStream(stream), allocator)) {
      VectorSchemaRoot root = reader.getVectorSchemaRoot();
      Read read = new Read(root.getSchema().getFields(), new ArrayList<>(), new ArrayList<>());
      for (int i = 0; i < read.fields.size(); i++) {
        read.columns.add(new ArrayList<>());
      }
      while (reader.loadNextBatch()) {
        read.batches.add(root.getRowCount());
        for (int i = 0; i < read.columns.size(); i++) {
          FieldVector vector = root.getVector(i);
          // The full validation takes a decimal for too long that has all the digits of its type.
          if (vector.getField().getType().getTypeID() == ArrowTypeID.Decimal) {
            vector.validate();
          } else {
            vector.validateFull();
          }
          for (int row = 0; row < root.getRowCount(); row++) {
            read.columns.get(i).add(vector.getObject(row));
          }
        }
      }
      return read;
    }
  }

  private static Read encoded(String json, int typeOid, int typeModifier) throws IOException {
    return read(
        Samples.encoded(
            RowEncoder.of(Format.ARROW, OPTIONS),
            List.of(new Statement.Column("c", typeOid, typeModifier)),
            Samples.row(json, typeOid)));
  }

  private static int numeric(int precision, int scale) {
    return (precision << 16 | (scale & 0x7FF)) + 4;
  }

  @ParameterizedTest
  @CsvSource({
    "16, true, true",
    "21, -32768, -32768",
    "23, 2147483647, 2147483647",
    "20, -9223372036854775808, -9223372036854775808",
    "700, 0.1, 0.1",
    "701, 5e-324, 4.9E-324",
    "701, \"NaN\", NaN",
    "1082, \"2024-02-29\", 19782",
    "1082, \"1969-12-31\", -1",
    "1083, \"23:59:59.999999\", 86399999999",
    "1184, \"2024-02-29T12:00:00.000001+01:00\", 1709204400000001",
    "25, \"täxt\", täxt",
    "18, \"x\", x",
    "19, \"name\", name",
    "1266, \"12:00:00+05:30\", 12:00:00+05:30",
    "114, [1], [1]",
    "3802, [1], [1]",
    "1700, \"-1.50\", -1.50",
    "1700, \"NaN\", NaN"
  })
  void shouldHoldScalars(int typeOid, String json, String expected) throws IOException {
    assertEquals(expected, encoded("[" + json + "]", typeOid, -1).only().toString());
    assertNull(encoded("[null]", typeOid, -1).only());
  }

  @Test
  void shouldHoldTimestampsWithoutZone() throws IOException {
    Read read = encoded("[\"1999-12-31 23:59:59.999999\"]", TypeOid.TIMESTAMP, -1);
    assertEquals(LocalDateTime.of(1999, 12, 31, 23, 59, 59, 999_999_000), read.only());
    assertEquals("Timestamp(MICROSECOND, null)", read.fields.getFirst().getType().toString());
  }

  @Test
  void shouldHoldTimestampsInUtc() throws IOException {
    Read read = encoded("[\"2000-01-01 00:00:00+00\"]", TypeOid.TIMESTAMPTZ, -1);
    assertEquals(946_684_800_000_000L, read.only());
    assertEquals("Timestamp(MICROSECOND, UTC)", read.fields.getFirst().getType().toString());
  }

  @Test
  void shouldHoldIntervals() throws IOException {
    Object value = encoded("[\"1 year 2 mons -3 days +04:05:06.7\"]", TypeOid.INTERVAL, -1).only();
    assertEquals(
        new PeriodDuration(
            Period.of(0, 14, -3), Duration.ofHours(4).plusMinutes(5).plusMillis(6700)),
        value);
  }

  @Test
  void shouldHoldBytesAndUuids() throws IOException {
    assertArrayEquals(
        new byte[] {0, -1}, (byte[]) encoded("[\"\\\\x00ff\"]", TypeOid.BYTEA, -1).only());
    Read uuid = encoded("[\"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"]", TypeOid.UUID, -1);
    // The reader knows no arrow.uuid unless it is registered: it sees what is stored.
    assertArrayEquals(
        HexFormat.of().parseHex("a0eebc999c0b4ef8bb6d6bb9bd380a11"), (byte[]) uuid.only());
    assertEquals("arrow.uuid", uuid.fields.getFirst().getMetadata().get("ARROW:extension:name"));
    assertEquals("uuid", uuid.fields.getFirst().getMetadata().get("kakehashi.type"));
  }

  @Test
  void shouldSayWhatIsJson() throws IOException {
    Map<String, String> metadata =
        encoded("[{}]", TypeOid.JSONB, -1).fields.getFirst().getMetadata();
    assertEquals("arrow.json", metadata.get("ARROW:extension:name"));
    assertEquals("jsonb", metadata.get("kakehashi.type"));
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0, 9",
    "4, 2, -12.34",
    "4, 2, 0",
    "4, 4, 0.0001",
    "18, 0, 999999999999999999",
    "18, 18, -0.999999999999999999",
    "18, 6, 123456789012.345678",
    "19, 0, -9999999999999999999",
    "19, 3, 0.001",
    "30, 10, 12345678901234567890.0123456789",
    "38, 0, 99999999999999999999999999999999999999",
    "38, 0, -99999999999999999999999999999999999999",
    "38, 38, -0.00000000000000000000000000000000000001",
    "39, 0, 999999999999999999999999999999999999999",
    "76, 40, -123456789012345678901234567890123456.1234567890123456789012345678901234567890",
    "76, 0, 9999999999999999999999999999999999999999999999999999999999999999999999999999",
    "76, 0, 5"
  })
  void shouldHoldDecimals(int precision, int scale, BigDecimal value) throws IOException {
    Read read =
        encoded("[\"" + value.toPlainString() + "\"]", TypeOid.NUMERIC, numeric(precision, scale));
    assertEquals(value.setScale(scale), read.only());
    int bits = precision <= 38 ? 128 : 256;
    assertEquals(
        "Decimal(%d, %d, %d)".formatted(precision, scale, bits),
        read.fields.getFirst().getType().toString());
  }

  @ParameterizedTest
  @CsvSource({"77, 0", "2, 5", "5, -2"})
  void shouldHoldOtherNumericsAsText(int precision, int scale) throws IOException {
    Read read = encoded("[\"0.5\"]", TypeOid.NUMERIC, numeric(precision, scale));
    assertEquals("Utf8", read.fields.getFirst().getType().toString());
    assertEquals("0.5", read.only().toString());
  }

  @ParameterizedTest
  @CsvSource({
    "1700, 4, 2, \"NaN\", NUMERIC_VALUE_OUT_OF_RANGE",
    "1700, 4, 2, 123.45, NUMERIC_VALUE_OUT_OF_RANGE",
    "1700, 4, 2, 1.234, NUMERIC_VALUE_OUT_OF_RANGE",
    "1700, 4, 2, 0.00001, NUMERIC_VALUE_OUT_OF_RANGE",
    "1700, 18, 0, 1000000000000000000, NUMERIC_VALUE_OUT_OF_RANGE",
    "1700, 38, 0, 100000000000000000000000000000000000000, NUMERIC_VALUE_OUT_OF_RANGE",
    "1700, 76, 0, 1e200, NUMERIC_VALUE_OUT_OF_RANGE",
    "1082, 0, 0, \"infinity\", DATETIME_OVERFLOW",
    "1114, 0, 0, \"-infinity\", DATETIME_OVERFLOW",
    "1184, 0, 0, \"infinity\", DATETIME_OVERFLOW",
    "1114, 0, 0, \"294276-12-31 00:00:00\", DATETIME_OVERFLOW",
    "1083, 0, 0, \"24:00:00\", DATETIME_OVERFLOW",
    "1186, 0, 0, \"2562047788:00:00\", INTERVAL_FIELD_OVERFLOW",
    "1007, 0, 0, '[[1],[2]]', FEATURE_NOT_SUPPORTED"
  })
  void shouldRefuseWhatArrowCannotHold(
      int typeOid, int precision, int scale, String json, ErrorCode code) {
    int typeModifier = precision == 0 ? -1 : numeric(precision, scale);
    EngineException failure =
        assertThrows(EngineException.class, () -> encoded("[" + json + "]", typeOid, typeModifier));
    assertEquals(code, failure.code());
    assertTrue(failure.hint().contains("Cast the column to text"), failure.hint());
    assertEquals(
        json.contains("NaN")
            || (code != ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE
                && code != ErrorCode.FEATURE_NOT_SUPPORTED),
        failure.hint().contains("infinity text or infinity null"),
        failure.hint());
  }

  @ParameterizedTest
  @CsvSource({
    "1007, '[1,null,-3]', '[1,null,-3]'",
    "1007, '[]', '[]'",
    "1009, '[\"a b\",\"\",null,\"q\\\"\"]', '[\"a b\",\"\",null,\"q\\\"\"]'",
    "1231, '[\"1.50\",\"NaN\"]', '[\"1.50\",\"NaN\"]'",
    "1000, '[true,false,null]', '[true,false,null]'",
    "1022, '[0.5,1e300]', '[0.5,1.0E300]'",
    "1182, '[\"1970-01-02\"]', '[1]'",
    "1185, '[\"1970-01-01T00:00:01Z\"]', '[1000000]'"
  })
  void shouldHoldArrays(int typeOid, String json, String expected) throws IOException {
    assertEquals(expected, encoded("[" + json + "]", typeOid, -1).only().toString());
    assertNull(encoded("[null]", typeOid, -1).only());
  }

  @Test
  void shouldHoldDecimalsInArrays() throws IOException {
    Read read = encoded("[[\"1.5\",null]]", TypeOid.arrayOf(TypeOid.NUMERIC), numeric(4, 2));
    assertEquals(Arrays.asList(new BigDecimal("1.50"), null), read.only());
  }

  @Test
  void shouldHoldLongArraysAndTheirNeighbours() throws IOException {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      numbers.add(i);
    }
    List<Statement.Column> columns =
        List.of(new Statement.Column("a", 1007, -1), new Statement.Column("b", TypeOid.TEXT, -1));
    String json = "[" + numbers + ",\"x\"]";
    Read read =
        read(
            Samples.encoded(
                RowEncoder.of(Format.ARROW, OPTIONS),
                columns,
                Samples.row(json, 1007, TypeOid.TEXT)));
    assertEquals(numbers.toString().replace(" ", ""), read.only().toString());
    assertEquals("x", read.columns.get(1).getFirst().toString());
  }

  private static ParameterBatch numbers(int first, int count) {
    RowBatchWriter writer = RowBatchWriter.growable(2, count, 1 << 24);
    for (int i = first; i < first + count; i++) {
      writer.addRow();
      if (i % 7 == 3) {
        writer.setNull(0);
      } else {
        writer.setLong(0, i);
      }
      if (i % 5 == 2) {
        writer.setNull(1);
      } else {
        writer.setString(1, "row " + i);
      }
    }
    writer.finish();
    return new ParameterBatch(writer.batch(), count);
  }

  private static final List<Statement.Column> NUMBERS =
      List.of(
          new Statement.Column("i", TypeOid.INT8, -1), new Statement.Column("t", TypeOid.TEXT, -1));

  @Test
  void shouldKeepNullsApartOverManyRecordBatches() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RowEncoder encoder = RowEncoder.of(Format.ARROW, OPTIONS.withRecordBatchBytes(4096));
    encoder.begin(NUMBERS, out);
    for (int first = 0; first < 20_000; first += 1000) {
      encoder.rows(numbers(first, 1000).batch());
    }
    encoder.end(20_000);
    assertEquals(out.size(), encoder.byteCount());
    Read read = read(out.toByteArray());
    assertTrue(read.batches.size() > 50, () -> read.batches.size() + " record batches");
    assertEquals(20_000, read.columns.getFirst().size());
    for (int i = 0; i < 20_000; i++) {
      Object number = read.columns.getFirst().get(i);
      Object text = read.columns.get(1).get(i);
      assertEquals(i % 7 == 3 ? null : (Object) (long) i, number);
      assertEquals(i % 5 == 2 ? null : "row " + i, text == null ? null : text.toString());
    }
  }

  @Test
  void shouldSendRowsThatWaitWhenFlushed() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RowEncoder encoder = RowEncoder.of(Format.ARROW, OPTIONS);
    encoder.begin(NUMBERS, out);
    encoder.rows(numbers(0, 10).batch());
    int before = out.size();
    encoder.flush();
    assertTrue(out.size() > before);
    encoder.rows(numbers(10, 10).batch());
    encoder.end(20);
    assertEquals(List.of(10, 10), read(out.toByteArray()).batches);
  }

  @Test
  void shouldBeReadableWithoutRowsAndWithoutColumns() throws IOException {
    Read noRows =
        read(Samples.encoded(RowEncoder.of(Format.ARROW, OPTIONS), NUMBERS, ParameterBatch.NONE));
    assertEquals(2, noRows.fields.size());
    assertEquals(List.of(), noRows.batches);
    Read nothing =
        read(Samples.encoded(RowEncoder.of(Format.ARROW, OPTIONS), List.of(), ParameterBatch.NONE));
    assertEquals(List.of(), nothing.fields);
  }

  @Test
  void shouldEndWithTheErrorAndVisiblyCutOff() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RowEncoder encoder = RowEncoder.of(Format.ARROW, OPTIONS);
    encoder.begin(NUMBERS, out);
    encoder.rows(numbers(0, 10).batch());
    encoder.fail("{\"sqlstate\":\"22012\"}".getBytes(StandardCharsets.UTF_8));
    byte[] stream = out.toByteArray();
    assertThrows(IOException.class, () -> read(stream));
    try (BufferAllocator allocator = new RootAllocator();
        MessageChannelReader messages =
            new MessageChannelReader(
                new ReadChannel(Channels.newChannel(new ByteArrayInputStream(stream))),
                allocator)) {
      MessageResult schema = messages.readNext();
      assertEquals(0, schema.getMessage().customMetadataLength());
      MessageResult last = messages.readNext();
      assertEquals(ArrowEncoder.ERROR_KEY, last.getMessage().customMetadata(0).key());
      assertEquals("{\"sqlstate\":\"22012\"}", last.getMessage().customMetadata(0).value());
      last.getBodyBuffer().close();
      assertThrows(IOException.class, messages::readNext);
    }
  }

  @Test
  void shouldAlignEveryMessage() throws IOException {
    byte[] stream = Samples.encoded(RowEncoder.of(Format.ARROW, OPTIONS), NUMBERS, numbers(0, 13));
    ByteBuffer buffer = ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN);
    assertEquals(0, stream.length % 8);
    assertEquals(-1, buffer.getInt(0));
    assertEquals(0, buffer.getInt(4) % 8);
    assertEquals(0xFFFF_FFFFL, buffer.getLong(stream.length - 8));
    assertFalse(buffer.getInt(4) == 0);
  }
}
