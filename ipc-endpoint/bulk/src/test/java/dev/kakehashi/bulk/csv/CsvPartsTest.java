package dev.kakehashi.bulk.csv;

import static dev.kakehashi.bulk.csv.CsvFiles.bytes;
import static dev.kakehashi.bulk.csv.CsvFiles.csv;
import static dev.kakehashi.bulk.csv.CsvFiles.texts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Generated files: `-Dkakehashi.csvFiles=10000` for more of them.
class CsvPartsTest {
  private static final int FILES = Integer.getInteger("kakehashi.csvFiles", 400);

  @Test
  void shouldReadSameRowsWithEachPartSize() {
    String file =
        "a,b\n\"x\ny\",\"\"\"z\"\"\"\nbad\n\"long, long, long\n\n\nvalue\",é\n,\n\"q\",\"r\n";
    for (CsvOptions options :
        List.of(csv().build(true), csv().escape("\\").build(true), csv().quote("'").build(true))) {
      CsvFiles.Read whole = CsvFiles.read(options, texts(2), bytes(file));
      for (int size = 1; size <= bytes(file).length; size++) {
        CsvFiles.Read read = CsvFiles.read(options, texts(2), bytes(file), size);
        assertEquals(whole.rows(), read.rows(), "parts of " + size);
        assertEquals(whole.rejected(), read.rejected(), "parts of " + size);
        assertEquals(whole.read(), read.read(), "parts of " + size);
      }
    }
  }

  @Test
  void shouldReadSameRowsOfTextWithEachPartSize() {
    String file = "a\tb\\\nc\n\\N\t\\\\\nbad\nd\te\\tf\n\\.\nbehind\tend\n";
    CsvOptions options = CsvFiles.text().build(true);
    CsvFiles.Read whole = CsvFiles.read(options, texts(2), bytes(file));
    assertEquals(List.of("a|b\nc", "<null>|\\", "d|e\tf"), whole.rows());
    for (int size = 1; size <= bytes(file).length; size++) {
      CsvFiles.Read read = CsvFiles.read(options, texts(2), bytes(file), size);
      assertEquals(whole.rows(), read.rows(), "parts of " + size);
      assertEquals(whole.rejected(), read.rejected(), "parts of " + size);
    }
  }

  @Test
  void shouldReadWhatPostgresqlsStepsRead() {
    Random random = new Random(1);
    for (int i = 0; i < FILES; i++) {
      CsvOptions options = randomOptions(random);
      byte[] content = soup(random, options);
      int columns = 1 + random.nextInt(3);
      PlainCsv expected = new PlainCsv(options, columns, content);
      int size = 1 + random.nextInt(content.length + 1);
      CsvFiles.Read read = CsvFiles.read(options, texts(columns), content, size);
      String shown = show(options, content, size);
      assertEquals(good(expected.rows), read.rows(), shown);
      assertEquals(
          bad(expected.rows),
          read.rejected().stream().map(each -> each.split(":", 5)[3]).toList(),
          shown);
      assertEquals(expected.rows.size(), read.read(), shown);
    }
  }

  private static String show(CsvOptions options, byte[] content, int size) {
    return new String(content, StandardCharsets.ISO_8859_1)
            .replace("\r", "<CR>")
            .replace("\n", "<LF>")
        + " in parts of "
        + size
        + " with "
        + options;
  }

  private static List<String> good(List<String> rows) {
    return rows.stream().filter(row -> !row.startsWith("!")).toList();
  }

  private static List<String> bad(List<String> rows) {
    return rows.stream().filter(row -> row.startsWith("!")).map(row -> row.substring(1)).toList();
  }

  private static CsvOptions randomOptions(Random random) {
    if (random.nextInt(4) == 0) {
      return CsvFiles.text().delimiter(random.nextBoolean() ? "," : "\t").build(true);
    }
    CsvOptions.Builder builder = csv();
    if (random.nextBoolean()) {
      builder.escape("\\");
    }
    if (random.nextInt(4) == 0) {
      builder.quote("'");
    }
    if (random.nextInt(4) == 0) {
      builder.nullText("a");
    }
    return builder.build(true);
  }

