package dev.kakehashi.tools.shell;

/// Shows how far a statement is.
@FunctionalInterface
public interface Progress {
  /// Shows nothing.
  Progress NONE = () -> () -> {};

  /// A statement begins to run.
  ///
  /// @return called when it has ended
  Runnable begin();
}
