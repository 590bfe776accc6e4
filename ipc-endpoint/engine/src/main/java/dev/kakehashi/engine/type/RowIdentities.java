package dev.kakehashi.engine.type;

/// What names the rows of tables to clients. Thread-safe.
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
