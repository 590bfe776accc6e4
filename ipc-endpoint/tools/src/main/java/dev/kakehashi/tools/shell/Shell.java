package dev.kakehashi.tools.shell;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.tools.shell.print.PrintOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A shell: takes lines, runs what they say. Used by one thread; [#interrupt] by any.
public final class Shell {
  /// A branch of `\if`.
  ///
  /// @param taken whether its lines count
  /// @param done whether a branch of it was taken already
  /// @param last whether `\else` has come
  private record Branch(boolean taken, boolean done, boolean last) {}

  public final Variables variables = new Variables();
  public final PrintOptions print = new PrintOptions();
  public final Link link;
  public final PrintStream err;
  public final SqlScanner scanner = new SqlScanner(variables);

  private final Deque<Branch> branches = new ArrayDeque<>();
  private final ShellCommands commands;
  private final Statements statements;
  private OutputStream out;
  private final OutputStream standard;
  private boolean ended;
  private boolean broken;
  private String place = "";
  private String last = "";
  private String ending = "";
  private @Nullable Prompt prompt;
  private volatile boolean interrupted;
  private Progress progress = Progress.NONE;
  private Runnable definitions = () -> {};

  /// @param commands makes those of the shell that it gets, which is not complete yet
  public Shell(
      Link link, OutputStream out, PrintStream err, Function<Shell, ShellCommands> commands) {
    this.link = link;
    this.out = out;
    this.standard = out;
    this.err = err;
    this.statements = new Statements(this);
    this.commands = commands.apply(this);
    variables.set("AUTOCOMMIT", "on");
    variables.set("PROMPT1", "%/%R%x%# ");
    variables.set("PROMPT2", "%/%R%x%# ");
    variables.set("VERBOSITY", "default");
    variables.set("ECHO", "none");
    variables.set("SQLSTATE", "00000");
    variables.set("ERROR", "false");
    variables.set("ROW_COUNT", "0");
  }

  // ---- what commands use ----

  /// Where results go.
  public OutputStream out() {
    return out;
  }

  /// Whether results go where the process has its output.
  @SuppressWarnings("ReferenceEquality") // a stream is itself
  public boolean isStandard() {
    return out == standard;
  }

  /// Whether a stream ends at the terminal that somebody sits at.
  @SuppressWarnings("ReferenceEquality") // a stream is itself
  boolean isTerminal(OutputStream stream) {
    return stream == standard && isInteractive();
  }

  /// Prints what may be longer than the screen.
  ///
  /// @param shown called when something is about to be seen
  void paged(Runnable shown, Printing printing) throws IOException {
    if (isTerminal(out) && print.pager && print.terminalLines > 1) {
      try (PagedOutput paged = new PagedOutput(out, shown, print.terminalLines)) {
        printing.to(paged);
      }
    } else {
      printing.to(out);
    }
  }

  /// Prints something.
  @FunctionalInterface
  public interface Printing {
    void to(OutputStream out) throws IOException;
  }

  /// Prints what may be longer than the screen.
  public void paged(Printing printing) throws IOException {
    paged(() -> {}, printing);
  }

  public OutputStream standard() {
    return standard;
  }

  /// Says where results go; the one before is closed.
  public void out(OutputStream next) {
    try {
      if (isStandard()) {
        out.flush();
      } else {
        out.close();
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    out = next;
  }

  /// Sets the display of the progress of statements.
  public void progress(Progress shown) {
    progress = shown;
  }

  Progress progress() {
    return progress;
  }

  /// Sets the listener that is told when a statement has made or changed a table or another object.
  void definitions(Runnable changed) {
    definitions = changed;
  }

  void definitionsChanged() {
    definitions.run();
  }

  public Statements statements() {
    return statements;
  }

  /// Ends the shell after the line.
  public void quit() {
    ended = true;
  }

  public boolean isInteractive() {
    Prompt from = prompt;
    return from != null && from.isInteractive();
  }

  /// Asks for a line of its own.
  public @Nullable String ask(String text) {
    Prompt from = prompt;
    return from == null ? null : from.line(text);
  }

  /// The statement that was run last.
  public String last() {
    return last;
  }

  void last(String sql) {
    last = sql;
  }

  /// End of the statement that runs: a semicolon, or nothing.
  String ending() {
    return ending;
  }

  public void write(String text) {
    try {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /// Says what is not part of results, unless the shell is to be quiet.
  public void say(String text) {
    if (!variables.isOn("QUIET")) {
      write(text + "\n");
    }
  }

  /// Says why something was not done.
  public void complain(String text) {
    flush();
    err.print(place + text);
    err.flush();
    broken = true;
  }

  public void flush() {
    try {
      out.flush();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /// Ctrl-C: cancels what runs.
  public void interrupt() {
    interrupted = true;
    link.cancel();
  }

  /// Whether somebody has pressed Ctrl-C since [#calm].
  public boolean isInterrupted() {
    return interrupted;
  }

  public void calm() {
    interrupted = false;
  }

  // ---- lines ----

  /// Reads all lines of a prompt.
  ///
  /// @param name of a file, for messages; empty: none
  /// @return 0, or 3 if a statement has failed and ON_ERROR_STOP is set, or 2 if the endpoint has gone
  public int run(Prompt from, String name) {
    Prompt before = prompt;
    String placeBefore = place;
    int depth = branches.size();
    prompt = from;
    try {
      while (!ended) {
        String line;
        try {
          line =
              from.line(
                  PromptText.of(
                      this,
                      variables.get(
                          scanner.state() == SqlScanner.State.EMPTY ? "PROMPT1" : "PROMPT2")));
        } catch (Prompt.InterruptedLine given) {
          scanner.reset();
          branches.clear();
          continue;
        }
        if (line == null) {
          break;
        }
        place = name.isEmpty() ? "" : "kakehashi:" + name + ":" + from.number() + ": ";
        broken = false;
        take(line);
        if (broken && !link.isAlive()) {
          if (!from.isInteractive()) {
            return 2;
          }
          // As psql does.
          err.print("The connection to the endpoint was lost. Attempting reset: ");
          err.flush();
          err.println(link.reconnect() ? "Succeeded." : "Failed.");
        }
        if (broken && variables.isOn("ON_ERROR_STOP") && !from.isInteractive()) {
          return 3;
        }
      }
      if (!ended && !from.isInteractive() && before == null && !scanner.buffer().isBlank()) {
        // psql sends a last statement without a semicolon, too.
        String sql = scanner.buffer();
        scanner.reset();
        broken = false;
        statement(sql);
        if (broken && variables.isOn("ON_ERROR_STOP")) {
          return 3;
        }
      }
      if (branches.size() > depth) {
        complain("reached EOF without finding closing \\endif(s)\n");
        while (branches.size() > depth) {
          branches.pop();
        }
      }
      return 0;
    } finally {
      prompt = before;
      place = placeBefore;
    }
  }

  /// Runs one text, as `-c` does: a backslash command, or statements.
  ///
  /// @return 0, or 1 if something failed
  public int runText(String text) {
    broken = false;
    for (String line : text.lines().toList()) {
      take(line);
    }
    if (!scanner.buffer().isBlank() && !ended) {
      String sql = scanner.buffer();
      scanner.reset();
      statement(sql);
    }
    return broken ? 1 : 0;
  }

  private boolean isPassive() {
    return !branches.isEmpty() && !branches.peek().taken();
  }

  private void take(String line) {
    String echo = String.valueOf(variables.get("ECHO"));
    if (echo.equals("all") && !isInteractive()) {
      write(line + "\n");
    }
    try {
      scanner.line(
          line,
          isPassive(),
          new SqlScanner.Sink() {
            @Override
            public void statement(String sql) {
              if (!isPassive()) {
                ending = ";";
                Shell.this.statement(sql);
                ending = "";
              }
            }

            @Override
            public void command(String name, CommandArguments arguments) {
              Shell.this.command(name, arguments);
            }
          });
    } catch (ShellException refused) {
      complain(refused.getMessage() + "\n");
    }
  }

  private void statement(String sql) {
    if (String.valueOf(variables.get("ECHO")).equals("queries")) {
      write(sql + "\n");
    }
    statements.run(sql, print);
  }

  private void command(String name, CommandArguments arguments) {
    try {
      if (!condition(name, arguments)) {
        if (isPassive()) {
          arguments.rest();
        } else {
          commands.run(name, arguments);
        }
      }
    } catch (ShellException refused) {
      complain(refused.getMessage() + "\n");
      arguments.rest();
    } catch (UncheckedIOException failed) {
      complain(failed.getMessage() + "\n");
    } catch (EndpointException failed) {
      complain(Errors.text(failed, "", String.valueOf(variables.get("VERBOSITY"))));
    }
  }

  private boolean condition(String name, CommandArguments arguments) {
    switch (name) {
      case "if" -> {
        boolean outer = !isPassive();
        String word = arguments.next();
        boolean taken = outer && truth(word);
        branches.push(new Branch(taken, taken || !outer, false));
      }
      case "elif" -> {
        Branch branch = branch("\\elif");
        String word = arguments.next();
        boolean taken = !branch.done() && truth(word);
        branches.push(new Branch(taken, branch.done() || taken, false));
      }
      case "else" -> {
        Branch branch = branch("\\else");
        branches.push(new Branch(!branch.done(), true, true));
      }
      case "endif" -> {
        if (branches.isEmpty()) {
          throw new ShellException("\\endif: no matching \\if");
        }
        branches.pop();
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private Branch branch(String command) {
    Branch branch = branches.poll();
    if (branch == null) {
      throw new ShellException(command + ": no matching \\if");
    }
    if (branch.last()) {
      branches.push(branch);
      throw new ShellException(command + ": cannot occur after \\else");
    }
    return branch;
  }

  private boolean truth(@Nullable String word) {
    if (word == null) {
      return false;
    }
    boolean yes = Variables.isTrue(word, false);
    if (!yes && Variables.isTrue(word, true)) {
      complain("unrecognized value \"" + word + "\" for \"\\if expression\": Boolean expected\n");
    }
    return yes;
  }

  /// Takes a text that was edited, as if it were typed.
  public void edited(String text) {
    text.lines().forEach(this::take);
  }

  /// Runs the lines of a file.
  public void include(Path file, String name) {
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      run(new FilePrompt(reader), name);
    } catch (IOException failed) {
      throw new ShellException(
          name + ": " + (Files.exists(file) ? failed.getMessage() : "No such file or directory"));
    }
  }
}
