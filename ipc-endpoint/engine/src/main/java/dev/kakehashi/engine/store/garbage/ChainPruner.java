package dev.kakehashi.engine.store.garbage;

import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.BlockList;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.version.Snapshots;

/// Takes versions that nobody can see out of the chain of one row, though older ones of it are still needed (interval garbage collection;
/// Lee et al., "Hybrid garbage collection for multi-version concurrency control in SAP HANA", 2016).
///
/// Used by the holder of the collector's lock. Chains change under the row's page latch only; readers walk them without, so what is taken
/// out goes to a list until all of them have passed ([Readers]). A record is taken out only if it was marked: then its transaction has
/// ended, and the collector knows where it is listed.
final class ChainPruner {
  /// Flags of an undo record besides [RowLayout#KEYS_CHANGED], written here only, when its transaction has ended.
  static final long MARKED = 2;

  static final long REMOVED = 4;

  /// Records taken out while a page is latched once.
  private static final int MOST_PER_LATCH = 256;

  private final Snapshots snapshots;
  private final long horizon;
  private final BlockList limbo;
  private final long[] removed = new long[MOST_PER_LATCH];

  ChainPruner(Snapshots snapshots, BlockList limbo) {
    this.snapshots = snapshots;
    this.horizon = snapshots.horizon();
    this.limbo = limbo;
  }

  static void mark(long record) {
    long flags = Native.getLong(record + RowLayout.UNDO_FLAGS);
    Native.putLong(record + RowLayout.UNDO_FLAGS, flags | MARKED);
  }

  static boolean isRemoved(long record) {
    return (Native.getLong(record + RowLayout.UNDO_FLAGS) & REMOVED) != 0;
  }

  void prune(CollectedTable table, Page page, int slot) {
    int count;
    do {
      boolean vacated = false;
      page.latch();
      try {
        count = unlink(page, slot);
        vacated = count < MOST_PER_LATCH && vacateDeleted(page, slot);
      } finally {
        page.unlatch();
      }
      for (int i = 0; i < count; i++) {
        forget(table, page, slot, removed[i]);
      }
      if (vacated) {
        table.offerRoom(page);
      }
    } while (count == MOST_PER_LATCH);
  }

  /// Takes records out of the chain of a latched page's row, the newest first.
  private int unlink(Page page, int slot) {
    int count = 0;
    long head = page.stamp(slot);
    // Above the newest committed version there are those of a running transaction, which may come
    // back.
    boolean open = Stamp.isInFlight(head);
    long replaced = open ? 0 : Stamp.timestamp(head);
    long above = 0;
    long record = page.undo(slot);
    while (record != 0 && count < MOST_PER_LATCH && (open || replaced > horizon)) {
      long stamp = Native.getLong(record + RowLayout.UNDO_STAMP);
      long older = Native.getLong(record + RowLayout.UNDO_PREVIOUS);
      boolean inFlight = Stamp.isInFlight(stamp);
      boolean remove = false;
      if (open) {
        open = inFlight;
      } else {
        // No other transaction has ever seen a version that its own transaction has replaced.
        long made = inFlight ? replaced : Stamp.timestamp(stamp);
        boolean marked = (Native.getLong(record + RowLayout.UNDO_FLAGS) & MARKED) != 0;
        // A deleted row's slot is found by its last version.
        boolean last = above == 0 && Stamp.isTombstone(head) && older != 0;
        remove = marked && !last && !snapshots.sees(made, replaced);
      }
      if (remove) {
        keepShared(page.form.layout, record, older);
        if (above == 0) {
          page.setUndo(slot, older);
        } else {
          Native.putLong(above + RowLayout.UNDO_PREVIOUS, older);
        }
        removed[count++] = record;
      } else {
        above = record;
      }
      replaced = inFlight ? replaced : Stamp.timestamp(stamp);
      record = older;
    }
    return count;
  }

  /// Values and keys that the version shares with the one before go with that one.
  private static void keepShared(RowLayout layout, long record, long older) {
    if (older == 0) {
      return;
    }
    // A tombstone in the middle, which a standby has, is in no index.
    if (RowLayout.keysChanged(record)
        && !Stamp.isTombstone(Native.getLong(older + RowLayout.UNDO_STAMP))) {
      RowLayout.setKeysChanged(older);
    }
    for (int c : layout.byReference) {
      // A replaced value is the row's own, so the older record can have it only if it has the
      // column.
      if (RowLayout.isReplaced(record, c)
          && layout.undoWord(record, c) == layout.undoWord(older, c)) {
        RowLayout.setReplaced(record, c, false);
        RowLayout.setReplaced(older, c, true);
      }
    }
  }

  /// Gives the slot of a deleted row back once nothing is left but its tombstone, and everybody sees that or nothing.
  private boolean vacateDeleted(Page page, int slot) {
    long head = page.stamp(slot);
    boolean vacate =
        !Stamp.isInFlight(head)
            && Stamp.isTombstone(head)
            && Stamp.timestamp(head) != 0
            && page.undo(slot) == 0
            && Stamp.timestamp(head) <= snapshots.published();
    if (vacate) {
      page.vacate(slot);
    }
    return vacate;
  }

  /// Drops what belongs to a record that was taken out, and marks it.
  private void forget(CollectedTable table, Page page, int slot, long record) {
    TableIndex[] indexes = page.form.indexes(); // before the layout, which has all their columns
    RowLayout layout = page.form.layout;
    long flags = Native.getLong(record + RowLayout.UNDO_FLAGS);
    if (RowLayout.keysChanged(record)) {
      RowVersion version = new RowVersion(layout.columns);
      version.readUndo(layout, record);
      KeyBuffer key = new KeyBuffer(64);
      for (TableIndex index : indexes) {
        index.encode(version, key);
        key.putLong(page.rowId(slot));
        table.dropEntry(index, page, slot, key, horizon);
      }
    }
    for (int c : layout.byReference) {
      if (RowLayout.isReplaced(record, c)) {
        long word = layout.undoWord(record, c);
        limbo.add(word, VarlenaLengths.bytes(layout.kinds[c], word));
      }
    }
    limbo.add(record, RowLayout.undoSize(record));
    Native.putLong(record + RowLayout.UNDO_FLAGS, flags | REMOVED);
  }
}
