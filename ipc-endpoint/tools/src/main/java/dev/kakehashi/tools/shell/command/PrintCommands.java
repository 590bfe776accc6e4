package dev.kakehashi.tools.shell.command;

import dev.kakehashi.tools.shell.CommandArguments;
import dev.kakehashi.tools.shell.Shell;
import dev.kakehashi.tools.shell.ShellException;
import dev.kakehashi.tools.shell.Variables;
import dev.kakehashi.tools.shell.print.PrintFormat;
import dev.kakehashi.tools.shell.print.PrintOptions;
import dev.kakehashi.tools.shell.print.PrintOptions.Expanded;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Commands about how and where results are printed. Used by the shell's thread.
final class PrintCommands {
  private final Shell shell;

  PrintCommands(Shell shell) {
    this.shell = shell;
  }

  /// @return false: it is another command
  boolean run(String name, CommandArguments arguments) {
    PrintOptions print = shell.print;
    switch (name) {
      case "a" -> {
        print.format =
            print.format == PrintFormat.ALIGNED ? PrintFormat.UNALIGNED : PrintFormat.ALIGNED;
        sayFormat(print, shell::say);
      }
      case "t" -> tuplesOnly(print, shell::say, arguments.next());
      case "x" -> expanded(print, shell::say, arguments.next());
      case "f" -> set(print, shell::say, "fieldsep", arguments.next());
      case "C" -> set(print, shell::say, "title", arguments.next());
      case "H", "html" -> throw new ShellException("\\H: results have no form of HTML here");
      case "pset" -> {
        String what = arguments.next();
        if (what == null) {
          throw new ShellException("\\pset: missing required argument");
        }
        set(print, shell::say, what, arguments.next());
      }
      case "o", "out" -> {
        String target = arguments.rest();
        shell.out(target.isEmpty() ? shell.standard() : Programs.open(target));
      }
      case "timing" -> {
        String word = arguments.next();
        boolean on = word == null ? !shell.statements().timing() : flag("\\timing", word, false);
        shell.statements().timing(on);
        shell.say("Timing is " + (on ? "on." : "off."));
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  static boolean flag(String command, String word, boolean otherwise) {
    boolean yes = Variables.isTrue(word, otherwise);
    if (yes != Variables.isTrue(word, !otherwise)) {
      throw new ShellException(
          "unrecognized value \"%s\" for \"%s\": Boolean expected".formatted(word, command));
    }
    return yes;
  }

  private static void sayFormat(PrintOptions print, Consumer<String> say) {
    say.accept("Output format is " + print.format.name().toLowerCase(Locale.ROOT) + ".");
  }

  private static void tuplesOnly(PrintOptions print, Consumer<String> say, @Nullable String word) {
    print.tuplesOnly = word == null ? !print.tuplesOnly : flag("\\t", word, false);
    say.accept("Tuples only is " + (print.tuplesOnly ? "on." : "off."));
  }

  private static void expanded(PrintOptions print, Consumer<String> say, @Nullable String word) {
    if (word != null && word.equals("auto")) {
      print.expanded = Expanded.AUTO;
      say.accept("Expanded display is used automatically.");
      return;
    }
    boolean on = word == null ? print.expanded == Expanded.OFF : flag("\\x", word, false);
    print.expanded = on ? Expanded.ON : Expanded.OFF;
    say.accept("Expanded display is " + (on ? "on." : "off."));
  }

  /// Sets one option, as `\pset` does.
  ///
  /// @param say told how it is now
  static void set(PrintOptions print, Consumer<String> say, String name, @Nullable String value) {
    switch (name) {
      case "format" -> {
        if (value != null) {
          print.format = format(value);
        }
        sayFormat(print, say);
      }
      case "border" -> {
        if (value != null) {
          print.border = number(name, value, 0, 2);
        }
        say.accept("Border style is " + print.border + ".");
      }
      case "x", "expanded", "vertical" -> expanded(print, say, value);
      case "t", "tuples_only" -> tuplesOnly(print, say, value);
      case "null" -> {
        if (value != null) {
          print.nullText = value;
        }
        say.accept("Null display is \"" + print.nullText + "\".");
      }
      case "fieldsep" -> {
        if (value != null) {
          print.fieldSeparator = value;
        }
        say.accept("Field separator is \"" + print.fieldSeparator + "\".");
      }
      case "recordsep" -> {
        if (value != null) {
          print.recordSeparator = value;
        }
        say.accept(
            print.recordSeparator.equals("\n")
                ? "Record separator is <newline>."
                : "Record separator is \"" + print.recordSeparator + "\".");
      }
      case "csv_fieldsep" -> {
        if (value != null) {
          if (value.length() != 1 || "\"\n\r".contains(value)) {
            throw new ShellException("\\pset: csv_fieldsep must be a single one-byte character");
          }
          print.csvSeparator = value;
        }
        say.accept("Field separator for CSV is \"" + print.csvSeparator + "\".");
      }
      case "footer" -> {
        print.footer = value == null ? !print.footer : flag("footer", value, false);
        say.accept("Default footer is " + (print.footer ? "on." : "off."));
      }
      case "pager" -> {
        print.pager = value == null ? !print.pager : flag("pager", value, false);
        say.accept(print.pager ? "Pager is used for long output." : "Pager usage is off.");
      }
      case "title", "C" -> {
        print.title = value == null ? "" : value;
        say.accept(value == null ? "Title is unset." : "Title is \"" + value + "\".");
      }
      default ->
          throw new ShellException(
              "\\pset: unknown option: %s\nOptions are: border, csv_fieldsep, expanded, fieldsep, footer, format, null, pager, recordsep, title, tuples_only"
                  .formatted(name));
    }
  }

  private static PrintFormat format(String word) {
    for (PrintFormat format : PrintFormat.values()) {
      if (!word.isEmpty() && format.name().toLowerCase(Locale.ROOT).startsWith(word)) {
        return format;
      }
    }
    throw new ShellException("\\pset: allowed formats are aligned, csv, json, unaligned");
  }

  private static int number(String name, String value, int least, int most) {
    try {
      int number = Integer.parseInt(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException none) {
      // said below
    }
    throw new ShellException("\\pset: %s must be between %d and %d".formatted(name, least, most));
  }
}