  /// Bytes that mean something, in any order; mostly with one kind of line end.
  private static byte[] soup(Random random, CsvOptions options) {
    String alphabet = "aab,,\"\"'\\\n\n\n.N" + (char) options.delimiter();
    String end = List.of("\n", "\r\n", "\r").get(random.nextInt(3));
    StringBuilder out = new StringBuilder();
    int length = random.nextInt(60);
    for (int i = 0; i < length; i++) {
      char c = alphabet.charAt(random.nextInt(alphabet.length()));
      out.append(c == '\n' ? end : Character.toString(c));
      if (random.nextInt(60) == 0) {
        out.append(random.nextBoolean() ? '\n' : '\r');
      }
      if (random.nextInt(60) == 0) {
        out.append(end).append("\\.").append(end);
      }
    }
    return out.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void shouldReadWhatFastCsvReads() {
    Random random = new Random(2);
    for (int i = 0; i < FILES; i++) {
      int columns = 1 + random.nextInt(5);
      char delimiter = ",;|\t".charAt(random.nextInt(4));
      String content = wellFormed(random, columns, delimiter);
      List<String> expected = new ArrayList<>();
      try (CsvReader<CsvRecord> reader =
          CsvReader.builder()
              .fieldSeparator(delimiter)
              .skipEmptyLines(false)
              .ofCsvRecord(content)) {
        reader.forEach(each -> expected.add(String.join("|", each.getFields())));
      } catch (java.io.IOException e) {
        throw new AssertionError(e);
      }
      CsvOptions options = csv().delimiter(Character.toString(delimiter)).build(true);
      int size = 1 + random.nextInt(bytes(content).length + 1);
      CsvFiles.Read read = CsvFiles.read(options, texts(columns), bytes(content), size);
      assertEquals(List.of(), read.rejected());
      assertEquals(expected, read.rows().stream().map(row -> row.replace("<null>", "")).toList());
    }
  }

  private static String wellFormed(Random random, int columns, char delimiter) {
    String end = List.of("\n", "\r\n", "\r").get(random.nextInt(3));
    String[] pieces = {"a", "bc", " ", "é", "€", "😀", ",", ";", "\n", "\r\n", "\"\"", "\t", "-"};
    StringBuilder out = new StringBuilder();
    int rows = 1 + random.nextInt(30);
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        StringBuilder field = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
          field.append(pieces[random.nextInt(pieces.length)]);
        }
        String text = field.toString();
        boolean needed = text.chars().anyMatch(c -> c == delimiter || "\"\r\n".indexOf(c) >= 0);
        boolean quoted = needed || random.nextInt(4) == 0;
        out.append(column > 0 ? Character.toString(delimiter) : "");
        out.append(quoted ? '"' + text + '"' : text);
      }
      if (row + 1 < rows || random.nextBoolean() || columns == 1) {
        out.append(end);
      }
    }
    return out.toString();
  }

  @Test
  void shouldKeepPartsWhereTheyAreAndCountTheirBytes() {
    byte[] content = bytes("a,b\n".repeat(1000));
    CsvFiles.Memory memory = new CsvFiles.Memory(1 << 24);
    List<Long> begins = new ArrayList<>();
    long bytes = 0;
    try (CsvFile file =
        new CsvFile(
            new CsvFiles.Bytes("in:x", content), csv().build(true), texts(2), false, 100, memory)) {
      for (RowsPart part = file.next(); part != null; part = file.next()) {
        try (RowsPart open = part) {
          while (open.next((o, e) -> {}) != null) {
            begins.add(open.origin(0).byteOffset());
          }
          assertEquals(25, open.rows());
          bytes += open.readBytes();
        }
      }
    }
    assertEquals(40, begins.size());
    assertEquals(3900, begins.getLast());
    assertEquals(content.length, bytes);
    assertEquals(0, memory.reserved());
  }

  @Test
  void shouldRefuseRowThatMemoryDoesNotHold() {
    byte[] content = bytes("\"" + "x".repeat(1 << 20));
    CsvFiles.Memory memory = new CsvFiles.Memory(1 << 20);
    CsvFile file =
        new CsvFile(
            new CsvFiles.Bytes("in:x", bytes("a\n" + new String(content, StandardCharsets.UTF_8))),
            csv().build(true),
            texts(1),
            false,
            1 << 10,
            memory);
    EngineException thrown =
        assertThrows(
            EngineException.class,
            () -> {
              for (RowsPart part = file.next(); part != null; part = file.next()) {
                part.close();
              }
            });
    assertEquals(ErrorCode.OUT_OF_MEMORY, thrown.code());
    file.close();
    assertEquals(0, memory.reserved());
  }

  @Test
  void shouldReadTenThousandColumns() {
    int count = 10_000;
    List<dev.kakehashi.engine.api.bulk.LoadColumn> columns = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < count; i++) {
      columns.add(CsvFiles.column("c" + i, dev.kakehashi.protocol.TypeOid.INT4));
      line.append(i > 0 ? "," : "").append(i);
    }
    CsvFiles.Read read =
        CsvFiles.read(csv().build(true), columns, bytes((line + "\n").repeat(5)), 1 << 14);
    assertEquals(5, read.rows().size());
    assertTrue(read.rows().stream().allMatch(line.toString().replace(',', '|')::equals));
  }
}
