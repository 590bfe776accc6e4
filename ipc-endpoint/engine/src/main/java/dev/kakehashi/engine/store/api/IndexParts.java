package dev.kakehashi.engine.store.api;

import org.jspecify.annotations.Nullable;

/// A range of an index in parts that several tasks scan, one part after another: each entry lies in exactly one of them, whatever becomes
/// of the index meanwhile. Immutable and thread-safe; made by [TableStore#divide].
public interface IndexParts {
  /// How many parts there are, at least 1.
  int count();

  /// Nodes with entries that the whole range has, approximately; at least 1.
  long leaves();

  /// Notes that a transaction reads all of it. Called before the first part is scanned.
  void noteRead(ReadView view);

  /// Opens a scan of one part, in the index's order.
  ///
  /// @param part from 0
  /// @param columns positions wanted, in the order of the batch's columns
  /// @param closed as for [TableStore#indexScan]
  RowCursor scan(
      ReadView view, int part, int[] columns, boolean withRowIds, @Nullable RowCursor closed);
}
