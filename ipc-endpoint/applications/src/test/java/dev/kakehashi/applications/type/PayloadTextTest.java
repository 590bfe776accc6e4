package dev.kakehashi.applications.type;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.kakehashi.application.Json;
import dev.kakehashi.engine.api.queue.Payload;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadTextTest {
  record Parcel(String recipient, double weight, BigDecimal price, Json extra, byte[] label) {}

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-0",
        "12",
        "0.10",
        "1.50e3",
        "1E-5",
        "1e+2",
        "9e9999",
        "-12345678901234567890"
      })
  void shouldKeepDigitsOfNumbers(String number) {
    // With its scale: equals of BigDecimal looks at it.
    assertEquals(new BigDecimal(number), PayloadText.read(number));
    assertEquals(List.of(new BigDecimal(number)), PayloadText.read(" [ " + number + " ]\n"));
  }

  @Test
  void shouldBoundNumbers() {
    String longest = "7".repeat(1_000);
    assertEquals(new BigDecimal(longest), PayloadText.read(longest));
    assertNoJson(longest + "7");
    assertNoJson("-" + longest);
    assertNoJson("1e00001");
    assertNoJson("[1E-12345]");
  }

  @Test
  void shouldTakeLastMemberOfName() {
    assertEquals("{a=3, b=2}", String.valueOf(PayloadText.read("{\"a\":1,\"b\":2,\"a\":3}")));
  }

  @Test
  void shouldBoundDepth() {
    Object value = PayloadText.read("[".repeat(100) + "1" + "]".repeat(100));
    for (int i = 0; i < 100; i++) {
      value = assertInstanceOf(List.class, value).getFirst();
    }
    assertEquals(BigDecimal.ONE, value);
    assertInstanceOf(List.class, PayloadText.read("[".repeat(101) + "]".repeat(101)));
    for (String deep :
        List.of(
            "[".repeat(101) + "1" + "]".repeat(101),
            "{\"a\":".repeat(101) + "1" + "}".repeat(101),
            "[".repeat(100_000))) {
      IllegalArgumentException refused =
          assertThrows(IllegalArgumentException.class, () -> PayloadText.read(deep));
      assertEquals("JSON is nested deeper than 100", refused.getMessage());
    }
  }

  @Test
  void shouldReadStringsOfAnyCharacters() {
    assertEquals("\ud800", PayloadText.read("\"\\ud800\""));
    assertEquals("\udc00x", PayloadText.read("\"\udc00x\""));
    assertEquals("\ud83d\ude00", PayloadText.read("\"\\uD83D\\ude00\""));
    assertEquals("\"\\/\b\f\n\r\t\u007f", PayloadText.read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\u007f\""));
    String longText = "é".repeat(100_000);
    assertEquals(longText, PayloadText.read("\"" + longText + "\""));
    assertEquals(Map.of(longText, true), PayloadText.read("{\"" + longText + "\": true}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "[",
        "[1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{1:1}",
        "1 2",
        "[1]]",
        "NaN",
        "-Infinity",
        "[NaN]",
        "+1",
        ".5",
        "1.",
        "01",
        "-",
        "1e",
        "nul",
        "truex",
        "'a'",
        "\"a",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\t\"",
        "\u00a01",
        "\ufeff1",
        "/**/1",
        "# 1"
      })
  void shouldRefuseWhatIsNoJson(String text) {
    assertNoJson(text);
  }

  @Test
  void shouldNamePlace() {
    assertEquals("this is no JSON at character 1", assertNoJson("").getMessage());
    assertEquals("this is no JSON at character 7", assertNoJson("[1, 2 3]").getMessage());
    assertEquals("this is no JSON at character 5", assertNoJson("[1] 2").getMessage());
  }

  @Test
  void shouldEscapeAsJsonb() throws IOException {
    for (char c = 0; c < 0x100; c++) {
      String escaped =
          switch (c) {
            case '"', '\\' -> "\\" + c;
            case '\b' -> "\\b";
            case '\f' -> "\\f";
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> c < ' ' ? "\\u00%02x".formatted((int) c) : String.valueOf(c);
          };
      assertEquals("\"" + escaped + "\"", written(String.valueOf(c)));
    }
    assertEquals("\"\ud800 \udc00\"", written("\ud800 \udc00"));
  }

  @Test
  void shouldWriteValues() throws IOException {
    assertEquals("null", written(null));
    assertEquals("\"NaN\"", written(Double.NaN));
    assertEquals("\"-Infinity\"", written(Float.NEGATIVE_INFINITY));
    assertEquals("1.0E10", written(1e10));
    assertEquals("1200", written(new BigDecimal("1.2E3")));
    assertEquals("[1, 2, 3]", written(new long[] {1, 2, 3}));
    assertEquals("[]", written(new String[0]));
    assertEquals("{ \"a\":1}", written(new Json("{ \"a\":1}")));
    assertEquals("\"AQI=\"", written(new byte[] {1, 2}));
  }

  @Test
  void shouldWriteRecordsAsJsonb() throws Throwable {
    PayloadShape shape = PayloadShape.of(Parcel.class, "queue q");
    Parcel parcel =
        new Parcel(
            "x\u0001",
            Double.POSITIVE_INFINITY,
            new BigDecimal("1.50"),
            new Json("[1,2]"),
            new byte[] {7});
    assertEquals(
        "{\"extra\": [1,2], \"label\": \"Bw==\", \"price\": 1.50, \"weight\": \"Infinity\", \"recipient\": \"x\\u0001\"}",
        text(shape.write(parcel)));
    Parcel read =
        assertInstanceOf(
            Parcel.class,
            shape.read(
                new Payload(
                    true,
                    ("{\"price\":1.50,\"weight\":\"NaN\",\"label\":\"Bw==\",\"recipient\":\"é\","
                            + "\"extra\":{\"b\":[1,{}],\"a\":null,\"b\":1e2}}")
                        .getBytes(StandardCharsets.UTF_8))));
    assertEquals(new Json("{\"b\": 100, \"a\": null}"), read.extra());
    assertEquals(new BigDecimal("1.50"), read.price());
    assertTrue(Double.isNaN(read.weight()));
    assertEquals("é", read.recipient());
  }

  private static IllegalArgumentException assertNoJson(String text) {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> PayloadText.read(text));
    assertTrue(
        String.valueOf(refused.getMessage()).startsWith("this is no JSON at character "),
        refused::getMessage);
    return refused;
  }

  private static String written(@Nullable Object value) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = PayloadText.generator(text)) {
      PayloadValues.write(out, value);
    }
    return text.toString();
  }

  private static String text(Payload payload) {
    return new String(payload.bytes(), StandardCharsets.UTF_8);
  }
}
