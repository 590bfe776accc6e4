package dev.kakehashi.tools.shell;

/// Input of a user: lines of a terminal, of a file, or of a pipe.
public interface Prompt {
  /// The next line; null: no more.
  ///
  /// @param prompt shown where somebody reads it
  /// @throws InterruptedLine Ctrl-C at the prompt
  @org.jspecify.annotations.Nullable
  String line(String prompt);

  /// Whether somebody sits in front of it.
  boolean isInteractive();

  /// Number of the last line, from 1.
  int number();

  /// The line was given up.
  final class InterruptedLine extends RuntimeException {
    private static final long serialVersionUID = 1;
  }
}
