package dev.kakehashi.tools.shell.print;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Tables as psql prints them. The expected texts are psql's.
class AlignedPrinterTest {
  private final PrintOptions options = new PrintOptions();

  private static Cells cells(@Nullable String[]... rows) {
    Cells cells = Cells.of(List.of("id", "name"), List.of(true, false));
    cells.rows().addAll(List.of(rows));
    return cells;
  }

  private static @Nullable String[] row(@Nullable String... values) {
    return values;
  }

  @Test
  void shouldAlignNumbersRightAndTextsLeft() {
    assertEquals(
        """
         id | name
        ----+------
          1 | a
         20 | long
        (2 rows)

        """
            .replace(" id | name\n", " id | name \n"),
        AlignedPrinter.print(cells(row("1", "a"), row("20", "long")), options, "(2 rows)"));
  }

  @Test
  void shouldShowNullByItsText() {
    assertEquals(
        """
         id | name*
        ----+------
          1 |*
        (1 row)

        """
            .replace('*', ' '),
        AlignedPrinter.print(cells(row("1", null)), options, "(1 row)"));
    options.nullText = "<null>";
    assertEquals(
        """
         id |  name *
        ----+--------
          1 | <null>
        (1 row)

        """
            .replace('*', ' '),
        AlignedPrinter.print(cells(row("1", null)), options, "(1 row)"));
  }

  /// A character of two columns, one of none, and one that would move the cursor.
  @Test
  void shouldMeasureColumnsOfTheTerminal() {
    assertEquals(
        """
         id |  name *
        ----+--------
          1 | 架け橋
          2 | e\u0301
          3 | a\\rb
        (3 rows)

        """
            .replace('*', ' '),
        AlignedPrinter.print(
            cells(row("1", "架け橋"), row("2", "e\u0301"), row("3", "a\rb")), options, "(3 rows)"));
  }

  @Test
  void shouldMarkLinesThatGoOn() {
    assertEquals(
        """
         id | name*
        ----+------
          1 | a   +
            | long
          2 | b
        (2 rows)

        """
            .replace('*', ' '),
        AlignedPrinter.print(cells(row("1", "a\nlong"), row("2", "b")), options, "(2 rows)"));
  }

  @Test
  void shouldDrawBorders() {
    options.border = 2;
    assertEquals(
        """
        +----+------+
        | id | name |
        +----+------+
        |  1 | a    |
        +----+------+
        (1 row)

        """,
        AlignedPrinter.print(cells(row("1", "a")), options, "(1 row)"));
    options.border = 0;
    assertEquals(
        """
        id name*
        -- ----
         1 a
        (1 row)

        """
            .replace('*', ' '),
        AlignedPrinter.print(cells(row("1", "a")), options, "(1 row)"));
  }

  @Test
  void shouldPrintRecordsDown() {
    options.expanded = PrintOptions.Expanded.ON;
    assertEquals(
        """
        -[ RECORD 1 ]
        id   | 1
        name | a
        -[ RECORD 2 ]
        id   | 2
        name | b

        """,
        AlignedPrinter.print(cells(row("1", "a"), row("2", "b")), options, "(2 rows)"));
    assertEquals("(0 rows)\n\n", AlignedPrinter.print(cells(), options, "(0 rows)"));
  }

  /// A table that fits the terminal stays a table.
  @Test
  void shouldPrintRecordsDownIfTheyDoNotFitTheTerminal() {
    options.expanded = PrintOptions.Expanded.AUTO;
    Cells cells = cells(row("1", "a"));
    options.terminalColumns = 11;
    assertEquals(
        " id | name ", AlignedPrinter.print(cells, options, null).lines().findFirst().orElse(""));
    options.terminalColumns = 10;
    assertEquals(
        "-[ RECORD 1 ]", AlignedPrinter.print(cells, options, null).lines().findFirst().orElse(""));
  }

  @Test
  void shouldPrintRowsAloneIfAsked() {
    options.tuplesOnly = true;
    options.title = "Title";
    assertEquals("  1 | a\n\n", AlignedPrinter.print(cells(row("1", "a")), options, "(1 row)"));
    options.tuplesOnly = false;
    options.footer = false;
    assertEquals(
        "   Title\n id | name \n----+------\n  1 | a\n\n",
        AlignedPrinter.print(cells(row("1", "a")), options, "(1 row)"));
  }
}
