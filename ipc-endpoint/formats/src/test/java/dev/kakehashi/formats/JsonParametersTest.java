package dev.kakehashi.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Values that are refused, and how. CsvEncoderTest shows that values of every type arrive as PostgreSQL has them.
class JsonParametersTest {
  private static final int[] TWO = {TypeOid.INT4, TypeOid.TEXT};

  private static ParameterBatch rows(String json, JsonParameters.Limits limits, int... typeOids)
      throws IOException {
    try (JsonParser parser = Samples.JSON.createParser(json)) {
      parser.nextToken();
      ParameterBatch batch = JsonParameters.rows(parser, typeOids, limits);
      assertEquals(JsonToken.END_ARRAY, parser.currentToken());
      return batch;
    }
  }

  /// Forms of casts that parameters have as well, and how PostgreSQL writes them.
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1082 | 2024-1-1       | 2024-01-01",
        "1082 | 5 Jan 2024     | 2024-01-05",
        "1082 | epoch          | 1970-01-01",
        "1083 | 12:00:00.      | 12:00:00",
        "1083 | 04:05 pm       | 16:05:00",
        "1114 | 20240105 040506 | 2024-01-05 04:05:06",
        "1184 | 2024-01-01 00:00 Europe/Berlin | 2023-12-31 23:00:00+00",
        "1184 | 2024-01-01 00:00 | 2024-01-01 00:00:00+00",
        "1266 | 12:00 EST      | 12:00:00-05",
        "1186 | PT             | 00:00:00",
        "1186 | P1.5Y          | 1 year 6 mons",
        "1186 | 1.5 days       | 1 day 12:00:00",
        "1186 | 1 year ago     | -1 years",
        "1186 | 1.0000005 sec  | 00:00:01",
        "21   | ' +7 '         | 7",
        "700  | +INF           | Infinity",
        "701  | ' 1.5 '        | 1.5",
        "701  | 0x1p3          | 8",
        "1700 | ' 1.50 '       | 1.50",
        "1700 | nan            | NaN",
        "1700 | -inf           | -Infinity"
      })
  void shouldReadTextsAsCastsDo(int typeOid, String text, String expected) throws IOException {
    RowBatchWriter writer = RowBatchWriter.growable(1, 1, 1 << 10);
    writer.addRow();
    assertTrue(TextInput.set(writer, 0, typeOid, text));
    writer.finish();
    BatchView view = new BatchView();
    view.wrap(writer.batch(), 1);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Output out = new Output(bytes);
    PlainText.put(out, ValueForm.of(typeOid), view, view.word(view.rowAt(0), 0));
    out.drain();
    assertEquals(expected, bytes.toString(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "16   | \"maybe\"          | INVALID_TEXT_REPRESENTATION",
        "16   | 1                  | DATATYPE_MISMATCH",
        "21   | 32768              | NUMERIC_VALUE_OUT_OF_RANGE",
        "21   | \"-32769\"         | NUMERIC_VALUE_OUT_OF_RANGE",
        "23   | 2147483648         | NUMERIC_VALUE_OUT_OF_RANGE",
        "23   | 1e400              | NUMERIC_VALUE_OUT_OF_RANGE",
        "23   | 1e999999999        | NUMERIC_VALUE_OUT_OF_RANGE",
        "23   | 1e99999999999      | INVALID_TEXT_REPRESENTATION",
        "23   | 1.5                | INVALID_TEXT_REPRESENTATION",
        "23   | \"1.0\"            | INVALID_TEXT_REPRESENTATION",
        "23   | \"\"               | INVALID_TEXT_REPRESENTATION",
        "23   | \"-\"              | INVALID_TEXT_REPRESENTATION",
        "23   | \"١\"              | INVALID_TEXT_REPRESENTATION",
        "23   | true               | DATATYPE_MISMATCH",
        "23   | [1]                | DATATYPE_MISMATCH",
        "23   | {\"a\":1}          | DATATYPE_MISMATCH",
        "20   | 9223372036854775808 | NUMERIC_VALUE_OUT_OF_RANGE",
        "20   | -9223372036854775809 | NUMERIC_VALUE_OUT_OF_RANGE",
        "700  | 1e39               | NUMERIC_VALUE_OUT_OF_RANGE",
        "700  | 1e-50              | NUMERIC_VALUE_OUT_OF_RANGE",
        "701  | 1e309              | NUMERIC_VALUE_OUT_OF_RANGE",
        "701  | \"1d\"             | INVALID_TEXT_REPRESENTATION",
        "701  | \"0x\"             | INVALID_TEXT_REPRESENTATION",
        "701  | \"1 1\"            | INVALID_TEXT_REPRESENTATION",
        "1700 | \"1e131072\"       | NUMERIC_VALUE_OUT_OF_RANGE",
        "1700 | \"1e-16384\"       | NUMERIC_VALUE_OUT_OF_RANGE",
        "1700 | 1e2147483648       | INVALID_TEXT_REPRESENTATION",
        "1700 | \"1,5\"            | INVALID_TEXT_REPRESENTATION",
        "1700 | \"٣\"              | INVALID_TEXT_REPRESENTATION",
        "25   | 1                  | DATATYPE_MISMATCH",
        "25   | \"\\u0000\"        | CHARACTER_NOT_IN_REPERTOIRE",
        "25   | \"\\ud800\"        | CHARACTER_NOT_IN_REPERTOIRE",
        "25   | \"\\udc00\\ud800\" | CHARACTER_NOT_IN_REPERTOIRE",
        "17   | \"\\\\x0\"         | INVALID_PARAMETER_VALUE",
        "17   | \"\\\\xzz\"        | INVALID_PARAMETER_VALUE",
        "17   | \"\\\\9\"          | INVALID_TEXT_REPRESENTATION",
        "1082 | \"2024-02-30\"     | DATETIME_OVERFLOW",
        "1082 | \"2023-02-29\"     | DATETIME_OVERFLOW",
        "1082 | \"2024-13-01\"     | DATETIME_OVERFLOW",
        "1082 | \"0000-01-01\"     | DATETIME_OVERFLOW",
        "1082 | \"5874898-01-01\"  | DATETIME_OVERFLOW",
        "1082 | \"4715-01-01 BC\"  | DATETIME_OVERFLOW",
        "1082 | \"24-01-01\"       | DATETIME_OVERFLOW",
        "1082 | \"2024-01-01x\"    | INVALID_DATETIME_FORMAT",
        "1082 | \"tomorrowish\"    | INVALID_DATETIME_FORMAT",
        "1082 | 20240101           | DATATYPE_MISMATCH",
        "1083 | \"24:00:00.000001\" | DATETIME_OVERFLOW",
        "1083 | \"12:60\"          | DATETIME_OVERFLOW",
        "1083 | \"12\"             | INVALID_DATETIME_FORMAT",
        "1114 | \"294277-01-01\"   | DATETIME_OVERFLOW",
        "1114 | \"4715-01-01 00:00 BC\" | DATETIME_OVERFLOW",
        "1114 | \"9999999-01-01\"  | DATETIME_OVERFLOW",
        "1114 | \"99999999-01-01\" | DATETIME_OVERFLOW",
        "1114 | \"2024-01-01T\"    | INVALID_DATETIME_FORMAT",
        "1184 | \"2024-01-01 00:00+16\" | INVALID_TIME_ZONE_DISPLACEMENT",
        "1184 | \"2024-01-01 00:00 Europe/Berlino\" | INVALID_PARAMETER_VALUE",
        "1266 | \"12:00+99\"       | INVALID_TIME_ZONE_DISPLACEMENT",
        "1186 | \"\"               | INVALID_DATETIME_FORMAT",
        "1186 | \"P\"              | INVALID_DATETIME_FORMAT",
        "1186 | \"1 parsec\"       | INVALID_DATETIME_FORMAT",
        "1186 | \"999999999999 years\" | INTERVAL_FIELD_OVERFLOW",
        "1186 | \"9999999999999999999 days\" | INTERVAL_FIELD_OVERFLOW",
        "1186 | \"00:61\"          | INTERVAL_FIELD_OVERFLOW",
        "2950 | \"a0eebc99\"       | INVALID_TEXT_REPRESENTATION",
        "2950 | \"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1g\" | INVALID_TEXT_REPRESENTATION",
        "2950 | \"a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11\" | INVALID_TEXT_REPRESENTATION",
        "2950 | \"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1100\" | INVALID_TEXT_REPRESENTATION",
        "3802 | \"\\u0000\"        | UNTRANSLATABLE_CHARACTER",
        "3802 | {\"a\":1e131072}   | NUMERIC_VALUE_OUT_OF_RANGE",
        "114  | \"\\ud800\"        | CHARACTER_NOT_IN_REPERTOIRE",
        "1007 | 1                  | DATATYPE_MISMATCH",
        "1007 | [1,\"x\"]          | INVALID_TEXT_REPRESENTATION",
        "1007 | [[1],[2,3]]        | ARRAY_SUBSCRIPT_ERROR",
        "1007 | [1,[2]]            | ARRAY_SUBSCRIPT_ERROR",
        "1007 | [[1],2]            | ARRAY_SUBSCRIPT_ERROR",
        "1007 | [[[[[[[1]]]]]]]    | LIMIT_EXCEEDED",
        "1007 | [2147483648]       | NUMERIC_VALUE_OUT_OF_RANGE"
      })
  void shouldRefuseWhatIsNotOfTheType(int typeOid, String json, ErrorCode expected) {
    EngineException failure =
        assertThrows(EngineException.class, () -> Samples.row("[" + json + "]", typeOid));
    assertEquals(expected, failure.code(), failure::getMessage);
    assertTrue(failure.detail().contains("Parameter $1 at /0"), failure::detail);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "20   | 7.0                | 7",
        "20   | 1e3                | 1000",
        "20   | \"+5\"             | 5",
        "20   | -0                 | 0",
        "1082 | \"2000-01-02\"     | 1",
        "1082 | \"2000-01-02T23:59:59.999Z\" | 1",
        "1083 | \"00:00:00.0000005\" | 0",
        "1083 | \"23:59:60\"       | 86400000000",
        "1114 | \"2000-01-01T00:00:01.9999995Z\" | 2000000",
        "1114 | \"2000-01-01 00:00:01+05\" | 1000000",
        "1184 | \"2000-01-01T00:00:00-0130\" | 5400000000"
      })
  void shouldTakeOtherSpellings(int typeOid, String json, long word) throws IOException {
    ParameterBatch batch = Samples.row("[" + json + "]", typeOid);
    assertEquals(word, new RowBatchReader().wrap(batch.batch()).getWord(0, 0));
  }

  @Test
  void shouldPassTheCheckOfTheEngine() throws IOException {
    Samples samples = new Samples();
    RowBatchReader reader = new RowBatchReader().wrap(samples.batch.batch());
    reader.checkValues(samples.typeOids());
    assertEquals(samples.batch.rowCount(), reader.rowCount());
    assertTrue(reader.isNull(reader.rowCount() - 1, 0));
  }

  @Test
  void shouldKeepNumbersExact() throws IOException {
    String number = "123456789012345678901234567890.123456789012345678901234567890";
    ParameterBatch batch = Samples.row("[" + number + "]", TypeOid.NUMERIC);
    assertEquals(
        number, new RowBatchReader().wrap(batch.batch()).getBigDecimal(0, 0).toPlainString());
  }

  @Test
  void shouldRefuseAnotherNumberOfValues() {
    for (String json : new String[] {"[]", "[1]", "[1,\"a\",2]"}) {
      EngineException failure = assertThrows(EngineException.class, () -> Samples.row(json, TWO));
      assertEquals(ErrorCode.UNDEFINED_PARAMETER, failure.code());
    }
    assertEquals(
        ErrorCode.UNDEFINED_PARAMETER,
        assertThrows(EngineException.class, () -> Samples.row("[1]")).code());
  }

  @Test
  void shouldGiveNoBatchForAStatementWithoutParameters() throws IOException {
    assertSame(ParameterBatch.NONE, Samples.row("[]"));
  }

  @Test
  void shouldReadManyRowsAndNameTheBadOne() throws IOException {
    ParameterBatch batch = rows("[[1,\"a\"],[2,null],[null,\"c\"]]", Samples.LIMITS, TWO);
    RowBatchReader reader = new RowBatchReader().wrap(batch.batch());
    assertEquals(3, batch.rowCount());
    assertEquals("a", reader.getString(0, 1));
    assertTrue(reader.isNull(1, 1));
    assertTrue(reader.isNull(2, 0));
    assertEquals("c", reader.getString(2, 1));
    EngineException failure =
        assertThrows(
            EngineException.class, () -> rows("[[1,\"a\"],[\"x\",\"b\"]]", Samples.LIMITS, TWO));
    assertEquals("Parameter $1 at /1/0.", failure.detail());
  }

  @Test
  void shouldRefuseRowsThatAreNoArrays() {
    for (String json : new String[] {"{}", "[1]", "[[1,\"a\"],null]", "\"x\""}) {
      EngineException failure =
          assertThrows(EngineException.class, () -> rows(json, Samples.LIMITS, TWO));
      assertEquals(ErrorCode.DATATYPE_MISMATCH, failure.code());
    }
  }

  @Test
  void shouldBoundRowsAndBytes() throws IOException {
    String two = "[[1,\"a\"],[2,\"b\"]]";
    assertEquals(2, rows(two, new JsonParameters.Limits(2, 1 << 12), TWO).rowCount());
    assertLimit(() -> rows(two, new JsonParameters.Limits(1, 1 << 12), TWO));
    String longText = "[[1,\"" + "x".repeat(5000) + "\"]]";
    assertLimit(() -> rows(longText, new JsonParameters.Limits(10, 1 << 12), TWO));
    assertLimit(() -> rows(two, new JsonParameters.Limits(10, 32), TWO));
    JsonParameters.Limits small = new JsonParameters.Limits(1, 1 << 12);
    String longArray = "[[" + "1,".repeat(5000) + "1]]";
    assertLimit(() -> rows("[" + longArray + "]", small, TypeOid.arrayOf(TypeOid.INT4)));
    // Each of these few characters is 131 kB of jsonb.
    String numbers = "[[[" + "1e131000,".repeat(100) + "1]]]";
    assertLimit(() -> rows(numbers, new JsonParameters.Limits(1, 1 << 20), TypeOid.JSONB));
  }

  private static void assertLimit(Executable executable) {
    assertEquals(ErrorCode.LIMIT_EXCEEDED, assertThrows(EngineException.class, executable).code());
  }

  @Test
  void shouldPassBrokenJsonOn() {
    for (String json : new String[] {"[1,", "[1,\"a\"", "[1 2]", "[\"\u0001\",1]", "[01,\"a\"]"}) {
      assertThrows(JsonParseException.class, () -> Samples.row(json, TWO));
    }
  }

  @Test
  void shouldNotShowLongValuesInMessages() {
    String digits = "9".repeat(900);
    EngineException failure =
        assertThrows(EngineException.class, () -> Samples.row("[" + digits + "]", TypeOid.INT4));
    assertTrue(String.valueOf(failure.getMessage()).length() < 200);
  }
}
