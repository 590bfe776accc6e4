package dev.kakehashi.tools.shell;

/// Shows how far a statement is.
@FunctionalInterface
public interface Progress {
  /// Shows nothing.
  Progress NONE = () -> () -> {};

  /// A statement begins to run.
  ///
  /// @return closed when it has ended
  Shown begin();

  /// What is shown while a statement runs.
  @FunctionalInterface
  interface Shown extends AutoCloseable {
    @Override
    void close();
  }
}
