package dev.kakehashi.tools.shell;

/// Shows how far a statement is.
@FunctionalInterface
public interface Progress {
  /// Shows nothing.
  Progress NONE = _ -> () -> {};

  /// A statement begins to run.
  ///
  /// @return closed when it has ended
  Shown begin(String sql);

  /// Display while a statement runs.
  @FunctionalInterface
  interface Shown extends AutoCloseable {
    /// So many more rows have come.
    default void rows(int count) {}

    /// Rows go to the terminal from now on, so that there is no place for anything else. Used by the thread that runs the statement.
    default void hide() {}

    @Override
    void close();
  }
}
