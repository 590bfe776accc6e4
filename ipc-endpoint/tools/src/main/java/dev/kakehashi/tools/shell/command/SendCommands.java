package dev.kakehashi.tools.shell.command;

import dev.kakehashi.client.ResultColumn;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.tools.shell.CommandArguments;
import dev.kakehashi.tools.shell.Shell;
import dev.kakehashi.tools.shell.ShellException;
import dev.kakehashi.tools.shell.SqlScanner;
import dev.kakehashi.tools.shell.print.Cells;
import dev.kakehashi.tools.shell.print.PrintOptions;
import dev.kakehashi.tools.shell.print.ResultPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Commands about the statement that was begun: `\g` and its kin, `\watch`, `\e`, `\p`, `\r`, `\w`. Used by the shell's thread.
final class SendCommands {
  private final Shell shell;

  SendCommands(Shell shell) {
    this.shell = shell;
  }

  /// @return false: it is another command
  boolean run(String name, CommandArguments arguments) {
    switch (name) {
      case "g" -> {
        PrintOptions options = options(shell.print, name, arguments);
        send(arguments.rest(), options);
      }
      case "gx" -> {
        PrintOptions options = options(shell.print, name, arguments).copy();
        options.expanded = PrintOptions.Expanded.ON;
        send(arguments.rest(), options);
      }
      case "gdesc" -> describe();
      case "gexec" -> execute();
      case "gset" -> set(arguments.next());
      case "watch" -> watch(arguments.next());
      case "p", "print" -> {
        String text = shell.scanner.buffer();
        if (SqlScanner.isBlank(text)) {
          text = shell.last();
        }
        shell.write(
            text.isEmpty() ? "Query buffer is empty.\n" : text + (text.endsWith("\n") ? "" : "\n"));
      }
      case "r", "reset" -> {
        shell.scanner.reset();
        shell.say("Query buffer reset (cleared).");
      }
      case "w", "write" -> {
        String file = BackslashCommands.require(name, arguments.next());
        OutputStream out = Programs.open(file);
        try (out) {
          Programs.write(out, shell.scanner.buffer() + "\n");
        } catch (IOException failed) {
          throw new UncheckedIOException(failed);
        }
      }
      case "e", "edit" -> edit(arguments.next());
      default -> {
        return false;
      }
    }
    return true;
  }

  /// How one result is printed: as `\pset` says, but for what stands in parentheses, as `(format=csv footer=off)`. Its target is the next
  /// argument then.
  ///
  /// @throws ShellException there is no such option, or no right parenthesis
  static PrintOptions options(PrintOptions usual, String command, CommandArguments arguments) {
    if (!arguments.startsWith('(')) {
      return usual;
    }
    PrintOptions options = usual.copy();
    boolean isFirst = true;
    for (String word = arguments.next(); word != null; word = arguments.next()) {
      String pair = isFirst ? word.substring(1) : word;
      isFirst = false;
      boolean isLast = pair.endsWith(")");
      if (isLast) {
        pair = pair.substring(0, pair.length() - 1);
      }
      if (!pair.isEmpty()) {
        int equals = pair.indexOf('=');
        PrintCommands.set(
            options,
            said -> {},
            equals < 0 ? pair : pair.substring(0, equals),
            equals < 0 ? null : pair.substring(equals + 1));
      }
      if (isLast) {
        return options;
      }
    }
    throw new ShellException("error: \\" + command + ": missing right parenthesis");
  }

  /// The statement that was begun, or the last one.
  private String take() {
    String sql = shell.scanner.buffer();
    shell.scanner.reset();
    return SqlScanner.isBlank(sql) ? shell.last() : sql.stripTrailing();
  }

  private void send(String target, PrintOptions options) {
    String sql = take();
    if (sql.isEmpty()) {
      return;
    }
    if (target.isEmpty()) {
      shell.statements().run(sql, options);
      return;
    }
    try (OutputStream out = Programs.open(target)) {
      shell.statements().run(sql, options, out);
    } catch (IOException failed) {
      throw new ShellException(target + ": " + failed.getMessage());
    }
  }

