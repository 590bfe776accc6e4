package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;

/// Rows that are read by their position.
public interface IndexedRows {
  ColumnKind kind(int column);

  boolean isNull(int column, int row);

  /// A by-reference value may be gone when another row is read, unless the rows say more.
  long word(int column, int row);
}
