package dev.kakehashi.console.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.rest.sql.TextResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PageRowTest {
  private static PageRow row(@Nullable String... values) {
    List<@Nullable String[]> rows = new ArrayList<>();
    rows.add(values);
    return PageRow.first(
        new TextResult(
            List.of(
                new TextResult.Column("name", "text", false),
                new TextResult.Column("count", "bigint", true)),
            rows,
            1,
            false));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "1023, 1023 B",
    "1024, 1.0 kB",
    "1536, 1.5 kB",
    "102400, 100 kB",
    "1048576, 1.0 MB",
    "1610612736, 1.5 GB",
    "1125899906842624, 1.0 PB",
    "9223372036854775807, 8192 PB"
  })
  void shouldShowBytesAsPeopleReadThem(long bytes, String expected) {
    assertEquals(expected, PageRow.bytes(bytes));
  }

  /// The console speaks one language, whatever that of the endpoint's machine is.
  @Test
  void shouldShowBytesAlikeInAllLanguages() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY);
    try {
      assertEquals("1.5 kB", PageRow.bytes(1536));
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void shouldTellNullFromNothing() {
    PageRow row = row(null, null);
    assertNull(row.get("name"));
    assertEquals("", row.text("name"));
    assertEquals(0, row.number("count"));
    assertEquals("–", row.bytes("count"));
    assertEquals("–", row.age("name"));
    assertFalse(row.isTrue("name"));
    assertEquals("<td class=\"number null\">–</td>", row.cell("count").toString());
    assertEquals("<td></td>", row("", "1").cell("name").toString());
  }

  @Test
  void shouldReadNumbersAndTruth() {
    assertEquals(1500, row("a", "1.5e3").number("count"));
    assertEquals("1.5 kB", row("a", "1536").bytes("count"));
    assertTrue(row("t", "1").isTrue("name"));
    assertFalse(row("true story", "1").isTrue("name"));
  }

  @Test
  void shouldShowTenthsOfSeconds() {
    assertEquals("00:00:01.2", row("00:00:01.234567", "1").age("name"));
    assertEquals("1 day 00:00:01", row("1 day 00:00:01", "1").age("name"));
  }

  @Test
  void shouldRefuseAColumnThatTheStatementLacks() {
    assertThrows(IllegalArgumentException.class, () -> row("a", "1").text("nothing"));
  }

  @Test
  void shouldEscapeWhatIsInACell() {
    assertEquals("<td>&lt;script&gt;</td>", row("<script>", "1").cell("name").toString());
  }
}
