package dev.kakehashi.engine.store;

import org.jspecify.annotations.Nullable;

/// Conflicts about a row of a page.
final class RowConflicts {
  private RowConflicts() {}

  /// Another transaction has changed the row since the snapshot.
  static RowConflict changed(Page page, int slot) {
    return new RowConflict(
        RowConflict.Kind.CHANGED_SINCE_SNAPSHOT,
        EndedTransaction.INSTANCE,
        page.form.tableId(),
        page.rowId(slot));
  }

  /// Another transaction has changed since the snapshot what was read.
  static RowConflict readChanged(Page page, int slot) {
    return new RowConflict(
        RowConflict.Kind.READ_SINCE_CHANGED, EndedTransaction.INSTANCE, page.form.tableId(), page.rowId(slot));
  }

  /// @param owner who is changing the row; null: nobody any more
  static RowConflict owned(
      @Nullable StoreTransaction owner, Page page, int slot) {
    return new RowConflict(
        RowConflict.Kind.OWNER_ACTIVE,
        owner == null ? EndedTransaction.INSTANCE : owner,
        page.form.tableId(),
        page.rowId(slot));
  }
}
