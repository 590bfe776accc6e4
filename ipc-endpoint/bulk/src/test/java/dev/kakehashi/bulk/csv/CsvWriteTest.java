package dev.kakehashi.bulk.csv;

import static dev.kakehashi.bulk.csv.CsvFiles.bytes;
import static dev.kakehashi.bulk.csv.CsvFiles.column;
import static dev.kakehashi.bulk.csv.CsvFiles.csv;
import static dev.kakehashi.bulk.csv.CsvFiles.text;
import static dev.kakehashi.bulk.csv.CsvFiles.texts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.csv.CsvOptions.Compression;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.RowsOutput;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CsvWriteTest {
  private static final int DAMAGED = Integer.getInteger("kakehashi.damagedCsv", 300);

  private static byte[] written(
      CsvOptions options, List<LoadColumn> columns, RowBatchWriter batch) {
    CsvFiles.Written file = new CsvFiles.Written();
    batch.finish();
    try (RowsOutput output =
        new CsvFormat(options)
            .write(file, columns, new FileFormat.Description(""), new CsvFiles.Memory(1 << 20))) {
      output.rows(batch.batch());
      output.end();
      assertEquals(batch.rowCount(), output.rowCount());
      assertEquals(file.position(), output.estimatedBytes());
    }
    return file.bytes.toByteArray();
  }

  /// One row of text columns, and what is written of it.
  private static String row(CsvOptions options, @Nullable String... values) {
    RowBatchWriter batch = RowBatchWriter.growable(values.length, 1, 1 << 20);
    batch.addRow();
    for (int i = 0; i < values.length; i++) {
      String value = values[i];
      if (value == null) {
        batch.setNull(i);
      } else {
        batch.setString(i, value);
      }
    }
    return new String(written(options, texts(values.length), batch), StandardCharsets.UTF_8);
  }

  @Test
  void shouldQuoteWhatNeedsIt() {
    CsvOptions plain = csv().build(false);
    assertEquals(
        "a,\"b,c\",\"d\"\"e\",\"f\ng\",\"h\ri\"\n", row(plain, "a", "b,c", "d\"e", "f\ng", "h\ri"));
    assertEquals(",\"\", x \n", row(plain, null, "", " x "));
    assertEquals("\"\\.\"\n", row(plain, "\\."));
    assertEquals("\\.,x\n", row(plain, "\\.", "x"));
    assertEquals("NULL,\"NULL\",\n", row(csv().nullText("NULL").build(false), null, "NULL", ""));
    assertEquals(
        "'a\\'b';'c\\\\d';\"\n",
        row(
            csv()
                .quote("'")
                .escape("\\")
                .delimiter(";")
                .forceQuote(CsvOptions.Columns.of(List.of("b")))
                .build(false),
            "a'b",
            "c\\d",
            "\""));
    assertEquals(
        "\"a\",,\"\"\n", row(csv().forceQuote(CsvOptions.Columns.ALL).build(false), "a", null, ""));
  }

  @Test
  void shouldEscapeWhatNeedsItInTextFormat() {
    CsvOptions plain = text().build(false);
    assertEquals(
        "a\\tb\tc\\\\d\te\\nf\\r\\b\\f\\v\t\\N\t\t\\\\N\n",
        row(plain, "a\tb", "c\\d", "e\nf\r\b\f\u000B", null, "", "\\N"));
    assertEquals("12345678901234567890\n", row(plain, "12345678901234567890"));
    assertEquals("a\\|b|\u0001c\n", row(text().delimiter("|").build(false), "a|b", "\u0001c"));
  }

  @Test
  void shouldWriteHeader() {
    RowBatchWriter none = RowBatchWriter.growable(2, 1, 1 << 10);
    List<LoadColumn> columns = List.of(column("a,b", TypeOid.TEXT), column("c", TypeOid.TEXT));
    CsvOptions options = csv().header(CsvOptions.Header.SKIP).build(false);
    assertEquals(
        "\"a,b\",c\n", new String(written(options, columns, none), StandardCharsets.UTF_8));
    CsvOptions tabs = text().header(CsvOptions.Header.SKIP).build(false);
    assertEquals("a,b\tc\n", new String(written(tabs, columns, none), StandardCharsets.UTF_8));
  }

  @Test
  void shouldQuoteNumbersThatHaveTheDelimiter() {
    List<LoadColumn> columns =
        List.of(
            column("n", TypeOid.NUMERIC),
            column("d", TypeOid.DATE),
            column("b", TypeOid.BYTEA),
            column("i", TypeOid.INT4));
    RowBatchWriter batch = RowBatchWriter.growable(4, 1, 1 << 10);
    batch.addRow();
    batch.setNumeric(0, new BigDecimal("1.5"));
    batch.setLong(1, 1);
    batch.setBytes(2, new byte[] {1});
    batch.setLong(3, 0);
    assertEquals(
        "\"1.5\".2000-01-02.\\x01.0\n",
        new String(
            written(csv().delimiter(".").build(false), columns, batch), StandardCharsets.UTF_8));
    assertEquals(
        "1.5,2000-01-02,\\x01,\"0\"\n",
        new String(
            written(csv().nullText("0").build(false), columns, batch), StandardCharsets.UTF_8));
    assertEquals(
        "1.5\t2000-01-02\t\\\\x01\t0\n",
        new String(written(text().build(false), columns, batch), StandardCharsets.UTF_8));
  }

  @Test
  void shouldReadBackWhatItWrites() {
    Random random = new Random(7);
    List<LoadColumn> columns =
        List.of(
            column("a", TypeOid.TEXT),
            column("b", TypeOid.BYTEA),
            column("c", TypeOid.FLOAT8),
            column("d", TypeOid.TIMESTAMP));
    for (int i = 0; i < 200; i++) {
      RowBatchWriter batch = RowBatchWriter.growable(4, 20, 1 << 20);
      for (int row = random.nextInt(20); row >= 0; row--) {
        batch.addRow();
        String value = randomText(random);
        batch.setString(0, value);
        byte[] bytes = new byte[random.nextInt(5)];
        random.nextBytes(bytes);
        batch.setBytes(1, bytes);
        batch.setDouble(2, Double.longBitsToDouble(random.nextLong()));
        batch.setLong(3, random.nextLong() >> 10);
        if (random.nextInt(3) == 0) {
          batch.setNull(random.nextInt(4));
        }
      }
      boolean isCsv = random.nextBoolean();
      String delimiter = List.of(",", ";", "\t", "-", ":").get(random.nextInt(5));
      CsvOptions.Builder builder = isCsv ? csv() : text();
      if (isCsv && random.nextBoolean()) {
        builder.escape("\\").nullText(List.of("NULL", "a", "\\N").get(random.nextInt(3)));
      }
      builder.delimiter(delimiter);
      builder.compression(
          List.of(Compression.NONE, Compression.GZIP, Compression.ZSTD).get(random.nextInt(3)));
      byte[] file = written(builder.build(false), columns, batch);
      CsvFiles.Read read =
          CsvFiles.read(builder.build(true), columns, file, 1 + random.nextInt(2000));
      assertEquals(List.of(), read.rejected(), () -> new String(file, StandardCharsets.UTF_8));
      assertEquals(CsvFiles.rows(batch.batch(), columns), read.rows());
    }
  }

  private static String randomText(Random random) {
    String[] pieces = {"a", "NULL", "é", "\"", "'", ",", "\n", "\r", "\\", "\\.", "\t", "-", "N"};
    StringBuilder out = new StringBuilder();
    for (int i = random.nextInt(6); i > 0; i--) {
      out.append(pieces[random.nextInt(pieces.length)]);
    }
    return out.toString();
  }

  @Test
  void shouldReadCompressedFilesByTheirNames() {
    byte[] plain = bytes("a,b\n".repeat(10_000));
    for (Compression compression : List.of(Compression.GZIP, Compression.ZSTD)) {
      byte[] packed = packed(plain, compression);
      assertTrue(packed.length < plain.length / 10);
      String name = compression == Compression.GZIP ? "in:x.csv.gz" : "in:x.CSV.ZST";
      // Several of them, one behind the other, are one.
      byte[] twice = Arrays.copyOf(packed, 2 * packed.length);
      System.arraycopy(packed, 0, twice, packed.length, packed.length);
      assertEquals(10_000, count(name, packed));
      assertEquals(20_000, count(name, twice));
    }
  }

  private static byte[] packed(byte[] plain, Compression compression) {
    RowBatchWriter batch = RowBatchWriter.growable(2, 20_000, 1 << 24);
    String[] lines = new String(plain, StandardCharsets.UTF_8).split("\n", -1);
    for (int i = 0; i < lines.length - 1; i++) {
      String[] fields = lines[i].split(",", -1);
      batch.addRow();
      batch.setString(0, fields[0]);
      batch.setString(1, fields[1]);
    }
    return written(csv().compression(compression).build(false), texts(2), batch);
  }

  private static long count(String name, byte[] content) {
    long rows = 0;
    CsvFiles.Memory memory = new CsvFiles.Memory(1 << 24);
    try (CsvFile file =
        new CsvFile(
            new CsvFiles.Bytes(name, content), csv().build(true), texts(2), false, 5000, memory)) {
      for (var part = file.next(); part != null; part = file.next()) {
        try (var open = part) {
          var batch = open.next((o, e) -> fail(e));
          while (batch != null) {
            batch = open.next((o, e) -> fail(e));
          }
          rows += open.rows();
        }
      }
    }
    assertEquals(0, memory.reserved());
    return rows;
  }

  private static void fail(EngineException e) {
    throw e;
  }

  @Test
  void shouldRefuseDamagedCompressedFiles() {
    Random random = new Random(8);
    byte[] plain = bytes("some,text\n".repeat(500));
    byte[] gzip = packed(plain, Compression.GZIP);
    byte[] zstd = packed(plain, Compression.ZSTD);
    List<String> codes = new ArrayList<>();
    for (int i = 0; i < DAMAGED; i++) {
      Compression compression = i % 2 == 0 ? Compression.GZIP : Compression.ZSTD;
      byte[] packed = compression == Compression.GZIP ? gzip : zstd;
      byte[] damaged =
          Arrays.copyOf(packed, i % 3 == 0 ? random.nextInt(packed.length) : packed.length);
      for (int j = random.nextInt(3); j >= 0 && damaged.length > 0; j--) {
        damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      }
      String name = compression == Compression.GZIP ? "in:x.gz" : "in:x.zst";
      try {
        count(name, damaged);
      } catch (EngineException e) {
        codes.add(e.code().sqlstate());
      }
    }
    assertTrue(codes.size() > DAMAGED / 3, "damage that is found: " + codes.size());
    assertTrue(
        codes.stream().allMatch(List.of("22P04", "22021", "53200")::contains), codes.toString());
  }

  @Test
  void shouldRefuseOptionsThatDoNotFit() {
    assertEquals(
        "COPY delimiter and quote must be different",
        refused(ErrorCode.INVALID_PARAMETER_VALUE, csv().delimiter("\""), true));
    assertEquals(
        "COPY delimiter cannot be \"a\"",
        refused(ErrorCode.INVALID_PARAMETER_VALUE, text().delimiter("a"), true));
    assertEquals(
        "COPY delimiter must be a single one-byte character",
        refused(ErrorCode.FEATURE_NOT_SUPPORTED, csv().delimiter("é"), true));
    assertEquals(
        "COPY QUOTE requires CSV mode",
        refused(ErrorCode.FEATURE_NOT_SUPPORTED, text().quote("'"), true));
    assertEquals(
        "cannot use \"match\" with HEADER in COPY TO",
        refused(ErrorCode.INVALID_PARAMETER_VALUE, csv().header(CsvOptions.Header.MATCH), false));
    assertEquals(
        "cannot use multi-line header in COPY TO",
        refused(ErrorCode.FEATURE_NOT_SUPPORTED, csv().header(CsvOptions.Header.skip(2)), false));
    assertEquals(
        "CSV quote character must not appear in the NULL specification",
        refused(ErrorCode.INVALID_PARAMETER_VALUE, csv().nullText("\"\""), true));
    assertEquals(
        ErrorCode.FEATURE_NOT_SUPPORTED,
        assertThrows(EngineException.class, () -> csv().encoding("LATIN1")).code());
  }

  private static String refused(ErrorCode code, CsvOptions.Builder builder, boolean isLoad) {
    EngineException e = assertThrows(EngineException.class, () -> builder.build(isLoad));
    assertEquals(code, e.code());
    return String.valueOf(e.getMessage());
  }
}
