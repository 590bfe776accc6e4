package dev.kakehashi.console.html;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class HtmlTest {
  @Test
  void shouldEscapeEachValue() {
    assertEquals(
        "<a title=\"&quot;&gt;&lt;script&gt;\">&amp;amp; &#39;x&#39;</a>",
        Html.of("<a title=\"{}\">{}</a>", "\"><script>", "&amp; 'x'").toString());
  }

  @Test
  void shouldTakeMarkupAsItIs() {
    Html inner = Html.of("<b>{}</b>", "<");
    assertEquals("<p><b>&lt;</b></p>", Html.of("<p>{}</p>", inner).toString());
  }

  @Test
  void shouldNotTakeBracesOfAValueForAPlace() {
    assertEquals("{}-x", Html.of("{}-{}", "{}", "x").toString());
  }

  @Test
  void shouldShowControlCharactersAsPictures() {
    assertEquals("a\u2400b\u2407\u2421\n\t", Html.of("{}", "a\0b\u0007\u007f\n\t").toString());
  }

  @Test
  void shouldRefuseAnotherNumberOfValues() {
    assertThrows(IllegalArgumentException.class, () -> Html.of("<p>{}</p>"));
    assertThrows(IllegalArgumentException.class, () -> Html.of("<p>{}</p>", 1, 2));
  }

  @Test
  void shouldNeverLetAValueOpenATagOrAnAttribute() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String wild = "<>\"'&{}\0ab=/-!";
    for (int i = 0; i < 2_000; i++) {
      StringBuilder value = new StringBuilder();
      for (int c = random.nextInt(12); c > 0; c--) {
        value.append(wild.charAt(random.nextInt(wild.length())));
      }
      String page = Html.of("{}", value).toString();
      assertEquals(
          page.length(),
          page.chars().filter(c -> c != '<' && c != '>' && c != '"' && c != '\'').count(),
          "seed " + seed + ": " + page);
    }
  }
}
