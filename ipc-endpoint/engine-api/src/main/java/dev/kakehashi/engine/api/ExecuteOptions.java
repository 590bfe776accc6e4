package dev.kakehashi.engine.api;

/// How to run one statement.
///
/// @param newSnapshot take a new snapshot first (READ COMMITTED; the other levels keep their first one). Without it a statement sees what
///     the one before has seen, if the engine has [dev.kakehashi.protocol.capability.Capability#COMMANDS] and the client numbers its
///     commands, or the one before is still open; otherwise it may take a new one
/// @param timeoutNanos the statement is canceled with QUERY_CANCELED after this time; 0: never
/// @param command number (unsigned) of the client's command that the statement is part of: of its transaction's changes it sees those of
///     lesser commands and those without, whichever order the statements come in, and statements of the command and of lesser ones do not
///     see its own; 0: it is a command of its own, and sees all that was changed before
/// @param lockTimeoutNanos longest wait for one lock, of a table or of a row that another transaction has changed: LOCK_NOT_AVAILABLE after
///     it; 0: the engine's setting
public record ExecuteOptions(
    boolean newSnapshot, long timeoutNanos, int command, long lockTimeoutNanos) {
  /// The transaction's snapshot, no time-out.
  public static final ExecuteOptions DEFAULT = new ExecuteOptions(false, 0, 0, 0);

  private static final int KEPT = 32;

  private static final ExecuteOptions[] OLD_SNAPSHOT = kept(false);
  private static final ExecuteOptions[] NEW_SNAPSHOT = kept(true);

  private static ExecuteOptions[] kept(boolean newSnapshot) {
    ExecuteOptions[] kept = new ExecuteOptions[KEPT];
    for (int command = 0; command < KEPT; command++) {
      kept[command] = new ExecuteOptions(newSnapshot, 0, command, 0);
    }
    return kept;
  }

  /// Like the constructor, but options of the first commands without time-outs are not made anew for each statement.
  public static ExecuteOptions of(
      boolean newSnapshot, long timeoutNanos, int command, long lockTimeoutNanos) {
    if (timeoutNanos != 0 || lockTimeoutNanos != 0 || command < 0 || command >= KEPT) {
      return new ExecuteOptions(newSnapshot, timeoutNanos, command, lockTimeoutNanos);
    }
    return (newSnapshot ? NEW_SNAPSHOT : OLD_SNAPSHOT)[command];
  }
}
