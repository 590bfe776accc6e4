package dev.kakehashi.engine.api;

/// How to run one statement.
///
/// @param newSnapshot take a new snapshot first (READ COMMITTED)
/// @param timeoutNanos the statement is cancelled with QUERY_CANCELED after this time; 0: never
public record ExecuteOptions(boolean newSnapshot, long timeoutNanos) {
  /// The transaction's snapshot, no time-out.
  public static final ExecuteOptions DEFAULT = new ExecuteOptions(false, 0);
}
