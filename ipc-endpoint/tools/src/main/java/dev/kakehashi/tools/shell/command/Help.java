package dev.kakehashi.tools.shell.command;

import java.util.List;
import java.util.Locale;

/// Help texts of the shell.
final class Help {
  static final String COMMANDS =
      """
      General
        \\q                     quit
        \\?                     this text
        \\h [NAME]              statements of SQL, or the clauses of one
        \\g [(OPTIONS)] [FILE|"|PROGRAM"]
                               run the statement; results to a file or a program, OPTIONS as of \\pset
        \\gx                    the same, rows one value below the other
        \\gdesc                 columns of the statement's result, without running it
        \\gexec                 run each value of the result as a statement
        \\gset [PREFIX]         values of the one row of the result as variables
        \\watch [SECONDS]       run the statement again and again

      Statement
        \\e [FILE]              edit the statement, or a file
        \\p, \\r, \\w FILE        print it, forget it, write it to a file

      Input and output
        \\copy TABLE FROM|TO FILE [WITH (OPTIONS)]   a file of this machine
        \\echo, \\qecho, \\warn TEXT
        \\i FILE                run a file
        \\o [FILE|"|PROGRAM"]   where results go

      Conditions
        \\if EXPRESSION, \\elif EXPRESSION, \\else, \\endif

      What there is (a pattern may have * and ?)
        \\d [NAME]              relations, or columns, indexes, constraints of one
        \\dt \\dv \\ds \\di \\dn     tables, views, sequences, indexes, schemas
        \\df \\du \\dp \\dd \\l     functions, roles, privileges, comments, databases
        \\sv NAME               definition of a view
        \\jobs \\locks \\sessions \\transactions     what runs now
        \\terminate NUMBER      ends a transaction of anybody, as \\transactions numbers them
        \\queue [NAME]          queues and their tasks
        \\app [NAME]            applications

      How results look
        \\a \\t \\x [on|off|auto]  aligned or not, rows alone, one value below the other
        \\f STRING, \\C TITLE, \\pset NAME [VALUE]
        \\timing [on|off]       time of each statement

      Variables and the system
        \\set [NAME [VALUE]], \\unset NAME, \\prompt [TEXT] NAME, \\getenv NAME VARIABLE
        \\! [COMMAND]           a command of the system
        \\conninfo              whom this shell is connected to
      """;

  private static final List<String> NAMES =
      List.of(
          "quit",
          "g",
          "gx",
          "gdesc",
          "gexec",
          "gset",
          "watch",
          "edit",
          "print",
          "reset",
          "write",
          "copy",
          "echo",
          "qecho",
          "warn",
          "include",
          "out",
          "if",
          "elif",
          "else",
          "endif",
          "d",
          "dt",
          "dv",
          "ds",
          "di",
          "dn",
          "df",
          "du",
          "dp",
          "dd",
          "sv",
          "jobs",
          "locks",
          "sessions",
          "transactions",
          "terminate",
          "queue",
          "app",
          "pset",
          "timing",
          "set",
          "unset",
          "prompt",
          "getenv",
          "conninfo",
          "help");

  private Help() {}

  static String nearest(String name) {
    return java.util.Objects.requireNonNullElse(
        dev.kakehashi.protocol.NearestWord.of(name, NAMES), "");
  }

  /// @param words of a statement; empty: which there are
  static String statement(String words) {
    String wanted = words.strip().toUpperCase(Locale.ROOT).replace(";", "");
    if (wanted.isEmpty()) {
      return "Available help:\n  " + String.join(", ", StatementHelp.SYNTAX.keySet()) + "\n";
    }
    StringBuilder text = new StringBuilder();
    StatementHelp.SYNTAX.forEach((name, syntax) -> {
      if (name.startsWith(wanted)) {
        text.append("Command:     ")
            .append(name)
            .append("\nSyntax:\n")
            .append(syntax)
            .append("\n\n");
      }
    });
    return text.isEmpty()
        ? "No help available for \""
            + words
            + "\".\nTry \\h with no arguments to see available help.\n"
        : text.toString();
  }
}
