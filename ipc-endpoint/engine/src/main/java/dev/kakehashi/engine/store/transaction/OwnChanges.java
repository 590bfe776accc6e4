package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.store.api.RowChanges;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableForm;
import dev.kakehashi.engine.vector.VectorBatch;

/// Goes over what a running transaction has done to the rows of one table, by its list of writes. Versions that the list leads to are there
/// until the transaction ends: a rollback needs them. Used like the transaction itself.
final class OwnChanges implements RowChanges {
  private final RowTransaction transaction;
  private final long tableId;
  private final int[] columns;
  private int write;

  /// @param from first write that is looked at
  OwnChanges(RowTransaction transaction, long tableId, int from, int[] columns) {
    this.transaction = transaction;
    this.tableId = tableId;
    this.columns = columns;
    this.write = from - 1;
  }

  @Override
  public boolean next() {
    while (++write < transaction.writes().size()) {
      if (transaction.writes().page(write).form.tableId() == tableId) {
        return true;
      }
    }
    return false;
  }

  @Override
  public long rowId() {
    return transaction.writes().page(write).rowId(transaction.writes().rowSlot(write));
  }

  @Override
  public boolean isLast() {
    return transaction.writes().isLastOfRow(write);
  }

  @Override
  public Before before(VectorBatch row) {
    row.reset();
    long undo = transaction.writes().undo(write);
    if (undo == 0) {
      return Before.NOTHING;
    }
    long stamp = Native.getLong(undo + RowLayout.UNDO_STAMP);
    if (Stamp.isTombstone(stamp)) {
      return Before.NOTHING;
    }
    TableForm form = transaction.writes().page(write).form;
    RowLayout layout = form.layout;
    RowVersion version = new RowVersion(layout.columns);
    version.readUndo(layout, undo);
    version.appendTo(row, layout, form.stored(columns));
    return Stamp.isInFlight(stamp) ? Before.OWN : Before.COMMITTED;
  }
}
