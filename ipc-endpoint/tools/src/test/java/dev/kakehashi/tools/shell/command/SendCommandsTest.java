package dev.kakehashi.tools.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.tools.shell.CommandArguments;
import dev.kakehashi.tools.shell.ShellException;
import dev.kakehashi.tools.shell.Variables;
import dev.kakehashi.tools.shell.print.PrintFormat;
import dev.kakehashi.tools.shell.print.PrintOptions;
import org.junit.jupiter.api.Test;

/// Options of `\g` for one result.
class SendCommandsTest {
  private final PrintOptions usual = new PrintOptions();

  private static CommandArguments arguments(String line) {
    return new CommandArguments(line, 0, new Variables());
  }

  @Test
  void shouldTakeOptionsInParenthesesAndATargetBehindThem() {
    for (String line :
        new String[] {
          " (format=unaligned tuples_only=on null='is null') out.txt",
          "( format=unaligned tuples_only=on null='is null' ) out.txt"
        }) {
      CommandArguments arguments = arguments(line);
      PrintOptions options = SendCommands.options(usual, "g", arguments);
      assertEquals(PrintFormat.UNALIGNED, options.format);
      assertTrue(options.tuplesOnly);
      assertEquals("is null", options.nullText);
      assertEquals("out.txt", arguments.rest());
      assertEquals(PrintFormat.ALIGNED, usual.format);
    }
    CommandArguments none = arguments("()");
    assertEquals(PrintFormat.ALIGNED, SendCommands.options(usual, "g", none).format);
    assertEquals("", none.rest());
  }

  @Test
  void shouldLeaveATargetAloneThatHasNone() {
    CommandArguments arguments = arguments("out(1).txt");
    assertSame(usual, SendCommands.options(usual, "g", arguments));
    assertEquals("out(1).txt", arguments.rest());
  }

  @Test
  void shouldRefuseWhatIsNoOption() {
    ShellException open =
        assertThrows(
            ShellException.class,
            () -> SendCommands.options(usual, "gx", arguments("(format=csv")));
    assertEquals("error: \\gx: missing right parenthesis", open.getMessage());
    ShellException unknown =
        assertThrows(
            ShellException.class,
            () -> SendCommands.options(usual, "g", arguments("(colour=red)")));
    assertTrue(
        String.valueOf(unknown.getMessage()).startsWith("\\pset: unknown option: colour"),
        unknown.getMessage());
  }
}
