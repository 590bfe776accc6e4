package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.garbage.Garbage;
import dev.kakehashi.engine.store.garbage.WriteLog;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;

/// Takes changes of the rows of one table back, and frees what changes have replaced. Thread-safe.
final class RowUndo {
  private static final int ROWS_PER_LATCH = 64;
  private static final TableIndex[] NO_INDEXES = {};

  private final RowTable table;
  private final MemoryPool pool;
  private final IndexEntries entries;

  RowUndo(RowTable table) {
    this.table = table;
    this.pool = table.pool;
    this.entries = table.entries;
  }

  void undo(Writer transaction, Page page, int slot, long record) {
    RowLayout layout = table.form.layout;
    Garbage garbage = transaction.garbage();
    RowVersion version = new RowVersion(layout.columns);
    boolean tombstone = Stamp.isTombstone(page.stamp(slot));
    if (!tombstone) {
      // Our own version: nobody else changes it.
      version.readHead(page, slot);
    }
    for (int c : layout.byReference) {
      long word = version.words[c];
      if (layout.isOwned(c, word) && (record == 0 || layout.undoWord(record, c) != word)) {
        garbage.addBlock(word, VarlenaLengths.bytes(layout.kinds[c], word));
      }
    }
    RowVersion before = new RowVersion(record == 0 ? 0 : layout.columns);
    boolean keysChanged = false;
    page.latch();
    if (record == 0) {
      page.inFlight--;
      page.vacate(slot);
    } else {
      // An index build sets this under the latch, see IndexBuild.
      keysChanged = RowLayout.keysChanged(record);
      before.readUndo(layout, record);
      for (int c = 0; c < layout.columns; c++) {
        page.setWord(c, slot, before.words[c], before.nulls[c]);
      }
      long stamp = Native.getLong(record + RowLayout.UNDO_STAMP);
      if (!Stamp.isInFlight(stamp)) {
        page.inFlight--;
      }
      page.setUndo(slot, Native.getLong(record + RowLayout.UNDO_PREVIOUS));
      page.setStamp(slot, stamp);
      page.setLive(slot, !Stamp.isTombstone(stamp));
    }
    page.unlatch();
    if (record == 0) {
      transaction.addRows(table, -1);
      dropInserted(page, slot, version);
      return;
    }
    garbage.addBlock(record, RowLayout.undoSize(record));
    if (tombstone) {
      transaction.addRows(table, 1);
    } else if (keysChanged) {
      noteEntries(garbage, page, slot, version, before);
    }
  }

  /// Takes back an insert that has no entries.
  void undoBare(Writer transaction, Page page, int slot) {
    RowLayout layout = table.form.layout;
    Garbage garbage = transaction.garbage();
    // Our own version: nobody else changes it.
    for (int c : layout.byReference) {
      long word = page.word(c, slot);
      if (layout.isOwned(c, word)) {
        garbage.addBlock(word, VarlenaLengths.bytes(layout.kinds[c], word));
      }
    }
    page.latch();
    page.inFlight--;
    page.vacate(slot);
    page.unlatch();
  }

  /// Takes back inserts whose entries, values and slots are [#vacate]d later. Neighbours in a page go under one latch, but not so many that
  /// readers wait.
  void retract(WriteLog.Inserts inserts) {
    for (int at = 0; at < inserts.size(); ) {
      Page page = inserts.page(at);
      int end = endInPage(inserts, at);
      page.latch();
      while (at < end) {
        page.retract(inserts.rowSlot(at++));
      }
      page.unlatch();
    }
  }

  /// End of some neighbours of an insert that are in its page.
  @SuppressWarnings("ReferenceEquality") // the same page
  private static int endInPage(WriteLog.Inserts inserts, int from) {
    Page page = inserts.page(from);
    int most = Math.min(inserts.size(), from + ROWS_PER_LATCH);
    int end = from + 1;
    while (end < most && inserts.page(end) == page) {
      end++;
    }
    return end;
  }

  /// See [dev.kakehashi.engine.store.garbage.CollectedTable#vacate].
  void vacate(WriteLog.Inserts inserts, boolean withEntries, Garbage garbage) {
    TableIndex[] indexes = withEntries ? table.form.indexes() : NO_INDEXES;
    // One layout to the end: others may add columns meanwhile.
    RowLayout layout = table.form.layout;
    RowVersion version = new RowVersion(layout.columns);
    KeyBuffer key = new KeyBuffer(64);
    for (int at = 0; at < inserts.size(); ) {
      Page page = inserts.page(at);
      int end = endInPage(inserts, at);
      // Without memory it is that of a table whose pages have been freed.
      if (page.hasMemory()) {
        for (int i = at; i < end; i++) {
          leave(page, inserts.rowSlot(i), indexes, layout, version, key, garbage);
        }
        page.latch();
        for (int i = at; i < end; i++) {
          page.vacate(inserts.rowSlot(i));
        }
        page.unlatch();
        table.pages.offerRoom(page);
      }
      at = end;
    }
  }

