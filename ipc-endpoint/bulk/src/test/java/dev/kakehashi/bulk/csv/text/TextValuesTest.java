package dev.kakehashi.bulk.csv.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.BatchView;
import dev.kakehashi.formats.Output;
import dev.kakehashi.formats.PlainText;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.formats.ValueForm;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.protocol.value.PgNumeric;
import dev.kakehashi.protocol.value.PgTime;
import dev.kakehashi.valuetext.time.Clock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TextValuesTest {
  private static final int VALUES = Integer.getInteger("kakehashi.csvValues", 20_000);

  private static final BulkContext CONTEXT =
      new BulkContext() {
        @Override
        public void checkCanceled() {
          // Nobody cancels.
        }

        @Override
        public void reserveMemory(long bytes) {
          // There is enough.
        }

        @Override
        public long now() {
          return Clock.now();
        }

        @Override
        public void releaseMemory(long bytes) {
          // There is enough.
        }
      };

  private static TextBatch read(int oid, int modifier, String text, List<String> labels) {
    TextColumn column =
        TextColumn.of(
            new LoadColumn("c", oid, modifier, TypeName.of(oid, modifier), true, labels), CONTEXT);
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    // Bytes behind the text must not matter.
    byte[] padded = Arrays.copyOf(utf8, utf8.length + 16);
    Arrays.fill(padded, utf8.length, padded.length, (byte) '7');
    TextBatch batch = new TextBatch(1, CONTEXT);
    batch.addRow();
    column.set(padded, 0, utf8.length, batch, 0);
    return batch;
  }

  private static String value(int oid, int modifier, String text) {
    return value(oid, modifier, text, List.of());
  }

  private static String value(int oid, int modifier, String text, List<String> labels) {
    BatchView view = new BatchView();
    view.wrap(read(oid, modifier, text, labels).finish(), 1);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Output out = new Output(bytes);
    try {
      PlainText.put(out, ValueForm.of(oid), view, view.word(view.rowAt(0), 0));
      out.drain();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static String failure(int oid, int modifier, String text) {
    EngineException e = assertThrows(EngineException.class, () -> value(oid, modifier, text), text);
    return e.code().sqlstate() + " " + e.getMessage();
  }

  private static RowBatchReader reader(TextBatch batch) {
    return new RowBatchReader().wrap(batch.finish());
  }

  private static int numeric(int precision, int scale) {
    return (precision << 16 | (scale & 0x7FF)) + 4;
  }

  @Test
  void shouldReadIntegers() {
    Random random = new Random(1);
    for (int i = 0; i < VALUES; i++) {
      long value = random.nextLong() >> random.nextInt(64);
      String text = (value >= 0 && random.nextInt(8) == 0 ? " +" : "") + value;
      assertEquals(value, reader(read(TypeOid.INT8, -1, text, List.of())).getWord(0, 0), text);
    }
    for (long edge : new long[] {Long.MIN_VALUE, Long.MAX_VALUE, Integer.MIN_VALUE, -1, 0}) {
      assertEquals(Long.toString(edge), value(TypeOid.INT8, -1, Long.toString(edge)));
    }
    assertEquals("42", value(TypeOid.INT4, -1, "  42\t"));
    assertEquals("7", value(TypeOid.INT2, -1, "0000000000000000000000007"));
    assertEquals(
        "22003 value \"2147483648\" is out of range for type integer",
        failure(TypeOid.INT4, -1, "2147483648"));
    assertEquals(
        "22003 value \"9223372036854775808\" is out of range for type bigint",
        failure(TypeOid.INT8, -1, "9223372036854775808"));
    for (String wrong : List.of("", "-", "1.0", "1 2", "abc", "1e3", "--1", "٣")) {
      assertEquals(
          "22P02 invalid input syntax for type integer: \"" + wrong + "\"",
          failure(TypeOid.INT4, -1, wrong));
    }
  }

  @Test
  void shouldReadNumericsExactly() {
    Random random = new Random(2);
    for (int i = 0; i < VALUES; i++) {
      String text = randomDecimal(random);
      byte[] expected = PgNumeric.encode(new BigDecimal(text));
      assertArrayEquals(
          expected, reader(read(TypeOid.NUMERIC, -1, text, List.of())).getBytes(0, 0), text);
    }
  }

  private static String randomDecimal(Random random) {
    StringBuilder out = new StringBuilder(random.nextInt(3) == 0 ? "-" : "");
    int whole = random.nextInt(random.nextBoolean() ? 6 : 22);
    for (int i = 0; i < whole; i++) {
      out.append(random.nextInt(3) == 0 ? 0 : random.nextInt(10));
    }
    int fraction = random.nextInt(random.nextBoolean() ? 4 : 22);
    if (fraction > 0 || whole == 0) {
      out.append('.').append(random.nextInt(10));
    }
    for (int i = 1; i < fraction; i++) {
      out.append(random.nextInt(2) == 0 ? 9 * random.nextInt(2) : random.nextInt(10));
    }
    return out.toString();
  }

  @Test
  void shouldRoundNumericsToTheirScale() {
    Random random = new Random(3);
    for (int i = 0; i < VALUES; i++) {
      int precision = 1 + random.nextInt(25);
      int scale = random.nextInt(precision + 3) - (random.nextInt(10) == 0 ? 5 : 0);
      String text = randomDecimal(random);
      BigDecimal rounded = new BigDecimal(text).setScale(scale, RoundingMode.HALF_UP);
      int modifier = numeric(precision, scale);
      boolean fits =
          rounded.signum() == 0 || rounded.precision() - rounded.scale() <= precision - scale;
      String what = text + " as numeric(" + precision + "," + scale + ")";
      if (fits) {
        BigDecimal shown = scale < 0 ? rounded.setScale(0) : rounded;
        assertArrayEquals(
            PgNumeric.encode(shown),
            reader(read(TypeOid.NUMERIC, modifier, text, List.of())).getBytes(0, 0),
            what);
      } else {
        assertEquals(
            "22003 numeric field overflow", failure(TypeOid.NUMERIC, modifier, text), what);
      }
    }
    assertEquals("NaN", value(TypeOid.NUMERIC, numeric(5, 2), "nan"));
    assertEquals("Infinity", value(TypeOid.NUMERIC, -1, "inf"));
    assertEquals(
        "22003 numeric field overflow", failure(TypeOid.NUMERIC, numeric(5, 2), "-Infinity"));
    assertEquals("1500", value(TypeOid.NUMERIC, -1, "1.5e3"));
    assertEquals(
        "22P02 invalid input syntax for type numeric: \"1.2.3\"",
        failure(TypeOid.NUMERIC, -1, "1.2.3"));
  }

  @Test
  void shouldReadFloatsToTheLastBit() {
    Random random = new Random(4);
    for (int i = 0; i < VALUES; i++) {
      double value = Double.longBitsToDouble(random.nextLong());
      String text =
          random.nextBoolean() || !Double.isFinite(value)
              ? randomDecimal(random)
              : Double.toString(value);
      RowBatchReader read = reader(read(TypeOid.FLOAT8, -1, text, List.of()));
      assertEquals(Double.doubleToRawLongBits(Double.parseDouble(text)), read.getWord(0, 0), text);
      String small = randomDecimal(random);
      assertEquals(
          Float.floatToRawIntBits(Float.parseFloat(small)) & 0xFFFF_FFFFL,
          reader(read(TypeOid.FLOAT4, -1, small, List.of())).getWord(0, 0),
          small);
    }
    assertEquals("-0", value(TypeOid.FLOAT8, -1, "-0"));
    assertEquals("Infinity", value(TypeOid.FLOAT8, -1, " infinity "));
    assertEquals("NaN", value(TypeOid.FLOAT4, -1, "NAN"));
    assertEquals(
        "22003 \"1e400\" is out of range for type double precision",
        failure(TypeOid.FLOAT8, -1, "1e400"));
  }

  @Test
  void shouldReadDatesAndTimes() {
    Random random = new Random(5);
    for (int i = 0; i < VALUES; i++) {
      LocalDate date = LocalDate.of(2000, 1, 1).plusDays(random.nextInt(1 << 17) - (1 << 16));
      assertEquals(
          PgTime.fromDate(date),
          reader(read(TypeOid.DATE, -1, date.toString(), List.of())).getWord(0, 0));
      LocalDateTime time =
          date.atTime(random.nextInt(24), random.nextInt(60), random.nextInt(60))
              .plusNanos(1000L * random.nextInt(1_000_000));
      String text = time.toLocalDate() + " " + time.toLocalTime();
      assertEquals(
          PgTime.fromTimestamp(time),
          reader(read(TypeOid.TIMESTAMP, -1, text, List.of())).getWord(0, 0),
          text);
    }
    assertEquals("2026-02-28", value(TypeOid.DATE, -1, "2026-02-28"));
    assertEquals("0044-03-15 BC", value(TypeOid.DATE, -1, "0044-03-15 BC"));
    assertEquals("infinity", value(TypeOid.DATE, -1, "infinity"));
    assertEquals("24:00:00", value(TypeOid.TIME, -1, "24:00:00"));
    assertEquals("12:30:00.13", value(TypeOid.TIME, 2, "12:30:00.125"));
    assertEquals("2026-01-01 00:00:00", value(TypeOid.TIMESTAMP, 0, "2025-12-31 23:59:59.5"));
    assertEquals("2026-01-01 10:00:00+00", value(TypeOid.TIMESTAMPTZ, -1, "2026-01-01T12:00+02"));
    assertEquals(
        "2026-01-01 12:00:00.5+00", value(TypeOid.TIMESTAMPTZ, -1, "2026-01-01 12:00:00.5Z"));
    assertEquals("12:00:01+02", value(TypeOid.TIMETZ, 0, "12:00:00.7+02:00"));
    assertEquals(
        "1 mon 2 days 03:04:05.7",
        value(TypeOid.INTERVAL, 0x7FFF << 16 | 1, "1 mon 2 days 03:04:05.66"));
    for (String wrong : List.of("2026-02-29", "2026-13-01", "2026-00-10", "1900-02-29")) {
      assertEquals(
          "22008 date/time field value out of range: \"" + wrong + "\"",
          failure(TypeOid.DATE, -1, wrong));
    }
    assertEquals(
        "22007 invalid input syntax for type date: \"yesterdayish\"",
        failure(TypeOid.DATE, -1, "yesterdayish"));
    assertEquals(
        "22008 date/time field value out of range: \"2026-01-01 25:00:00\"",
        failure(TypeOid.TIMESTAMP, -1, "2026-01-01 25:00:00"));
  }

  @Test
  void shouldReadTextsWithinTheirLength() {
    assertEquals("abc", value(TypeOid.VARCHAR, 7, "abc"));
    assertEquals("äöü", value(TypeOid.VARCHAR, 7, "äöü"));
    assertEquals("äöü", value(TypeOid.VARCHAR, 7, "äöü   "));
    assertEquals("ab ", value(TypeOid.VARCHAR, 7, "ab   "));
    assertEquals(
        "22001 value too long for type character varying(3)", failure(TypeOid.VARCHAR, 7, "äöü€"));
    assertEquals("ab  ", value(TypeOid.BPCHAR, 8, "ab"));
    assertEquals("ä€  ", value(TypeOid.BPCHAR, 8, "ä€"));
    assertEquals("abcd", value(TypeOid.BPCHAR, 8, "abcd      "));
    assertEquals(
        "22001 value too long for type character(4)", failure(TypeOid.BPCHAR, 8, "abcd e"));
    assertEquals("ab", value(TypeOid.BPCHAR, -1, "ab"));
    assertEquals("n".repeat(63), value(TypeOid.NAME, -1, "n".repeat(70)));
    assertEquals("n".repeat(62), value(TypeOid.NAME, -1, "n".repeat(62) + "é"));
    assertEquals("x", value(TypeOid.CHAR, -1, "xyz"));
    for (int length = 0; length < 40; length++) {
      String text = "é€😀abcdefgh".repeat(9).substring(0, length == 5 ? 6 : length);
      if (length == 0 || !Character.isHighSurrogate(text.charAt(text.length() - 1))) {
        assertEquals(text, value(TypeOid.TEXT, -1, text));
      }
    }
  }

  @Test
  void shouldReadOtherTypes() {
    for (String yes : List.of("t", "TRUE", "tru", " yes ", "y", "on", "1")) {
      assertEquals("t", value(TypeOid.BOOL, -1, yes), yes);
    }
    for (String no : List.of("f", "False", "fal", "no", "n", "of", "off", "0")) {
      assertEquals("f", value(TypeOid.BOOL, -1, no), no);
    }
    assertEquals(
        "22P02 invalid input syntax for type boolean: \"o\"", failure(TypeOid.BOOL, -1, "o"));
    String uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
    assertEquals(uuid, value(TypeOid.UUID, -1, uuid.toUpperCase(java.util.Locale.ROOT)));
    assertEquals(uuid, value(TypeOid.UUID, -1, "{a0eebc999c0b4ef8-bb6d6bb9-bd380a11}"));
    assertEquals(
        "22P02 invalid input syntax for type uuid: \"-a0\"", failure(TypeOid.UUID, -1, "-a0"));
    assertEquals("\\x00ff41", value(TypeOid.BYTEA, -1, "\\x00fF 41"));
    assertEquals("\\x615c00", value(TypeOid.BYTEA, -1, "a\\\\\\000"));
    assertEquals(
        "22023 invalid hexadecimal data: odd number of digits",
        failure(TypeOid.BYTEA, -1, "\\x123"));
    assertEquals("{\"b\" : [1,2.50]}", value(TypeOid.JSON, -1, "{\"b\" : [1,2.50]}"));
    assertEquals(
        "{\"b\": 2, \"aa\": [1, 2.50]}",
        value(TypeOid.JSONB, -1, "{\"aa\":[1,2.50],\"b\":1,\"b\":2}"));
    assertEquals("22P02", failure(TypeOid.JSON, -1, "{\"a\":}").substring(0, 5));
    assertEquals("22P02", failure(TypeOid.JSONB, -1, "1 2").substring(0, 5));
    assertEquals("22P02", failure(TypeOid.JSONB, -1, "").substring(0, 5));
    List<String> labels = List.of("low", "high");
    assertEquals("high", value(TypeOid.TEXT, -1, "high", labels));
    EngineException unknown =
        assertThrows(EngineException.class, () -> value(TypeOid.TEXT, -1, "mid", labels));
    assertEquals("invalid input value for enum text: \"mid\"", unknown.getMessage());
  }

  @Test
  void shouldReadArrays() {
    int ints = TypeOid.arrayOf(TypeOid.INT4);
    int texts = TypeOid.arrayOf(TypeOid.TEXT);
    assertEquals("{1,2,NULL,-3}", value(ints, -1, " { 1 , 2,null, -3 } "));
    assertEquals("{}", value(ints, -1, "{}"));
    assertEquals("{{1,2},{3,4}}", value(ints, -1, "{{1,2},{3,4}}"));
    assertEquals("[0:1]={1,2}", value(ints, -1, "[0:1]={1,2}"));
    assertEquals("{1,2}", value(ints, -1, "[1:2]={1,2}"));
    assertEquals(
        "{\"a b\",\"x\\\"y\",\"\",\"NULL\",c}",
        value(texts, -1, "{a b,\"x\\\"y\",\"\",\"NULL\",c }"));
    int dates = TypeOid.arrayOf(TypeOid.TIMESTAMP);
    assertEquals("{\"2026-01-01 00:00:00\"}", value(dates, -1, "{2026-01-01}"));
    int varchars = TypeOid.arrayOf(TypeOid.VARCHAR);
    assertEquals("{ab,cd}", value(varchars, 6, "{ab,cd}"));
    assertEquals("22001", failure(varchars, 6, "{abc}").substring(0, 5));
    for (String wrong :
        List.of("", "1", "{1", "{1,}", "{1}}", "{1,{2}}", "{{1},{2,3}}", "[1:3]={1,2}", "{,}")) {
      assertEquals(
          "22P02 malformed array literal: \"" + wrong + "\"", failure(ints, -1, wrong), wrong);
    }
    assertEquals("54000", failure(ints, -1, "{{{{{{{1}}}}}}}").substring(0, 5));
    assertEquals("22P02", failure(ints, -1, "{x}").substring(0, 5));
  }
}
