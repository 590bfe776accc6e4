package dev.kakehashi.tools.shell;

/// A command of the shell cannot do what it is asked; the message says why.
public final class ShellException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public ShellException(String message) {
    super(message);
  }
}
