package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Makes changes of the rows of one table again that were made once: those of a prepared transaction after a start, and those of a primary
/// on its standby. So keys need no check, and the row has the place that it had. Others may read meanwhile.
///
/// On a standby, a row may come to a slot whose deleted row somebody still reads. The primary has given the slot away, for nobody reads it
/// there. Here the tombstone stays in the chain: the new row, the tombstone, the row before.
final class RowReplay {
  private final RowTable table;
  private final MemoryPool pool;
  private final RowWriter writer;

  RowReplay(RowTable table, RowWriter writer) {
    this.table = table;
    this.pool = table.pool;
    this.writer = writer;
  }

  /// @param version its values in the pool; null: deleted
  void replay(Writer transaction, long rowId, @Nullable RowVersion version) {
    RowLayout layout = table.form.layout;
    transaction.reserveWrite();
    int slot = Page.slotOf(rowId);
    RowVersion old = new RowVersion(layout.columns);
    long record = pool.allocate(layout.undoBytes);
    boolean recorded = false;
    boolean present;
    Page page = table.pages.latchForReplay(rowId >>> Page.SLOT_BITS);
    try {
      long stamp = page.stamp(slot);
      boolean occupied = stamp != Stamp.NOTHING;
      present = occupied && !Stamp.isTombstone(stamp);
      if (!present && version == null) {
        return; // it deleted what it had inserted
      }
      if (version != null) {
        page.makeRoomFor(version);
      }
      if (occupied) {
        page.makeRoomForUndo();
        old.readHead(page, slot);
        writer.saveUndo(page, slot, record, version, present);
        recorded = true;
      } else {
        page.claim(slot);
      }
      for (int c = 0; c < layout.columns; c++) {
        if (version != null) {
          page.setWord(c, slot, version.words[c], version.nulls[c]);
        } else if (layout.kinds[c].byReference()) {
          page.setWord(c, slot, 0, page.isNull(c, slot));
        }
      }
      boolean locksKeys =
          version == null
              || !present
              || RowWriter.referencedKeysDiffer(table.form.indexes(), old, version);
      RowWriter.putStamp(
          page, slot, transaction.stamp(version == null), locksKeys, recorded ? record : 0);
      page.setLive(slot, version != null);
    } finally {
      page.unlatch();
      if (!recorded) {
        pool.free(record, layout.undoBytes);
      }
    }
    transaction.logWrite(table, page, slot, recorded ? record : 0);
    int count = (version != null ? 1 : 0) - (present ? 1 : 0);
    if (count != 0) {
      transaction.addRows(table, count);
    }
    if (version != null) {
      enter(rowId, version, present ? old : null);
    }
  }

  /// @param old the row as it was before; null: there was none
  private void enter(long rowId, RowVersion version, @Nullable RowVersion old) {
    KeyBuffer key = new KeyBuffer(64);
    KeyBuffer before = new KeyBuffer(64);
    for (TableIndex index : table.form.indexes()) {
      if (old == null || RowWriter.keyDiffers(index, old, version)) {
        index.encode(version, key);
        before.length = 0;
        if (old != null) {
          index.encode(old, before);
        }
        boolean isSame = Arrays.equals(key.bytes, 0, key.length, before.bytes, 0, before.length);
        if (key.length > 0 && !isSame) {
          index.complete(key, rowId);
          index.tree.insert(key);
        }
      }
    }
  }
}
