package dev.kakehashi.bulk.csv;

import static dev.kakehashi.bulk.csv.CsvFiles.bytes;
import static dev.kakehashi.bulk.csv.CsvFiles.column;
import static dev.kakehashi.bulk.csv.CsvFiles.csv;
import static dev.kakehashi.bulk.csv.CsvFiles.text;
import static dev.kakehashi.bulk.csv.CsvFiles.texts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.TypeOid;
import java.util.List;
import org.junit.jupiter.api.Test;

class CsvReadTest {
  private static final CsvOptions PLAIN = csv().build(true);

  private static List<String> rows(CsvOptions options, int columns, String file) {
    CsvFiles.Read read = CsvFiles.read(options, texts(columns), bytes(file));
    assertEquals(List.of(), read.rejected());
    return read.rows();
  }

  private static List<String> rejected(CsvOptions options, int columns, String file) {
    return CsvFiles.read(options, texts(columns), bytes(file)).rejected();
  }

  @Test
  void shouldReadFieldsWithAndWithoutQuotes() {
    assertEquals(
        List.of("a|b", "c,d|e\"f", "g\nh|i", "jklm|n"),
        rows(PLAIN, 2, "a,b\n\"c,d\",\"e\"\"f\"\n\"g\nh\",i\nj\"kl\"m,n\n"));
  }

  @Test
  void shouldTellNullFromEmptyString() {
    assertEquals(List.of("<null>|", "|<null>"), rows(PLAIN, 2, ",\"\"\n\"\",\n"));
    CsvOptions named = csv().nullText("NULL").build(true);
    assertEquals(List.of("|<null>", "NULL|x"), rows(named, 2, ",NULL\n\"NULL\",x\n"));
  }

  @Test
  void shouldForceNullAndNotNull() {
    CsvOptions forced =
        csv()
            .forceNotNull(CsvOptions.Columns.of(List.of("a")))
            .forceNull(CsvOptions.Columns.of(List.of("b")))
            .build(true);
    assertEquals(List.of("|<null>|<null>", "||<null>"), rowsOf(forced, ",\"\",\n\"\",x,\n"));
  }

  private static List<String> rowsOf(CsvOptions options, String file) {
    return rows(options, 3, file).stream().map(row -> row.replace("|x|", "||")).toList();
  }

  @Test
  void shouldReadEachLineEnd() {
    for (String end : List.of("\n", "\r\n", "\r")) {
      String file = "a,b" + end + "c,\"d\"" + end + "e,f";
      assertEquals(List.of("a|b", "c|d", "e|f"), rows(PLAIN, 2, file));
      assertEquals(List.of("a|b", "c|d", "e|f"), rows(PLAIN, 2, file + end));
    }
  }

  @Test
  void shouldRefuseOtherLineEndsThanTheFirst() {
    assertEquals(
        List.of("2:2:22P04:unquoted carriage return found in data:b\r"),
        rejected(PLAIN, 1, "a\nb\r\nc\n"));
    assertEquals(
        List.of("2:3:22P04:unquoted newline found in data:b\nc"),
        rejected(PLAIN, 1, "a\r\nb\nc\r\nd\r\n"));
    assertEquals(
        List.of("2:2:22P04:unquoted newline found in data:b\nc"),
        rejected(PLAIN, 1, "a\rb\nc\rd\r"));
  }

  @Test
  void shouldReadFilesWithoutRows() {
    assertEquals(List.of(), rows(PLAIN, 2, ""));
    CsvOptions header = csv().header(CsvOptions.Header.SKIP).build(true);
    assertEquals(List.of(), rows(header, 2, ""));
    assertEquals(List.of(), rows(header, 2, "a,b"));
    assertEquals(List.of(), rows(header, 2, "a,b\n"));
    assertEquals(List.of(), rows(header, 2, "\uFEFF"));
  }

