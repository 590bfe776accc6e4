package dev.kakehashi.engine.store.api;

/// Change that the own transaction has made to a row that a view sees as it was before.
public enum OwnChange {
  /// Nothing, or it has locked it.
  NONE,

  /// The view's own command has changed or deleted it.
  SAME_COMMAND,

  /// A later command, which the view's has called, has changed or deleted it.
  LATER_COMMAND
}
