package dev.kakehashi.tools.shell;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Shows a result that is longer than the screen in a pager: `$KAKEHASHI_PAGER`, `$PSQL_PAGER`, `$PAGER`, else less or more; an empty one
/// shows it at once. A shorter result goes to the terminal when it is closed. A user who leaves the pager early wants no more: the rest is
/// thrown away. Used by one thread.
final class PagedOutput extends OutputStream {
  private static final String USUAL = "command -v less >/dev/null && exec less || exec more";

  private final OutputStream terminal;
  private final Runnable shown;
  private final int lines;
  private final String program;
  private final ByteArrayOutputStream first = new ByteArrayOutputStream();
  private int seen;
  private @Nullable Process pager;
  private @Nullable OutputStream to;
  private boolean left;

  /// @param terminal not closed by this
  /// @param shown called when something is about to be seen
  /// @param lines of the screen, of which one is for the prompt
  PagedOutput(OutputStream terminal, Runnable shown, int lines) {
    this.terminal = terminal;
    this.shown = shown;
    this.lines = lines;
    this.program = program(System.getenv());
  }

  static String program(Map<String, String> environment) {
    for (String name : new String[] {"KAKEHASHI_PAGER", "PSQL_PAGER", "PAGER"}) {
      String value = environment.get(name);
      if (value != null) {
        return value.strip();
      }
    }
    return USUAL;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    if (to == null) {
      first.write(bytes, from, count);
      for (int i = from; i < from + count; i++) {
        if (bytes[i] == '\n') {
          seen++;
        }
      }
      if (program.isEmpty() || seen >= lines) {
        begin();
      }
    } else {
      send(to, bytes, from, count);
    }
  }

  private void begin() throws IOException {
    shown.run();
    OutputStream target = terminal;
    if (!program.isEmpty()) {
      terminal.flush();
      Process started =
          new ProcessBuilder("/bin/sh", "-c", program)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      pager = started;
      target = started.getOutputStream();
    }
    to = target;
    send(target, first.toByteArray(), 0, first.size());
    first.reset();
  }

  private void send(OutputStream target, byte[] bytes, int from, int count) throws IOException {
    if (left) {
      return;
    }
    try {
      target.write(bytes, from, count);
    } catch (IOException failed) {
      if (pager == null) {
        throw failed;
      }
      left = true;
    }
  }

  /// Waits for the end of the pager.
  @Override
  public void close() throws IOException {
    if (to == null && first.size() > 0) {
      shown.run();
      first.writeTo(terminal);
    }
    Process shownBy = pager;
    if (shownBy == null) {
      terminal.flush();
      return;
    }
    try {
      shownBy.getOutputStream().close();
    } catch (IOException failed) {
      left = true; // it has gone before it has read all
    }
    try {
      shownBy.waitFor();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      shownBy.destroy();
    }
  }
}
