package dev.kakehashi.tools.bulk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.CopyCommand;
import dev.kakehashi.client.CopyProgress;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class BulkCommandsTest {
  private static CopyArguments arguments(String... words) {
    CopyArguments arguments = new CopyArguments();
    new CommandLine(arguments).parseArgs(words);
    return arguments;
  }

  private static String sql(String file, String... words) {
    return arguments(words).apply(CopyCommand.into("t"), file).sql("in:x");
  }

  @Test
  void shouldSendOptionsAsTheyAre() {
    assertEquals(
        "COPY t FROM 'in:x' WITH (format 'csv', header, delimiter ';', force_null (a, \"B\"), null '=')",
        sql(
            "x",
            "-f",
            "csv",
            "-o",
            "header",
            "-o",
            "delimiter=;",
            "-o",
            "force_null=(a, \"B\")",
            "-o",
            "NULL=="));
  }

  @Test
  void shouldTakeTheFormatFromTheNameAlone() {
    assertEquals("csv", arguments().format("a/b.CSV.gz"));
    assertEquals("arrow_stream", arguments().format("x.arrows"));
    assertEquals("json", arguments().format("x.JSON.gz"));
    assertEquals("text", arguments("--format", "text").format("x.csv"));
    assertEquals(
        "COPY t FROM 'in:x' WITH (format 'parquet')", sql("x.csv", "-o", "format=parquet"));
    assertThrows(IllegalArgumentException.class, () -> arguments().format("csv"));
    assertThrows(IllegalArgumentException.class, () -> arguments().format("x.gz"));
  }

  @Test
  void shouldRefuseAnOptionThatIsNoName() {
    assertThrows(IllegalArgumentException.class, () -> sql("x.csv", "-o", "header) x (a"));
    assertThrows(IllegalArgumentException.class, () -> sql("x.csv", "-o", "=5"));
  }

  @Test
  void shouldTellALocationFromAFile() {
    assertTrue(new Place("in:a/b.csv").isLocation());
    assertFalse(new Place("./in:a.csv").isLocation());
    assertFalse(new Place("/a:b").isLocation());
    assertFalse(new Place("-").isLocation());
    assertEquals("in:day/t.csv", new Place("in:day/").resolve("t.csv").text());
  }

  @Test
  void shouldShowWhatIsKnown() {
    assertEquals(
        "loading [############............]  50%  1,234,567 rows  50.0 MB  3 rejected  1:05 left",
        CopyBar.line(
            new CopyProgress(CopyProgress.Stage.LOADING, 50_000_000, 100_000_000, 1_234_567, 3),
            65));
    assertEquals(
        "dumping   7 rows  0.5 MB",
        CopyBar.line(new CopyProgress(CopyProgress.Stage.DUMPING, 500_000, 0, 7, 0), 1));
  }
}
