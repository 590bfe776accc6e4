package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowIdentity;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.version.RowReader;
import dev.kakehashi.engine.vector.VectorBatch;

/// The row of an identity, with its row identifier, if the view sees it.
final class IdentityCursor implements RowCursor {
  private final RowTable table;
  private final ReadView view;
  private final long identity;
  private final int[] wanted;
  private boolean done;

  /// @param wanted stored columns
  IdentityCursor(RowTable table, ReadView view, long identity, int[] wanted) {
    this.table = table;
    this.view = view;
    this.identity = identity;
    this.wanted = wanted;
  }

  @Override
  public boolean next(VectorBatch batch) {
    batch.reset();
    if (!done) {
      done = true;
      read(batch);
    }
    return batch.size > 0;
  }

  private void read(VectorBatch batch) {
    long rowId = RowIdentity.rowId(identity);
    Page page = table.page(rowId >>> Page.SLOT_BITS);
    if (page == null) {
      return;
    }
    RowLayout layout = table.form.layout;
    RowVersion version = new RowVersion(layout.columns);
    RowReader reader = new RowReader(table.store, view);
    // Slots that the page does not have are behind those in use.
    boolean found = reader.read(page, Page.slotOf(rowId), version, wanted);
    reader.end();
    // A row that the view sees stays in its slot, so that the identity can be looked at afterwards.
    if (found && table.identity(rowId) == identity) {
      batch.rowIds[version.appendTo(batch, layout, wanted)] = rowId;
    }
  }

  @Override
  public void close() {
    done = true;
  }
}
