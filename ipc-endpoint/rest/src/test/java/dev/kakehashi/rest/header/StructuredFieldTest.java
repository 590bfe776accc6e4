package dev.kakehashi.rest.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.rest.header.FieldValue.Bool;
import dev.kakehashi.rest.header.FieldValue.Decimal;
import dev.kakehashi.rest.header.FieldValue.InnerList;
import dev.kakehashi.rest.header.FieldValue.Int;
import dev.kakehashi.rest.header.FieldValue.Item;
import dev.kakehashi.rest.header.FieldValue.Text;
import dev.kakehashi.rest.header.FieldValue.Token;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The examples of RFC 9651, and what it refuses.
final class StructuredFieldTest {
  private static Item item(FieldValue.Bare value) {
    return new Item(value, Map.of());
  }

  @Test
  void shouldReadAllKindsOfItems() throws Exception {
    assertEquals(item(new Int(-999_999_999_999_999L)), StructuredField.item("-999999999999999"));
    assertEquals(item(new Decimal(new BigDecimal("4.5"))), StructuredField.item(" 4.5 "));
    assertEquals(item(new Text("a \"b\" \\")), StructuredField.item("\"a \\\"b\\\" \\\\\""));
    assertEquals(item(new Token("foo123/456")), StructuredField.item("foo123/456"));
    assertEquals(item(new Token("*a:b")), StructuredField.item("*a:b"));
    assertEquals(
        item(
            new FieldValue.Bytes(
                "pretend this is binary content.".getBytes(StandardCharsets.US_ASCII))),
        StructuredField.item(":cHJldGVuZCB0aGlzIGlzIGJpbmFyeSBjb250ZW50Lg==:"));
    assertEquals(item(new Bool(true)), StructuredField.item("?1"));
    assertEquals(item(new FieldValue.Date(1_659_578_233)), StructuredField.item("@1659578233"));
    assertEquals(item(new FieldValue.Display("füü")), StructuredField.item("%\"f%c3%bc%c3%bc\""));
  }

  @Test
  void shouldReadParametersWithTheLastOfEqualNames() throws Exception {
    assertEquals(
        new Item(new Token("a"), Map.of("b", new Int(2), "c", new Bool(true), "*d", new Text(""))),
        StructuredField.item("a;b=1; c;*d=\"\";b=2"));
  }

  @Test
  void shouldReadListsAndDictionaries() throws Exception {
    assertEquals(
        List.of(
            new InnerList(
                List.of(new Item(new Text("foo"), Map.of("a", new Int(1))), item(new Text("bar"))),
                Map.of("lvl", new Int(5))),
            item(new Token("x"))),
        StructuredField.list("(\"foo\";a=1 \"bar\" );lvl=5 ,\tx"));
    assertEquals(List.of(), StructuredField.list(""));
    assertEquals(
        Map.of(
            "a",
            item(new Bool(true)),
            "b",
            item(new Int(2)),
            "c",
            new InnerList(List.of(), Map.of())),
        StructuredField.dictionary("b=1, a, c=(), b=2"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "1.",
        "1.2345",
        "1234567890123.1",
        "1234567890123456",
        "\"a",
        "\"\\n\"",
        "\"ü\"",
        "?2",
        "?",
        ":a",
        ":a=:",
        "@1.5",
        "@",
        "%\"%C3%BC\"",
        "%\"%ff\"",
        "%x",
        "a b",
        "a;",
        "a;B",
        "a;b=",
        "=",
        "a,b",
        "é",
        "(a)",
        "a\t",
        "1e5"
      })
  void shouldRefuseBrokenItems(String field) {
    assertThrows(FieldException.class, () -> StructuredField.item(field));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a,", ",a", "a,,b", "(a", "(a,b)", "(a\"b\")", "((a))", "a;b=(c)", "a b"})
  void shouldRefuseBrokenLists(String field) {
    assertThrows(FieldException.class, () -> StructuredField.list(field));
  }

  @ParameterizedTest
  @ValueSource(strings = {"A=1", "a=,", "a=1,", "a=1 b=2", "1=a", "=1"})
  void shouldRefuseBrokenDictionaries(String field) {
    assertThrows(FieldException.class, () -> StructuredField.dictionary(field));
  }
}
