package dev.kakehashi.engine.store.api;

/// Visible rows of a range of pages, and of one range after the other: a scan that is divided into pieces keeps its buffers from piece to
/// piece.
public interface PageCursor extends RowCursor {
  /// Goes on with the pages `[firstPage, endPage)`, wherever it stood. The view, the columns and what was read by the transaction stay as
  /// they are.
  ///
  /// @throws IllegalStateException if the cursor is closed
  void moveTo(long firstPage, long endPage);

  /// From now on, batches come with values that are [dev.kakehashi.engine.vector.DeferredValues]. They may be copied until the cursor goes
  /// on.
  void deferValues();
}
