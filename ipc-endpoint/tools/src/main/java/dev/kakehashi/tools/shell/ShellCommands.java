package dev.kakehashi.tools.shell;

/// The commands of a shell that are no SQL.
@FunctionalInterface
public interface ShellCommands {
  /// Runs one.
  ///
  /// @param name without the backslash
  void run(String name, CommandArguments arguments);
}
