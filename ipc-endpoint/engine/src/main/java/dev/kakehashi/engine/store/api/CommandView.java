package dev.kakehashi.engine.store.api;

/// The view of a client's command that does not see some of its transaction's earlier changes: those of the same command, and of commands
/// after it. Immutable.
public final class CommandView extends ReadView {
  private final int[] entries;
  private final int length;
  private final int command;

  /// @param entries first statement and command of each run of statements, in the order of the statements; those before `length` do not
  ///     change
  public CommandView(
      long snapshot, long transactionId, int statement, int[] entries, int length, int command) {
    super(snapshot, transactionId, statement);
    this.entries = entries;
    this.length = length;
    this.command = command;
  }

  /// Whether what a statement of the own transaction has changed is of the same command or a later one.
  public boolean hides(int changingStatement) {
    int by = commandOf(changingStatement, entries, length);
    return by != 0 && Integer.compareUnsigned(by, command) >= 0;
  }

  /// Whether what a statement of the own transaction has changed is of a later command.
  public boolean precedes(int changingStatement) {
    return Integer.compareUnsigned(commandOf(changingStatement, entries, length), command) > 0;
  }

  /// The command of a statement; 0: none of the client's.
  private static int commandOf(int statement, int[] entries, int length) {
    int low = 0;
    int high = length / 2;
    // The last run that begins at the statement or before.
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (entries[2 * middle] <= statement) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == 0 ? 0 : entries[2 * low - 1];
  }
}
