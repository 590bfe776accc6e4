package dev.kakehashi.pgtests.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.TmuxScreen;
import dev.kakehashi.pgtests.harness.Tools;
import dev.kakehashi.pgtests.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledIf;

/// `kakehashi sql` on a terminal of 80 columns and 24 lines. One shell for all: each test leaves it at its prompt.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@EnabledIf("hasTmux")
class ShellTerminalTest {
  private static final String PROMPT = "kakehashi=>";
  private static final String ENDLESS =
      "select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b;";

  private final Workspace workspace = Workspace.create("terminal");
  private final EndpointProcess endpoint =
      EndpointProcess.start(workspace.memory().resolve("run"), workspace.disk());
  private final TmuxScreen screen =
      TmuxScreen.start(
          workspace.disk().resolve("tmux"),
          Map.of(
              "KAKEHASHI_PAGER",
              "sed s/^/paged:/",
              "EDITOR",
              "sh -c 'echo \"select 40 + 2 as edited;\" >$0'"),
          Tools.line(
              "sql",
              "-X",
              "-v",
              "HISTFILE=" + workspace.disk().resolve("history"),
              "--runtime-directory",
              endpoint.runtimeDirectory().toString()));

  static boolean hasTmux() {
    return Files.isExecutable(Path.of("/usr/bin/tmux"));
  }

  @BeforeAll
  void seeThePrompt() {
    awaitPrompt();
  }

  @AfterAll
  void stop() {
    screen.close();
    endpoint.close();
    workspace.close();
  }

  /// The last line that is not empty is a prompt that waits.
  private List<String> awaitPrompt() {
    return screen.await(
        "prompt", lines -> last(lines).equals(PROMPT) || last(lines).equals(PROMPT + " "));
  }

  private static String last(List<String> lines) {
    return lines.stream().filter(line -> !line.isEmpty()).reduce("", (_, line) -> line);
  }

  private List<String> run(String line) {
    screen.press("C-l"); // an empty screen
    screen.await("an empty screen", lines -> lines.getFirst().startsWith(PROMPT));
    screen.type(line);
    screen.press("Enter");
    screen.await(
        "echo, or what has pushed it off the screen",
        lines ->
            lines.getFirst().length() > PROMPT.length() + 1
                || !lines.getFirst().startsWith(PROMPT));
    return awaitPrompt();
  }

  @Test
  @Order(1)
  void shouldAlignWideCharacters() {
    List<String> lines = run("select '漢字' as k, 'é' as e union all select 'ab', 'x';");
    assertEquals(
        List.of("  k   | e", "------+---", " 漢字 | é", " ab   | x", "(2 rows)"),
        lines.subList(1, 6));
  }

  @Test
  @Order(2)
  void shouldEditALineThatIsWiderThanTheScreen() {
    // The line goes over to the second one in the middle of a wide character.
    String wide = "漢".repeat(40);
    List<String> lines = run("select length('" + wide + "') as n;");
    assertEquals(wide, String.join("", lines.subList(0, 2)).replaceAll("[^漢]", ""));
    assertTrue(lines.contains(" 40"), lines.toString());
  }

  @Test
  @Order(3)
  void shouldForgetTheLineAfterControlC() {
    screen.type("select 'never");
    screen.press("C-c");
    screen.await("the next prompt", lines -> last(lines).equals(PROMPT));
    assertTrue(run("select 'after' as x;").contains(" after"));
  }

  @Test
  @Order(4)
  void shouldCancelAStatementByControlC() {
    screen.press("C-l");
    screen.type(ENDLESS);
    screen.press("Enter");
    screen.await(
        "progress", lines -> lines.stream().anyMatch(line -> line.contains("Ctrl-C cancels")));
    screen.press("C-c");
    List<String> lines = awaitPrompt();
    assertTrue(
        lines.stream().anyMatch(line -> line.startsWith("ERROR:  canceling statement")),
        lines.toString());
    assertTrue(run("select 'after' as x;").contains(" after"));
  }

  @Test
  @Order(5)
  void shouldRunWhatTheEditorHasLeft() {
    List<String> lines = run("\\e");
    assertTrue(lines.contains(" edited"), lines.toString());
    assertTrue(lines.contains("     42"), lines.toString());
  }

  @Test
  @Order(6)
  void shouldPageWhatIsLongerThanTheScreen() {
    List<String> lines = run("select i from generate_series(1, 100) i;");
    assertTrue(lines.contains("paged: 100"), lines.toString());
    assertTrue(lines.contains("paged:(100 rows)"), lines.toString());
    assertTrue(run("select 'short' as x;").contains(" short"));
  }

  @Test
  @Order(7)
  void shouldCompleteNames() {
    run("create table completed_names (only_here int);");
    screen.press("C-l");
    screen.type("\\d complet");
    screen.await(
        "the name",
        lines -> {
          screen.press("Tab"); // the names are read beside it
          return lines.getFirst().contains("completed_names");
        });
    screen.press("C-c");
    awaitPrompt();
  }

  @Test
  @Order(8)
  void shouldGoOnAfterTheEndpointWasKilled() {
    endpoint.kill();
    List<String> lost = run("select 1;");
    assertTrue(
        lost.contains("The connection to the endpoint was lost. Attempting reset: Failed."),
        lost.toString());
    endpoint.start();
    List<String> again = run("select 1;");
    assertTrue(
        again.contains("The connection to the endpoint was lost. Attempting reset: Succeeded."),
        again.toString());
    assertTrue(run("select 'back' as x;").contains(" back"));
  }
}
