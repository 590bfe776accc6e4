package dev.kakehashi.engine.store.row;

import dev.kakehashi.engine.store.api.EndedTransaction;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.engine.store.api.StoreTransaction;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Conflicts about a row of a page.
public final class RowConflicts {
  private RowConflicts() {}

  /// Another transaction has changed the row since the snapshot.
  public static RowConflict changed(Page page, int slot) {
    return new RowConflict(
        RowConflict.Kind.CHANGED_SINCE_SNAPSHOT,
        EndedTransaction.INSTANCE,
        page.form.tableId(),
        page.rowId(slot));
  }

  /// Another transaction has changed since the snapshot what was read.
  public static RowConflict readChanged(Page page, int slot) {
    return new RowConflict(
        RowConflict.Kind.READ_SINCE_CHANGED,
        EndedTransaction.INSTANCE,
        page.form.tableId(),
        page.rowId(slot));
  }

  /// @param owner who is changing the row; null: nobody any more
  public static RowConflict owned(@Nullable StoreTransaction owner, Page page, int slot) {
    return new RowConflict(
        RowConflict.Kind.OWNER_ACTIVE,
        owner == null ? EndedTransaction.INSTANCE : owner,
        page.form.tableId(),
        page.rowId(slot));
  }

  /// @param owners who share the row; at least one
  public static RowConflict owned(List<StoreTransaction> owners, Page page, int slot) {
    return RowConflict.shared(owners, page.form.tableId(), page.rowId(slot));
  }
}
