package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.CommandView;
import java.util.Arrays;

/// Which command of the client the statements of a transaction have changed rows for.
///
/// A client such as PostgreSQL sends several requests for one of its commands, and those of other commands between them: of functions and
/// triggers, which the command has called. Its commands see the changes of commands with lesser numbers, whenever they were made. Rows are
/// stamped with the number of the statement; this says which command that belongs to. Written by the operation that has the transaction's
/// turn; views of earlier statements go on reading what was there.
final class OwnCommands {
  /// First statement and command of each run of statements, in the order of the statements.
  private int[] entries = new int[4];

  private int length;

  /// Unsigned, as all commands.
  private int greatest;

  /// Notes that changes from a statement on are of a command.
  ///
  /// @param command 0: none of the client's, which every later statement sees
  void note(int statement, int command) {
    if (length > 0 && entries[length - 1] == command) {
      return;
    }
    if (length == entries.length) {
      entries = Arrays.copyOf(entries, length * 2);
    }
    entries[length] = statement;
    entries[length + 1] = command;
    length += 2;
    if (Integer.compareUnsigned(command, greatest) > 0) {
      greatest = command;
    }
  }

  /// Whether a command must not see all changes that were made so far.
  boolean hidesFrom(int command) {
    return Integer.compareUnsigned(command, greatest) <= 0;
  }

  CommandView view(long snapshot, long transactionId, int statement, int command) {
    return new CommandView(snapshot, transactionId, statement, entries, length, command);
  }
}
