package dev.kakehashi.tools.shell.command;

import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.CopyCommand;
import dev.kakehashi.tools.shell.Shell;
import dev.kakehashi.tools.shell.ShellException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// `\copy`: a file of this machine into a table, or a table or query into a file. Used by the shell's thread.
final class CopyRun {
  private static final Pattern FORM =
      Pattern.compile(
          "(?is)(?<what>\\(.*\\)|[^\\s(]+)\\s*(?:\\((?<columns>[^)]*)\\))?\\s+(?<way>from|to)\\s+(?<file>'(?:[^']|'')*'|\\S+)"
              + "(?:\\s+with)?(?:\\s+\\((?<options>.*)\\))?\\s*");

  private final Shell shell;

  CopyRun(Shell shell) {
    this.shell = shell;
  }

  void run(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new ShellException(
          "\\copy: parse error\nIt is: \\copy table [(column, ...)] FROM|TO file [WITH (option value, ...)]");
    }
    String what = form.group("what");
    String file = form.group("file");
    if (file.startsWith("'")) {
      file = file.substring(1, file.length() - 1).replace("''", "'");
    }
    boolean load = form.group("way").toLowerCase(Locale.ROOT).equals("from");
    CopyCommand command;
    if (what.startsWith("(")) {
      if (load) {
        throw new ShellException("\\copy: a query cannot be loaded into");
      }
      command = CopyCommand.ofQuery(what.substring(1, what.length() - 1));
    } else {
      command = load ? CopyCommand.into(what) : CopyCommand.of(what);
    }
    String columns = form.group("columns");
    if (columns != null) {
      command = command.columns(columns.split("\\s*,\\s*"));
    }
    String options = form.group("options");
    if (options != null && !options.isBlank()) {
      command = command.option(options.strip());
    }
    Bulk bulk = shell.link.bulk();
    try {
      long rows =
          load
              ? bulk.load(command, Path.of(file)).loaded()
              : bulk.dump(command, Path.of(file), true);
      shell.say("COPY " + rows);
    } catch (IOException failed) {
      throw new ShellException(file + ": " + failed.getMessage());
    }
  }
}
