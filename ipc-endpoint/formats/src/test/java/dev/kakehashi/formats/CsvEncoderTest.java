package dev.kakehashi.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class CsvEncoderTest {
  private static final FormatOptions OPTIONS = FormatOptions.of(Format.CSV);

  private static String csv(FormatOptions options, String row, String name, int typeOid)
      throws IOException {
    return new String(
        Samples.encoded(
            RowEncoder.of(Format.CSV, options),
            List.of(new Statement.Column(name, typeOid, -1)),
            Samples.row(row, typeOid)),
        StandardCharsets.UTF_8);
  }

  @Test
  void shouldWriteWhatCopyOfPostgresqlWrites() throws IOException {
    byte[] expected;
    try (var in = Samples.resource("copy.csv")) {
      expected = in.readAllBytes();
    }
    byte[] actual = new Samples().encoded(RowEncoder.of(Format.CSV, OPTIONS));
    assertEquals(
        new String(expected, StandardCharsets.UTF_8), new String(actual, StandardCharsets.UTF_8));
  }

  @Test
  void shouldTellNullFromEmptyString() throws IOException {
    assertEquals("x\n\n", csv(OPTIONS, "[null]", "x", TypeOid.TEXT));
    assertEquals("x\n\"\"\n", csv(OPTIONS, "[\"\"]", "x", TypeOid.TEXT));
  }

  @Test
  void shouldQuoteEndOfDataAloneOnALine() throws IOException {
    assertEquals("x\n\"\\.\"\n", csv(OPTIONS, "[\"\\\\.\"]", "x", TypeOid.TEXT));
  }

  @Test
  void shouldQuoteNamesOfColumns() throws IOException {
    assertEquals("\"a,\"\"b\"\n1\n", csv(OPTIONS, "[1]", "a,\"b", TypeOid.INT4));
    assertEquals("1\n", csv(OPTIONS.withHeader(false), "[1]", "a,\"b", TypeOid.INT4));
  }

  @Test
  void shouldWriteTextsLongerThanItsBuffer() throws IOException {
    String text = "ab,c\"".repeat(100_000);
    String csv = csv(OPTIONS, "[\"" + text.replace("\"", "\\\"") + "\"]", "x", TypeOid.TEXT);
    assertEquals("x\n\"" + text.replace("\"", "\"\"") + "\"\n", csv);
    String plain = "abcdefghij".repeat(100_000);
    assertTrue(csv(OPTIONS, "[\"" + plain + "\"]", "x", TypeOid.TEXT).equals("x\n" + plain + "\n"));
  }
}
