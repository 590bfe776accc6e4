package dev.kakehashi.application;

/// Whose transaction a call runs in.
public enum TransactionMode {
  /// That of the caller; one of its own if the caller has none.
  REQUIRED,
  /// None: the call may use the engine by [Call#inTransaction] alone.
  NONE,
  /// One that the platform begins, commits, and tries again if it fails by what others do at the same time. Refused within a transaction
  /// block.
  OWN
}
