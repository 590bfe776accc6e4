package dev.kakehashi.engine.store.api;

import dev.kakehashi.engine.vector.VectorBatch;

/// Changes of rows, in the order in which they were made: a row comes once for each. Used like the transaction that made them.
public interface RowChanges {
  /// State of a row before a change.
  enum Before {
    NOTHING,
    /// A row that the same transaction had made.
    OWN,
    /// A row that others could see.
    COMMITTED
  }

  /// Goes to the next change; false if there are no more.
  boolean next();

  long rowId();

  /// Whether the row was not changed again.
  boolean isLast();

  /// Reads the row as it was before.
  ///
  /// @param row for one row of the columns that were asked for; empty if there was none
  Before before(VectorBatch row);
}
