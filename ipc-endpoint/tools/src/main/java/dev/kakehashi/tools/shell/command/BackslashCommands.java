package dev.kakehashi.tools.shell.command;

import dev.kakehashi.tools.shell.CommandArguments;
import dev.kakehashi.tools.shell.Shell;
import dev.kakehashi.tools.shell.ShellCommands;
import dev.kakehashi.tools.shell.ShellException;
import dev.kakehashi.tools.shell.TransactionVariables;
import dev.kakehashi.tools.shell.Variables;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Dispatches backslash commands. Used by the shell's thread.
public final class BackslashCommands implements ShellCommands {
  private final Shell shell;
  private final SendCommands send;
  private final PrintCommands print;
  private final DescribeCommands describe;
  private final EngineCommands engine;

  public BackslashCommands(Shell shell) {
    this.shell = shell;
    this.send = new SendCommands(shell);
    this.print = new PrintCommands(shell);
    this.describe = new DescribeCommands(shell);
    this.engine = new EngineCommands(shell);
  }

  /// @throws ShellException for a command that does not exist, or cannot do what it is asked
  @Override
  public void run(String name, CommandArguments arguments) {
    if (send.run(name, arguments)
        || print.run(name, arguments)
        || engine.run(name, arguments)
        || describe.run(name, arguments)) {
      return;
    }
    switch (name) {
      case "q", "quit" -> shell.quit();
      case "?" -> shell.write(Help.COMMANDS);
      case "h", "help" -> shell.write(Help.statement(arguments.rest()));
      case "copyright" -> shell.write("Kakehashi\n");
      case "conninfo" -> connection();
      case "echo" -> echo(arguments, false);
      case "qecho" -> echo(arguments, true);
      case "warn" -> {
        shell.err.println(String.join(" ", arguments.all()));
        shell.err.flush();
      }
      case "set" -> set(arguments);
      case "unset" -> {
        String variable = require(name, arguments.next());
        if (TransactionVariables.isOne(variable)) {
          TransactionVariables.changed(shell, variable, null);
        } else {
          shell.variables.unset(variable);
        }
      }
      case "getenv" -> {
        String variable = require(name, arguments.next());
        String value = System.getenv(require(name, arguments.next()));
        if (value != null) {
          shell.variables.set(variable, value);
        }
      }
      case "prompt" -> {
        List<String> words = arguments.all();
        if (words.isEmpty()) {
          throw missing(name);
        }
        String text = words.size() > 1 ? words.getFirst() : "";
        String answer = shell.ask(text);
        shell.variables.set(words.getLast(), answer == null ? "" : answer);
      }
      case "i", "include" -> {
        String file = require(name, arguments.next());
        shell.include(Path.of(file), file);
      }
      case "ir", "include_relative" -> {
        String file = require(name, arguments.next());
        shell.include(Path.of(file), file);
      }
      case "cd" -> throw new ShellException("\\cd: a Java process cannot change its directory");
      case "!" -> Programs.run(arguments.rest());
      case "c", "connect" ->
          throw new ShellException(
              "\\connect: start another shell with --user to work as somebody else");
      default -> {
        String near = Help.nearest(name);
        throw new ShellException(
            "invalid command \\"
                + name
                + (near.isEmpty() ? "" : "\nDid you mean \\" + near + "?")
                + "\nTry \\? for help.");
      }
    }
  }

  static String require(String command, @Nullable String word) {
    if (word == null) {
      throw missing(command);
    }
    return word;
  }

  private static ShellException missing(String command) {
    return new ShellException("\\" + command + ": missing required argument");
  }

  private void connection() {
    shell.write(
        "You are connected to the endpoint at \"%s\" as user \"%s\".\n"
            .formatted(shell.link.place(), shell.variables.get("USER")));
  }

  private void echo(CommandArguments arguments, boolean toResult) {
    List<String> words = arguments.all();
    boolean newline = true;
    if (!words.isEmpty() && words.getFirst().equals("-n")) {
      newline = false;
      words = words.subList(1, words.size());
    }
    String text = String.join(" ", words) + (newline ? "\n" : "");
    if (toResult || shell.isStandard()) {
      shell.write(text);
    } else {
      Programs.write(shell.standard(), text);
    }
  }

  private void set(CommandArguments arguments) {
    String name = arguments.next();
    Variables variables = shell.variables;
    if (name == null) {
      StringBuilder text = new StringBuilder();
      for (Map.Entry<String, String> each : variables.all().entrySet()) {
        text.append(each.getKey()).append(" = '").append(each.getValue()).append("'\n");
      }
      shell.write(text.toString());
      return;
    }
    if (!Variables.isName(name)) {
      throw new ShellException("invalid variable name: \"" + name + "\"");
    }
    String value = String.join("", arguments.all());
    if (SWITCHES.contains(name)) {
      String word = value.isEmpty() ? "on" : value;
      if (!Variables.isTrue(word, false) && Variables.isTrue(word, true)) {
        throw new ShellException(
            "unrecognized value \"%s\" for \"%s\": Boolean expected\ninvalid value"
                .formatted(value, name));
      }
      value = word;
    }
    List<String> words = WORDS.getOrDefault(name, List.of());
    if (!words.isEmpty() && !words.contains(value)) {
      throw new ShellException(
          "unrecognized value \"%s\" for \"%s\"\nAvailable values are: %s."
              .formatted(value, name, String.join(", ", words)));
    }
    if (TransactionVariables.isOne(name)) {
      TransactionVariables.changed(shell, name, value);
      return;
    }
    variables.set(name, Objects.requireNonNull(value));
  }

  private static final List<String> SWITCHES = List.of("AUTOCOMMIT", "ON_ERROR_STOP", "QUIET");
  private static final Map<String, List<String>> WORDS =
      Map.of(
          "VERBOSITY", List.of("default", "verbose", "terse", "sqlstate"),
          "ECHO", List.of("none", "errors", "queries", "all"));
}
