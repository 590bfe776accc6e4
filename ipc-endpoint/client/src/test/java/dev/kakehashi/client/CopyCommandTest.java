package dev.kakehashi.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class CopyCommandTest {
  @Test
  void shouldWriteWhatTheEngineReads() {
    CopyCommand command =
        CopyCommand.into("sales.\"Order\"")
            .columns("id", "a \"b\"")
            .option("format", "csv")
            .option("delimiter", "'")
            .option("force_null", List.of("id", "it's"))
            .option("header")
            .where("id > 0");
    assertEquals(
        "COPY sales.\"Order\" (\"id\", \"a \"\"b\"\"\") FROM 'in:a''b\\.csv' WITH (format 'csv', delimiter '''',"
            + " force_null ('id', 'it''s'), header) WHERE id > 0",
        command.sql("in:a'b\\.csv"));
  }

  @Test
  void shouldDumpAQueryWhateverItsLastLineIs() {
    assertEquals(
        "COPY (SELECT 1 -- one\n) TO STDOUT WITH (format 'csv')",
        CopyCommand.ofQuery("SELECT 1 -- one").option("format", "csv").sqlToOutput());
  }

  @Test
  void shouldHaveNoConditionOfADump() {
    assertThrows(IllegalArgumentException.class, () -> CopyCommand.of("t").where("id > 0"));
  }
}
