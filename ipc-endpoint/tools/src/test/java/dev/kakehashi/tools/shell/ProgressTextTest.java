package dev.kakehashi.tools.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressTextTest {
  private static String text(double seconds, double fraction, long copied, long received) {
    return JobProgress.text(seconds, new JobProgress.Standing(fraction, copied), received);
  }

  @Test
  void shouldShowWhatIsKnown() {
    assertEquals("2 s (Ctrl-C cancels)", text(2, -1, -1, 0));
    assertEquals("2 s, 1,000 rows (Ctrl-C cancels)", text(2, -1, -1, 1000));
    assertEquals("10 s, 7 rows, 25 %, about 30 s left (Ctrl-C cancels)", text(10, 0.25, 7, 0));
    assertEquals("10 s, 99 %, about 0 s left (Ctrl-C cancels)", text(10, 0.999, -1, 0));
    assertEquals("10 s, 1 % (Ctrl-C cancels)", text(10, 0.011, -1, 0));
    assertEquals("10 s, all read (Ctrl-C cancels)", text(10, 1, -1, 0));
    assertEquals("10 s, 7 rows, 100 % (Ctrl-C cancels)", text(10, 1, 7, 0));
  }

  @Test
  void shouldFindNamesByTheirBeginning() {
    String[] names = {"a", "ab", "abc", "abd", "b"};
    assertEquals(List.of("ab", "abc", "abd"), CatalogNamesCache.beginning(names, "ab", 9));
    assertEquals(List.of("ab", "abc"), CatalogNamesCache.beginning(names, "ab", 2));
    assertEquals(List.of(), CatalogNamesCache.beginning(names, "c", 9));
    assertEquals(List.of(), CatalogNamesCache.beginning(new String[0], "c", 9));
  }
}
