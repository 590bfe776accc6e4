package dev.kakehashi.engine.store;

/// The view of a client's command that does not see some of its transaction's earlier changes: those of the same command, and of commands after it. Immutable.
public final class CommandView extends ReadView {
  private final int[] entries;
  private final int length;
  private final int command;

  /// @param entries of [OwnCommands]; those before `length` do not change
  CommandView(
      long snapshot, long transactionId, int statement, int[] entries, int length, int command) {
    super(snapshot, transactionId, statement);
    this.entries = entries;
    this.length = length;
    this.command = command;
  }

  /// Whether what a statement of the own transaction has changed is of the same command or a later one.
  boolean hides(int changingStatement) {
    int by = OwnCommands.of(changingStatement, entries, length);
    return by != 0 && Integer.compareUnsigned(by, command) >= 0;
  }

  /// Whether what a statement of the own transaction has changed is of a later command.
  boolean precedes(int changingStatement) {
    return Integer.compareUnsigned(OwnCommands.of(changingStatement, entries, length), command) > 0;
  }
}
