package dev.kakehashi.engine.type;

/// Names of the rows of tables for clients. Thread-safe.
@FunctionalInterface
public interface RowIdentities {
  /// No table has rows.
  RowIdentities NONE =
      (tableId, rowId) -> {
        throw new IllegalStateException("row identities outside of a statement");
      };

  /// The identity of a row that the running statement sees.
  long of(long tableId, long rowId);
}