  private void describe() {
    String sql = take();
    List<ResultColumn> columns = shell.statements().describe(sql);
    if (columns == null) {
      return;
    }
    if (columns.isEmpty()) {
      shell.write("The command has no result, or the result has no columns.\n");
      return;
    }
    Cells cells = Cells.ofTexts("Column", "Type");
    for (ResultColumn column : columns) {
      cells
          .rows()
          .add(new String[] {column.name(), TypeName.of(column.typeOid(), column.typeModifier())});
    }
    print(cells);
  }

  private void print(Cells cells) {
    try {
      shell.paged(out -> new ResultPrinter(shell.print, out).print(cells, null));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /// Each value of the result is a statement.
  private void execute() {
    Cells cells = shell.statements().query(take());
    if (cells == null) {
      return;
    }
    for (@Nullable String[] row : cells.rows()) {
      for (@Nullable String value : row) {
        if (value != null && !shell.isInterrupted()) {
          boolean well = shell.statements().run(value, shell.print);
          if (!well && shell.variables.isOn("ON_ERROR_STOP")) {
            return;
          }
        }
      }
    }
  }

  private void set(@Nullable String prefix) {
    Cells cells = shell.statements().query(take());
    if (cells == null) {
      return;
    }
    if (cells.rows().size() != 1) {
      throw new ShellException(
          cells.rows().isEmpty()
              ? "no rows returned for \\gset"
              : "more than one row returned for \\gset");
    }
    @Nullable String[] row = cells.rows().getFirst();
    for (int i = 0; i < row.length; i++) {
      String variable = (prefix == null ? "" : prefix) + cells.names().get(i);
      String value = row[i];
      if (value == null) {
        shell.variables.unset(variable);
      } else {
        shell.variables.set(variable, value);
      }
    }
  }

  private void watch(@Nullable String interval) {
    String sql = take();
    if (sql.isEmpty()) {
      throw new ShellException("\\watch cannot be used with an empty query");
    }
    double seconds;
    try {
      seconds =
          interval == null
              ? 2
              : Double.parseDouble(interval.replace("interval=", "").replace("i=", ""));
    } catch (NumberFormatException none) {
      seconds = -1;
    }
    if (!(seconds >= 0 && seconds <= 86_400)) {
      throw new ShellException("\\watch: incorrect interval value \"" + interval + "\"");
    }
    String pause =
        seconds == Math.rint(seconds) ? Long.toString((long) seconds) : Double.toString(seconds);
    PrintOptions options = shell.print.copy();
    shell.calm();
    while (!shell.isInterrupted()) {
      String now =
          ZonedDateTime.now(ZoneId.systemDefault())
              .format(DateTimeFormatter.ofPattern("EEE MMM d HH:mm:ss yyyy", Locale.ROOT));
      options.title = now + " (every " + pause + "s)\n";
      if (!shell.statements().run(sql, options, shell.out())) {
        return;
      }
      try {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        while (!shell.isInterrupted() && System.nanoTime() < end) {
          TimeUnit.MILLISECONDS.sleep(Math.min(50, 1 + (end - System.nanoTime()) / 1_000_000));
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private void edit(@Nullable String file) {
    try {
      Path path = file == null ? Files.createTempFile("kakehashi", ".sql") : Path.of(file);
      try {
        if (file == null) {
          String text = shell.scanner.buffer();
          Files.writeString(path, (SqlScanner.isBlank(text) ? shell.last() : text) + "\n");
        }
        Map<String, String> environment = System.getenv();
        String editor =
            environment.getOrDefault(
                "PSQL_EDITOR",
                environment.getOrDefault("VISUAL", environment.getOrDefault("EDITOR", "vi")));
        int exit =
            Programs.wait(
                new ProcessBuilder("/bin/sh", "-c", "exec " + editor + " '" + path + "'")
                    .inheritIO(),
                editor);
        if (exit == 0) {
          shell.scanner.reset();
          String text = Files.readString(path);
          shell.edited(text);
        }
      } finally {
        if (file == null) {
          Files.deleteIfExists(path);
        }
      }
    } catch (IOException failed) {
      throw new ShellException("\\e: " + failed.getMessage());
    }
  }
}
