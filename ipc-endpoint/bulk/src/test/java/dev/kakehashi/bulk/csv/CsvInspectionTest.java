package dev.kakehashi.bulk.csv;

import static dev.kakehashi.bulk.csv.CsvFiles.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.bulk.InspectedItem;
import java.util.List;
import org.junit.jupiter.api.Test;

class CsvInspectionTest {
  private static List<String> inspect(CsvOptions options, String file) {
    CsvFiles.Memory memory = new CsvFiles.Memory(1 << 22);
    List<InspectedItem> items =
        new CsvFormat(options).inspect(new CsvFiles.Bytes("in:x.csv", bytes(file)), memory);
    assertEquals(0, memory.reserved());
    return items.stream()
        .filter(item -> !item.kind().equals("file"))
        .map(item -> item.kind() + " " + item.name() + "=" + item.value())
        .toList();
  }

  @Test
  void shouldGuessDelimiterHeaderAndTypes() {
    assertEquals(
        List.of(
            "option delimiter=;",
            "option header=true",
            "column id=bigint",
            "column price=numeric",
            "column day=date",
            "column at=timestamp without time zone",
            "column ok=boolean",
            "column note=text"),
        inspect(
            CsvFiles.csv().build(true),
            """
            id;price;day;at;ok;note
            1;2.50;2026-01-02;2026-01-02 03:04:05;t;"a;b,c,d,e,f,g"
            2;3;;2026-01-03;f;x
            """));
  }

  @Test
  void shouldNameColumnsOfFileWithoutHeader() {
    assertEquals(
        List.of(
            "option delimiter=,",
            "option header=false",
            "column column1=bigint",
            "column column2=text"),
        inspect(CsvFiles.csv().build(true), "1,a\n2,b b\n"));
  }

  @Test
  void shouldSayNothingOfColumnsOfEmptyFile() {
    assertEquals(
        List.of("option delimiter=,", "option header=false"),
        inspect(CsvFiles.csv().build(true), ""));
  }

  @Test
  void shouldInspectTextFormat() {
    assertEquals(
        List.of(
            "option delimiter=\t",
            "option header=false",
            "column column1=bigint",
            "column column2=uuid"),
        inspect(
            CsvFiles.text().build(true), "1\ta0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\n\\N\t\\N\n"));
  }
}