  @Test
  void shouldSkipByteOrderMark() {
    assertEquals(List.of("a|b"), rows(PLAIN, 2, "\uFEFFa,b\n"));
    CsvOptions header = csv().header(CsvOptions.Header.MATCH).build(true);
    assertEquals(List.of("1|2"), rows(header, 2, "\uFEFFa,b\n1,2\n"));
  }

  @Test
  void shouldReadEmptyLineOfOneColumnAsNull() {
    assertEquals(List.of("<null>", "x"), rows(PLAIN, 1, "\nx\n"));
  }

  @Test
  void shouldReadEndOfDataMarkerAsValue() {
    assertEquals(List.of("a", "\\.", "b"), rows(PLAIN, 1, "a\n\\.\nb\n"));
  }

  @Test
  void shouldNameWrongNumberOfColumns() {
    assertEquals(
        List.of(
            "2:4:22P04:missing data for column \"b\":c",
            "4:10:22P04:extra data after last expected column:f,g,h"),
        rejected(PLAIN, 2, "a,b\nc\nd,e\nf,g,h\n"));
  }

  @Test
  void shouldGoOnAfterBadRow() {
    CsvFiles.Read read =
        CsvFiles.read(
            PLAIN,
            List.of(column("a", TypeOid.INT4), column("b", TypeOid.TEXT)),
            bytes("1,\"x\ny\"\nz,\"p\nq\"\n3,r\n"));
    assertEquals(List.of("1|x\ny", "3|r"), read.rows());
    assertEquals(
        List.of("3:8:22P02:invalid input syntax for type integer: \"z\":z,\"p\nq\""),
        read.rejected());
    assertEquals(3, read.read());
  }

  @Test
  void shouldRefuseQuoteThatDoesNotEnd() {
    assertEquals(
        List.of("2:2:22P04:unterminated CSV quoted field:\"b\nc"),
        rejected(PLAIN, 1, "a\n\"b\nc\n"));
  }

  @Test
  void shouldReadOtherQuotesEscapesAndDelimiters() {
    CsvOptions options = csv().quote("'").escape("\\").delimiter(";").build(true);
    assertEquals(
        List.of("a'b|c\\d|e\\n", "\"|;|\n"),
        rows(options, 3, "'a\\'b';'c\\\\d';'e\\n'\n\";';';'\n'\n"));
  }

  @Test
  void shouldRefuseBytesThatAreNoText() {
    byte[] nul = {'a', 0, 'b', '\n', 'c', '\n'};
    CsvFiles.Read read = CsvFiles.read(PLAIN, texts(1), nul);
    assertEquals(List.of("c"), read.rows());
    assertEquals(
        List.of("1:0:22021:invalid byte sequence for encoding \"UTF8\": 0x00:a\0b"),
        read.rejected());
    byte[] broken = {'a', (byte) 0xC3, '\n', 'c', '\n'};
    assertEquals(
        List.of("1:0:22021:invalid byte sequence for encoding \"UTF8\": 0xc3:a\uFFFD"),
        CsvFiles.read(PLAIN, texts(1), broken).rejected());
  }

  @Test
  void shouldSkipSeveralLines() {
    String file = "one\n\"two\nstill two\",x\nthree\n1,2\n3,4\n";
    CsvOptions three = csv().header(CsvOptions.Header.skip(3)).build(true);
    assertEquals(List.of("1|2", "3|4"), rows(three, 2, file));
    assertEquals(
        List.of("5:28:22P04:missing data for column \"b\":bad"),
        rejected(three, 2, file.replace("1,2", "bad")));
    assertEquals(List.of("1|2", "3|4"), rows(three, 2, "\uFEFF" + file));
    for (int lines = 5; lines < 9; lines++) {
      CsvOptions many = csv().header(CsvOptions.Header.skip(lines)).build(true);
      assertEquals(List.of(), rows(many, 2, file), lines + " lines");
      assertEquals(List.of(), rows(many, 2, ""), lines + " lines");
    }
    CsvOptions tabs = text().header(CsvOptions.Header.skip(2)).build(true);
    assertEquals(List.of("1|2"), rows(tabs, 2, "one\\\nstill one\ntwo\n1\t2\n\\.\nx\n"));
    assertEquals(List.of(), rows(tabs, 2, "one\n\\.\n1\t2\n"));
    assertEquals(
        List.of(), rows(text().header(CsvOptions.Header.SKIP).build(true), 2, "\\.\n1\t2\n"));
    assertEquals(
        List.of("1|2"),
        rows(csv().header(CsvOptions.Header.skip(2)).build(true), 2, "one\r\ntwo\r\n1,2\r\n"));
  }

