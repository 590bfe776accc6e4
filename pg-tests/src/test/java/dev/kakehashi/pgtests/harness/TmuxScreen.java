package dev.kakehashi.pgtests.harness;

import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/// A program on a terminal of 80 columns and 24 lines, which tmux draws: keys go in, the screen comes out. Used by one thread.
public final class TmuxScreen implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private final Path socket;

  private TmuxScreen(Path socket) {
    this.socket = socket;
  }

  /// Starts a program.
  ///
  /// @param socket of tmux, which does not exist
  /// @param line command line of the system's shell
  public static TmuxScreen start(Path socket, Map<String, String> environment, String line) {
    var screen = new TmuxScreen(socket);
    // Without variables in the shell's configuration, and the last screen stays after the end.
    List<String> words = new ArrayList<>(List.of("-u", "-f", "/dev/null", "new-session", "-d"));
    words.addAll(List.of("-x", "80", "-y", "24"));
    environment.forEach((name, value) -> words.addAll(List.of("-e", name + "=" + value)));
    words.addAll(List.of(line, ";", "set", "-g", "remain-on-exit", "on"));
    words.addAll(List.of(";", "set", "-g", "status", "off"));
    screen.tmux(words.toArray(String[]::new));
    return screen;
  }

  private String tmux(String... words) {
    List<String> command = new ArrayList<>(List.of("tmux", "-S", socket.toString()));
    command.addAll(List.of(words));
    return OsProcess.runOk(command, Map.of("LC_ALL", "C.UTF-8", "TERM", "xterm"), LIMIT);
  }

  /// Types a text.
  public void type(String text) {
    // A semicolon at the end of a word ends a command of tmux.
    String word = text.endsWith(";") ? text.substring(0, text.length() - 1) + "\\;" : text;
    tmux("send-keys", "-l", "--", word);
  }

  /// Presses keys by the names that tmux has for them: `Enter`, `C-c`, `BSpace`, `Tab`.
  public void press(String... names) {
    List<String> words = new ArrayList<>(List.of("send-keys"));
    words.addAll(List.of(names));
    tmux(words.toArray(String[]::new));
  }

  /// Lines of the screen, without spaces at their ends.
  public List<String> lines() {
    return tmux("capture-pane", "-p").lines().map(String::stripTrailing).toList();
  }

  /// Waits for a screen.
  public List<String> await(String what, Predicate<List<String>> wanted) {
    List<List<String>> last = new ArrayList<>(List.of(List.of()));
    try {
      Await.until(
          what,
          LIMIT,
          () -> {
            last.set(0, lines());
            return wanted.test(last.getFirst());
          });
    } catch (AssertionError late) {
      throw new AssertionError(
          what + "; the screen is\n" + String.join("\n", last.getFirst()), late);
    }
    return last.getFirst();
  }

  @Override
  public void close() {
    tmux("kill-server");
  }
}