  /// Takes the entries of a row away that is none any more and whose slot is nobody else's, and notes its values.
  private void leave(
      Page page,
      int slot,
      TableIndex[] indexes,
      RowLayout layout,
      RowVersion version,
      KeyBuffer key,
      Garbage garbage) {
    version.readHead(page, slot);
    for (TableIndex index : indexes) {
      index.encode(version, key);
      if (key.length > 0 && !index.isFreed()) {
        key.putLong(page.rowId(slot));
        index.tree.remove(key);
      }
    }
    for (int c : layout.byReference) {
      long word = version.words[c];
      if (layout.isOwned(c, word)) {
        garbage.addBlock(word, VarlenaLengths.bytes(layout.kinds[c], word));
      }
    }
  }

  /// Notes the entries of an update that was taken back. Unlike those of an insert they cannot be dropped here: an older version may have
  /// the same key, and how far down the chain there is something to look at only the holder of the collector's lock knows.
  private void noteEntries(
      Garbage garbage, Page page, int slot, RowVersion version, RowVersion before) {
    KeyBuffer key = new KeyBuffer(64);
    for (TableIndex index : table.form.indexes()) {
      // The entry of a key that stays is that of the version that has come back, and goes with it.
      if (RowWriter.keyDiffers(index, version, before)) {
        index.encode(version, key);
        key.putLong(page.rowId(slot));
        garbage.addEntry(table, index, key);
      }
    }
    table.collector.dropMany(garbage);
  }

  /// Removes the entries of an insert that was taken back. Nobody else can have seen the row, so they need not wait for the collector; but
  /// the slot may have a new owner by now.
  private void dropInserted(Page page, int slot, RowVersion version) {
    KeyBuffer key = new KeyBuffer(64);
    for (TableIndex index : table.form.indexes()) {
      index.encode(version, key);
      key.putLong(page.rowId(slot));
      entries.drop(index, page, slot, key, Stamp.TIMESTAMP_MASK);
    }
  }

  // ---- collection ----

  void freeReplaced(
      Page page, int slot, long record, long timestamp, long horizon, boolean dropped) {
    boolean keysChanged = RowLayout.keysChanged(record);
    // An index has only columns of a layout that was there before it.
    TableIndex[] indexes = table.form.indexes();
    RowLayout layout = table.form.layout;
    if (!dropped) {
      if (keysChanged) {
        RowVersion old = new RowVersion(layout.columns);
        old.readUndo(layout, record);
        KeyBuffer key = new KeyBuffer(64);
        for (TableIndex index : indexes) {
          index.encode(old, key);
          key.putLong(page.rowId(slot));
          entries.drop(index, page, slot, key, horizon);
        }
      }
      freeDeleted(page, slot, timestamp);
    }
    for (int c : layout.byReference) {
      if (RowLayout.isReplaced(record, c)) {
        long word = layout.undoWord(record, c);
        pool.free(word, VarlenaLengths.bytes(layout.kinds[c], word));
      }
    }
    pool.free(record, RowLayout.undoSize(record));
  }

  private void freeDeleted(Page page, int slot, long timestamp) {
    long deleted = Stamp.TOMBSTONE | timestamp;
    if (page.stamp(slot) != deleted) {
      return;
    }
    page.latch();
    boolean vacated = page.stamp(slot) == deleted;
    if (vacated) {
      page.vacate(slot);
    }
    page.unlatch();
    if (vacated) {
      table.pages.offerRoom(page);
    }
  }

  /// Frees the values of a page's newest versions; older ones go with their undo records.
  void freeValues(Page page) {
    RowLayout layout = table.form.layout;
    for (int slot = 0; slot < page.used && layout.byReference.length > 0; slot++) {
      if (!Stamp.isTombstone(page.stamp(slot))) {
        for (int c : layout.byReference) {
          long word = page.word(c, slot);
          if (layout.isOwned(c, word)) {
            pool.free(word, VarlenaLengths.bytes(layout.kinds[c], word));
          }
        }
      }
    }
  }
}
