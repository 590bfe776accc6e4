package dev.kakehashi.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonEncoderTest {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final FormatOptions DOCUMENT = FormatOptions.of(Format.JSON);
  private static final FormatOptions LINES = FormatOptions.of(Format.NDJSON);

  private static String value(FormatOptions options, String json, int typeOid) throws IOException {
    byte[] document =
        Samples.encoded(
            RowEncoder.of(Format.JSON, options),
            List.of(new Statement.Column("c", typeOid, -1)),
            Samples.row(json, typeOid));
    JsonNode root = MAPPER.readTree(document);
    assertEquals(1, root.get("rowCount").intValue());
    String text = new String(document, StandardCharsets.UTF_8);
    return text.substring(text.indexOf("\"rows\":[[") + 9, text.lastIndexOf("]],\"rowCount\""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "16   | true                              | true",
        "16   | null                              | null",
        "21   | -32768                            | -32768",
        "23   | 2147483647                        | 2147483647",
        "20   | 9223372036854775807               | \"9223372036854775807\"",
        "20   | -9223372036854775808              | \"-9223372036854775808\"",
        "700  | 0.1                               | 0.1",
        "701  | 5e-324                            | 5e-324",
        "701  | 1e22                              | 1e+22",
        "701  | \"NaN\"                           | \"NaN\"",
        "701  | \"-Infinity\"                     | \"-Infinity\"",
        "700  | \"Infinity\"                      | \"Infinity\"",
        "1700 | 1.50                              | \"1.50\"",
        "1700 | \"NaN\"                           | \"NaN\"",
        "17   | \"\\\\x00ff\"                     | \"\\\\x00ff\"",
        "1082 | \"0044-03-15 BC\"                 | \"0044-03-15 BC\"",
        "1083 | \"24:00:00\"                      | \"24:00:00\"",
        "1114 | \"2024-01-02 03:04:05.600\"       | \"2024-01-02T03:04:05.6\"",
        "1184 | \"2024-01-02 03:04:05-01:30\"     | \"2024-01-02T04:34:05+00:00\"",
        "1184 | \"infinity\"                      | \"infinity\"",
        "1184 | \"0001-01-01 00:00:00+00 BC\"     | \"0001-01-01T00:00:00+00:00 BC\"",
        "1266 | \"01:02:03+05:30\"                | \"01:02:03+05:30\"",
        "1186 | \"P1Y2M-3DT4H\"                   | \"1 year 2 mons -3 days +04:00:00\"",
        "2950 | \"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11\" | \"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\"",
        "114  | {\"b\": [1, 2.0], \"a\": null}    | {\"b\":[1,2.0],\"a\":null}",
        "3802 | {\"bb\": 1e2, \"a\": \"x\"}       | {\"a\": \"x\", \"bb\": 100}",
        "25   | \"\\u0001\\n\\\"\\\\/\\u007f\"    | \"\\u0001\\n\\\"\\\\/\u007f\"",
        "25   | \"\\u20ac\\ud83d\\ude00\"         | \"\u20ac\ud83d\ude00\"",
        "1007 | [1,null,-3]                       | [1,null,-3]",
        "1007 | [[1,2],[3,4]]                     | [[1,2],[3,4]]",
        "1007 | []                                | []",
        "1016 | [1,null]                          | [\"1\",null]",
        "1000 | [true,false,null]                 | [true,false,null]",
        "1009 | [\"a b\",\"\",\"NULL\",null,\"\\\"\\\\\",\"{,}\"] | [\"a b\",\"\",\"NULL\",null,\"\\\"\\\\\",\"{,}\"]",
        "1022 | [0.5,\"NaN\",\"-Infinity\"]       | [0.5,\"NaN\",\"-Infinity\"]",
        "1231 | [1.50,\"NaN\"]                    | [\"1.50\",\"NaN\"]",
        "1115 | [\"2024-01-02 03:04:05\"]         | [\"2024-01-02T03:04:05\"]",
        "1185 | [\"2024-01-02 03:04:05Z\",\"infinity\",\"0044-03-15 10:00:00+00 BC\"] | [\"2024-01-02T03:04:05+00:00\",\"infinity\",\"0044-03-15T10:00:00+00:00 BC\"]",
        "3807 | [{\"b\":1,\"a\":\"\\\"\"},\"s\"]  | [{\"a\": \"\\\"\", \"b\": 1},\"s\"]",
        "1001 | [\"\\\\x00\"]                     | [\"\\\\x00\"]"
      })
  void shouldHoldEveryType(int typeOid, String json, String expected) throws IOException {
    assertEquals(expected, value(DOCUMENT, "[" + json + "]", typeOid));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "20   | -9223372036854775808 | -9223372036854775808",
        "1700 | 1.50                 | 1.50",
        "1700 | \"Infinity\"         | \"Infinity\"",
        "1016 | [1,null]             | [1,null]",
        "1231 | [1.50,\"NaN\"]       | [1.50,\"NaN\"]"
      })
  void shouldWriteNumbersIfAsked(int typeOid, String json, String expected) throws IOException {
    assertEquals(expected, value(DOCUMENT.withJsonNumbers(true), "[" + json + "]", typeOid));
  }

  @Test
  void shouldBeOneDocumentThatOthersRead() throws IOException {
    Samples samples = new Samples();
    JsonNode root = MAPPER.readTree(samples.encoded(RowEncoder.of(Format.JSON, DOCUMENT)));
    assertEquals(samples.batch.rowCount(), root.get("rowCount").intValue());
    assertEquals(samples.batch.rowCount(), root.get("rows").size());
    assertEquals(samples.columns.size(), root.get("columns").size());
    assertEquals("integer", root.get("columns").get(2).get("type").textValue());
    for (JsonNode row : root.get("rows")) {
      assertEquals(samples.columns.size(), row.size());
    }
  }

  @Test
  void shouldWriteRowsAsObjectsIfAsked() throws IOException {
    List<Statement.Column> columns =
        List.of(
            new Statement.Column("a\"b", TypeOid.INT4, -1),
            new Statement.Column("ü", TypeOid.NUMERIC, (10 << 16 | 2) + 4));
    byte[] document =
        Samples.encoded(
            RowEncoder.of(Format.JSON, DOCUMENT.withObjects(true)),
            columns,
            Samples.row("[1,2.50]", TypeOid.INT4, TypeOid.NUMERIC));
    assertEquals(
        "{\"columns\":[{\"name\":\"a\\\"b\",\"type\":\"integer\"},{\"name\":\"ü\",\"type\":\"numeric(10,2)\"}],"
            + "\"rows\":[{\"a\\\"b\":1,\"ü\":\"2.50\"}],\"rowCount\":1}\n",
        new String(document, StandardCharsets.UTF_8));
  }

  @Test
  void shouldRefuseObjectsWithTwoMembersOfOneName() {
    List<Statement.Column> columns =
        List.of(
            new Statement.Column("a", TypeOid.INT4, -1),
            new Statement.Column("a", TypeOid.INT4, -1));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    EngineException failure =
        assertThrows(
            EngineException.class, () -> RowEncoder.of(Format.NDJSON, LINES).begin(columns, out));
    assertEquals(ErrorCode.DUPLICATE_COLUMN, failure.code());
    assertEquals(0, out.size());
  }

  @Test
  void shouldWriteOneTextALineAndSayHowItEnded() throws IOException {
    Samples samples = new Samples();
    String[] lines =
        new String(samples.encoded(RowEncoder.of(Format.NDJSON, LINES)), StandardCharsets.UTF_8)
            .split("\n", -1);
    assertEquals(samples.batch.rowCount() + 2, lines.length);
    assertEquals("", lines[lines.length - 1]);
    assertEquals(
        "{\"end\":{\"rowCount\":" + samples.batch.rowCount() + "}}", lines[lines.length - 2]);
    for (int i = 0; i < samples.batch.rowCount(); i++) {
      assertEquals(samples.columns.size(), MAPPER.readTree(lines[i]).size());
    }
  }

  @Test
  void shouldDescribeColumnsBeforeLinesOfArrays() throws IOException {
    byte[] lines =
        Samples.encoded(
            RowEncoder.of(Format.NDJSON, LINES.withObjects(false)),
            List.of(new Statement.Column("a", TypeOid.TEXT, -1)),
            Samples.row("[\"x\"]", TypeOid.TEXT));
    assertEquals(
        "{\"columns\":[{\"name\":\"a\",\"type\":\"text\"}]}\n[\"x\"]\n{\"end\":{\"rowCount\":1}}\n",
        new String(lines, StandardCharsets.UTF_8));
  }

  @Test
  void shouldKeepJsonWithLineEndsOnOneLine() throws IOException {
    // json keeps its blanks in the engine; parameters of ours have none.
    RowBatchWriter writer = RowBatchWriter.growable(1, 1, 1 << 16);
    writer.addRow();
    writer.setString(0, "{\n \"a\":\r\n [1,\n2]}");
    writer.finish();
    byte[] lines =
        Samples.encoded(
            RowEncoder.of(Format.NDJSON, LINES),
            List.of(new Statement.Column("j", TypeOid.JSON, -1)),
            new ParameterBatch(writer.batch(), 1));
    String[] split = new String(lines, StandardCharsets.UTF_8).split("\n", -1);
    assertEquals(3, split.length);
    assertEquals(MAPPER.readTree("{\"j\":{\"a\":[1,2]}}"), MAPPER.readTree(split[0]));
  }

  @Test
  void shouldEndLinesWithTheErrorAndLeaveADocumentOpen() throws IOException {
    List<Statement.Column> columns = List.of(new Statement.Column("a", TypeOid.INT4, -1));
    ParameterBatch batch = Samples.row("[1]", TypeOid.INT4);
    byte[] problem = "{\"sqlstate\":\"22012\"}".getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    RowEncoder encoder = RowEncoder.of(Format.NDJSON, LINES);
    encoder.begin(columns, lines);
    encoder.rows(batch.batch());
    encoder.fail(problem);
    assertEquals(
        "{\"a\":1}\n{\"error\":{\"sqlstate\":\"22012\"}}\n",
        lines.toString(StandardCharsets.UTF_8));

    ByteArrayOutputStream document = new ByteArrayOutputStream();
    RowEncoder other = RowEncoder.of(Format.JSON, DOCUMENT);
    other.begin(columns, document);
    other.rows(batch.batch());
    other.fail(problem);
    assertThrows(JsonProcessingException.class, () -> MAPPER.readTree(document.toByteArray()));
  }

  @Test
  void shouldWriteTextsLongerThanItsBuffer() throws IOException {
    String text = "quote \\\" and ü \\n ".repeat(50_000);
    assertEquals("\"" + text + "\"", value(DOCUMENT, "[\"" + text + "\"]", TypeOid.TEXT));
    String json = "[\"" + "abcdefgh".repeat(50_000) + "\"]";
    assertEquals(json, value(DOCUMENT, "[" + json + "]", TypeOid.JSON));
  }

  @Test
  void shouldWriteWhatWaitsWhenFlushed() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RowEncoder encoder = RowEncoder.of(Format.NDJSON, LINES);
    encoder.begin(List.of(new Statement.Column("a", TypeOid.INT4, -1)), out);
    encoder.rows(Samples.row("[1]", TypeOid.INT4).batch());
    assertEquals(0, out.size());
    encoder.flush();
    assertEquals("{\"a\":1}\n", out.toString(StandardCharsets.UTF_8));
    assertEquals(8, encoder.byteCount());
  }

  @Test
  void shouldRefuseTypesWithoutForm() {
    EngineException failure =
        assertThrows(
            EngineException.class,
            () ->
                RowEncoder.of(Format.JSON, DOCUMENT)
                    .begin(
                        List.of(new Statement.Column("r", 2249, -1)), new ByteArrayOutputStream()));
    assertEquals(ErrorCode.FEATURE_NOT_SUPPORTED, failure.code());
    assertTrue(String.valueOf(failure.getMessage()).contains("2249"));
  }
}