  @Test
  void shouldSkipLinesThatAreLongerThanAPart() {
    CsvOptions two = csv().header(CsvOptions.Header.skip(2)).build(true);
    String file = "\uFEFF" + "x".repeat(5000) + "\n" + "y".repeat(9000) + "\n1,2\n";
    for (int partBytes : new int[] {1, 7, 100, 4096}) {
      assertEquals(List.of("1|2"), CsvFiles.read(two, texts(2), bytes(file), partBytes).rows());
    }
  }

  @Test
  void shouldSetNullWhatCannotBeConverted() {
    CsvOptions setsNull = csv().setsNull(true).defaultText("D").build(true);
    CsvFiles.Read read =
        CsvFiles.read(
            setsNull,
            List.of(
                column("a", TypeOid.INT4),
                column("b", TypeOid.TEXT),
                column("c", TypeOid.DATE),
                column("d", TypeOid.NUMERIC, (4 << 16 | 2) + 4),
                column("e", TypeOid.VARCHAR, 2 + 4)),
            bytes(
                "1,x,2026-02-30,12.5,ab\n99999999999,\"y\",2026-01-02,123.4,abc\nz,,x,x,D\n7,z,1999-09-09,1,\"\"\n"));
    assertEquals(
        List.of(
            "1|x|<null>|12.50|ab",
            "<null>|y|2026-01-02|<null>|<null>",
            "<null>|<null>|<null>|<null>|<null>",
            "7|z|1999-09-09|1.00|"),
        read.rows());
    assertEquals(List.of(), read.rejected());
    assertEquals(4, read.read());
    // The structure of a row is no value, and neither are bytes that are no text.
    assertEquals(
        List.of("1:0:22P04:missing data for column \"b\":1"), rejected(setsNull, 2, "1\n2,3\n"));
    byte[] broken = {'a', (byte) 0xC3, '\n', 'c', '\n'};
    assertEquals(1, CsvFiles.read(setsNull, texts(1), broken).rejected().size());
  }

  @Test
  void shouldMatchHeader() {
    CsvOptions match = csv().header(CsvOptions.Header.MATCH).build(true);
    assertEquals(List.of("1|2"), rows(match, 2, "a,\"b\"\n1,2\n"));
    assertEquals(
        "wrong number of fields in header line: got 1, expected 2", headerError(match, "a\n"));
    assertEquals(
        "column name mismatch in header line field 2: got \"c\", expected \"b\"",
        headerError(match, "a,c\n"));
    assertEquals(
        "column name mismatch in header line field 1: got null value (\"\"), expected \"a\"",
        headerError(match, ",b\n"));
  }

  private static String headerError(CsvOptions options, String file) {
    return String.valueOf(
        assertThrows(EngineException.class, () -> rows(options, 2, file)).getMessage());
  }

  @Test
  void shouldTakeColumnsByNamesOfHeader() {
    CsvOptions names = csv().header(CsvOptions.Header.NAMES).build(true);
    CsvFiles.Read read =
        CsvFiles.read(
            names,
            List.of(
                column("n", TypeOid.INT4), column("s", TypeOid.TEXT), column("t", TypeOid.TEXT)),
            bytes("t,n\nx,7\n"));
    assertEquals(List.of("x|7"), read.rows());
    assertEquals("column \"z\" of the header line does not exist", headerError(names, "a,z\n"));
    assertEquals("column \"a\" is more than once in the header line", headerError(names, "a,a\n"));
  }
}
