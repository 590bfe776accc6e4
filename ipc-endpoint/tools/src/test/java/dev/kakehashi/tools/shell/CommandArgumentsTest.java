package dev.kakehashi.tools.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.api.Test;

/// Words behind a backslash command, and the variables in them.
class CommandArgumentsTest {
  private final Variables variables = new Variables();

  private List<String> words(String line) {
    return new CommandArguments(line, 0, variables).all();
  }

  @Test
  void shouldTakeQuotesAsPsqlDoes() {
    assertEquals(List.of("a", "b c", "d'e"), words(" a 'b c'\t'd''e' "));
    assertEquals(List.of("x\ty\nz", "\\"), words("'x\\ty\\nz' '\\\\'"));
    assertEquals(List.of("\"A b\".c", "ab c"), words("\"A b\".c a'b c'"));
    assertEquals(List.of("open"), words("'open"));
    assertEquals(List.of(), words("   "));
  }

  @Test
  void shouldEndAtTheNextCommand() {
    CommandArguments arguments = new CommandArguments("\\d orders \\dt", 2, variables);
    assertEquals(List.of("orders"), arguments.all());
    assertNull(arguments.next());
    assertEquals(10, arguments.end());
  }

  @Test
  void shouldPutInVariables() {
    variables.set("name", "it's \"x\"");
    variables.set("path", "a\\b");
    assertEquals(List.of("it's \"x\""), words(":name"));
    assertEquals(List.of("'it''s \"x\"'", "\"it's \"\"x\"\"\""), words(":'name' :\"name\""));
    assertEquals(List.of(" E'a\\\\b'"), words(":'path'"));
    assertEquals(List.of("TRUE", "FALSE"), words(":{?name} :{?nobody}"));
    assertEquals(List.of(":nobody", "a:", "::int"), words(":nobody a: ::int"));
    assertEquals(List.of(":name a"), words(":'name a"), "a quote that does not end");
    assertEquals(List.of(":name"), words("':name'"));
  }

  @Test
  void shouldPutInTheOutputOfACommandWithoutItsLastNewline() {
    assertEquals(List.of("a b\nc", "x"), words("`printf 'a b\\nc\\n'` x"));
  }

  @Test
  void shouldKnowWordsForYesAndNo() {
    for (String yes : List.of("on", "ON", "t", "true", "y", "Yes", "1")) {
      assertEquals(true, Variables.isTrue(yes, false), yes);
    }
    for (String no : List.of("off", "of", "f", "false", "n", "NO", "0")) {
      assertEquals(false, Variables.isTrue(no, true), no);
    }
    for (String other : List.of("", "o", "2", "maybe")) {
      assertEquals(true, Variables.isTrue(other, true), other);
      assertEquals(false, Variables.isTrue(other, false), other);
    }
  }
}
