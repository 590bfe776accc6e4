package dev.kakehashi.tools.shell;

/// What is shown while a statement runs: nothing in a file, progress of long ones on a terminal.
final class RunningStatement implements AutoCloseable {
  private final Runnable stop;

  private RunningStatement(Runnable stop) {
    this.stop = stop;
  }

  static RunningStatement show(Shell shell) {
    return new RunningStatement(shell.progress().begin());
  }

  @Override
  public void close() {
    stop.run();
  }
}
