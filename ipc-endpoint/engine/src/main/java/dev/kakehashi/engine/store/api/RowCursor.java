package dev.kakehashi.engine.store.api;

import dev.kakehashi.engine.vector.VectorBatch;

/// Visible rows, a batch at a time. Confined to one task at a time; holds no latch between calls.
public interface RowCursor extends AutoCloseable {
  /// Resets the batch and fills it with the next rows.
  ///
  /// @return false when there are no more rows; the batch is empty then
  boolean next(VectorBatch batch);

  @Override
  void close();
}
