package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.StoredWord;
import dev.kakehashi.engine.store.index.ValueCodec;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.Blocks;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.Readers;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowConflicts;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.version.SlotOwner;
import dev.kakehashi.engine.store.version.TransactionSlots;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.CompactWord;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// Changes of the rows of one table. Thread-safe.
///
/// A change has three steps. Outside the latch: copy the new values to the pool. Under the latch: look whether the newest version may be
/// replaced, move it to an undo record, write the new one with an in-flight stamp. Then, without the latch: enter new keys into the
/// indexes. If the last step fails the change is taken back before the failure is reported.
final class RowWriter {
  /// In place of indexes: a step has to be done again.
  private static final TableIndex[] AGAIN = {};

  private final RowTable table;
  private final MemoryPool pool;
  private final TransactionSlots slots;
  private final Readers readers;
  private final IndexEntries entries;

  RowWriter(RowTable table) {
    this.table = table;
    this.pool = table.pool;
    this.slots = table.store.slots();
    this.readers = table.store.chainReaders();
    this.entries = table.entries;
  }

  // ---- insert ----

  long insert(Writer transaction, VectorBatch values, int row) {
    RowLayout layout = table.form.layout;
    transaction.reserveWrite();
    RowVersion version = new RowVersion(layout.columns);
    Page page;
    try {
      copyIn(values, row, version, null, pool);
      page = table.pages.latchRoom();
      boolean roomy = false;
      try {
        page.makeRoomFor(version);
        page.makeRoomForReuse();
        roomy = true;
      } finally {
        if (!roomy) {
          page.unlatch();
        }
      }
    } catch (RuntimeException e) {
      freeCopies(version, null);
      throw e;
    }
    int slot = page.claim();
    for (int c = 0; c < layout.columns; c++) {
      page.setWord(c, slot, version.words[c], version.nulls[c]);
    }
    page.setUndo(slot, 0);
    page.setStamp(slot, Stamp.lockingKeys(transaction.stamp(false)));
    page.setLive(slot, true);
    page.inFlight++;
    TableIndex[] indexes = table.form.indexes();
    page.unlatch();
    transaction.logWrite(table, page, slot, 0);
    transaction.addRows(table, 1);
    long rowId = page.rowId(slot);
    if (indexes.length > 0) {
      try {
        KeyBuffer key = new KeyBuffer(64);
        for (TableIndex index : indexes) {
          boolean exempt = index.encode(version, key);
          entries.add(transaction, index, key, exempt, rowId);
        }
      } catch (RuntimeException e) {
        transaction.rollbackTo(transaction.mark() - 1);
        throw e;
      }
    }
    return rowId;
  }

  /// Copies a row's values to the pool.
  ///
  /// @param shared column c is not to be copied: the version has the address already
  /// @param blocks of the pool
  void copyIn(
      VectorBatch values, int row, RowVersion to, boolean @Nullable [] shared, Blocks blocks) {
    RowLayout layout = table.form.layout;
    int[] positions = table.form.positions();
    // A dropped column gets what costs no annex.
    for (int c : table.form.dead()) {
      to.nulls[c] = layout.isMissingNull(c);
      to.words[c] = layout.missing(c);
    }
    for (int i = 0; i < positions.length; i++) {
      int c = positions[i];
      ColumnVector column = values.columns[i];
      to.nulls[c] = column.isNull(row);
      if (to.nulls[c]) {
        to.words[c] = 0;
      } else if (!layout.kinds[c].byReference()) {
        to.words[c] = column.words[row];
      } else if (to.words[c] == 0 && (shared == null || !shared[c])) {
        long from = column.words[row];
        long small = small(layout, c, from);
        to.words[c] = small != 0 ? small : copy(layout.kinds[c], from, blocks);
      }
    }
  }

  /// The word of a value that needs no memory of its own.
  ///
  /// @return 0: it needs some
  private static long small(RowLayout layout, int column, long from) {
    long compact = ValueCodec.compact(layout.kinds[column], from);
    return compact != 0 ? compact : layout.shared(column, from);
  }

  private static long copy(ColumnKind kind, long from, Blocks blocks) {
    int bytes = VarlenaLengths.bytes(kind, from);
    long address = blocks.allocate(bytes);
    Native.copy(from, address, bytes);
    return address;
  }

  void freeCopies(RowVersion version, boolean @Nullable [] shared) {
    RowLayout layout = table.form.layout;
    for (int c : layout.byReference) {
      if (layout.isOwned(c, version.words[c]) && (shared == null || !shared[c])) {
        pool.free(version.words[c], VarlenaLengths.bytes(layout.kinds[c], version.words[c]));
      }
    }
  }

  // ---- update ----

  @SuppressWarnings("ReferenceEquality") // the same array
  boolean update(Writer transaction, long rowId, VectorBatch values, int row) {
    RowLayout layout = table.form.layout;
    transaction.reserveWrite();
    Page page = table.pageOf(rowId);
    int slot = Page.slotOf(rowId);
    RowVersion version = new RowVersion(layout.columns);
    RowVersion old = new RowVersion(layout.columns);
    boolean[] shared = new boolean[layout.columns];
    long record = 0;
    TableIndex @Nullable [] indexes = AGAIN;
    try {
      record = pool.allocate(layout.undoBytes);
      while (indexes == AGAIN) {
        if (layout.byReference.length > 0) {
          // The values that are compared may be of a version that our snapshot does not see.
          int cell = readers.enter();
          try {
            shareUnchanged(page, slot, values, row, old, version, shared);
          } finally {
            readers.leave(cell);
          }
        }
        copyIn(values, row, version, shared, pool);
        indexes = replace(transaction, page, slot, old, version, shared, record);
      }
    } finally {
      if (indexes == null || indexes == AGAIN) {
        freeCopies(version, shared);
        if (record != 0) {
          pool.free(record, layout.undoBytes);
        }
      }
    }
    if (indexes == null) {
      return false;
    }
    transaction.logWrite(table, page, slot, record);
    if (RowLayout.keysChanged(record)) {
      try {
        addChangedKeys(transaction, indexes, old, version, rowId);
      } catch (RuntimeException e) {
        transaction.rollbackTo(transaction.mark() - 1);
        throw e;
      }
    }
    return true;
  }

  /// Replaces the newest version of a row.
  ///
  /// @param old gets that version
  /// @param shared columns of the next version that have the address of the newest one's value
  /// @param record gets that version too, as an undo record
  /// @return the indexes that the row was in; null: the row is gone for the transaction; [#AGAIN]: shared values are not those of the
  ///     newest version any more
  private TableIndex @Nullable [] replace(
      Writer transaction,
      Page page,
      int slot,
      RowVersion old,
      RowVersion version,
      boolean[] shared,
      long record) {
    page.latch();
    try {
      if (!mayReplace(transaction, page, slot)) {
        return null;
      }
      if (!isStillShared(page, slot, version, shared)) {
        return AGAIN;
      }
      page.makeRoomFor(version);
      page.makeRoomForUndo();
      old.readHead(page, slot);
      TableIndex[] indexes = table.form.indexes();
      boolean keysChanged = keysDiffer(indexes, old, version);
      boolean locksKeys = keysChanged && referencedKeysDiffer(indexes, old, version);
      table.locker.refuse(
          transaction, page, slot, locksKeys ? LockStrength.UPDATE : LockStrength.NO_KEY_UPDATE);
      saveUndo(page, slot, record, version, keysChanged);
      for (int c = 0; c < version.words.length; c++) {
        page.setWord(c, slot, version.words[c], version.nulls[c]);
      }
      putStamp(page, slot, transaction.stamp(false), locksKeys, record);
      return indexes;
    } finally {
      page.unlatch();
    }
  }

  /// Keeps the address of each value that stays the same, so that an update of one column does not copy the others.
  private void shareUnchanged(
      Page page,
      int slot,
      VectorBatch values,
      int row,
      RowVersion old,
      RowVersion version,
      boolean[] shared) {
    RowLayout layout = table.form.layout;
    for (int spins = 0; ; spins++) {
      long seen = page.stableVersion();
      boolean isRow = slot < page.used && !Stamp.isTombstone(page.stamp(slot));
      if (isRow) {
        old.readHead(page, slot);
      }
      if (page.validate(seen)) {
        int[] positions = table.form.positions();
        for (int i = 0; i < positions.length; i++) {
          int c = positions[i];
          if (!layout.kinds[c].byReference()) {
            continue;
          }
          if (shared[c]) {
            shared[c] = false;
            version.words[c] = 0;
          }
          long word = isRow ? old.words[c] : 0;
          if (word != 0
              && version.words[c] == 0
              && !values.columns[i].isNull(row)
              && isSameValue(layout.kinds[c], word, values.columns[i].words[row])) {
            shared[c] = true;
            version.words[c] = word;
          }
        }
        return;
      }
      Page.pause(spins);
    }
  }

  /// @param stored word of a by-reference value in the store
  /// @param address of another value
  static boolean isSameValue(ColumnKind kind, long stored, long address) {
    if (CompactWord.isCompact(stored)) {
      return stored == ValueCodec.compact(kind, address);
    }
    long value = StoredWord.address(stored);
    int bytes = VarlenaLengths.bytes(kind, value);
    return bytes == VarlenaLengths.bytes(kind, address) && Native.equalBytes(value, address, bytes);
  }

  private boolean isStillShared(Page page, int slot, RowVersion version, boolean[] shared) {
    RowLayout layout = table.form.layout;
    for (int c : layout.byReference) {
      if (shared[c] && page.word(c, slot) != version.words[c]) {
        return false;
      }
    }
    return true;
  }

  private static boolean keysDiffer(TableIndex[] indexes, RowVersion a, RowVersion b) {
    for (TableIndex index : indexes) {
      if (keyDiffers(index, a, b)) {
        return true;
      }
    }
    return false;
  }

  /// Whether versions of a row differ in what a row of another table can reference: the columns of an index that is unique among all rows.
  static boolean referencedKeysDiffer(TableIndex[] indexes, RowVersion a, RowVersion b) {
    for (TableIndex index : indexes) {
      if (index.definition.unique()
          && index.definition.predicate().isEmpty()
          && keyDiffers(index, a, b)) {
        return true;
      }
    }
    return false;
  }

  /// Whether two versions of a row may have different keys: where they share a value its address is the same.
  static boolean keyDiffers(TableIndex index, RowVersion a, RowVersion b) {
    for (int column : index.keyColumns) {
      if (a.words[column] != b.words[column] || a.nulls[column] != b.nulls[column]) {
        return true;
      }
    }
    return false;
  }

  private void addChangedKeys(
      Writer transaction, TableIndex[] indexes, RowVersion old, RowVersion version, long rowId) {
    KeyBuffer oldKey = new KeyBuffer(64);
    KeyBuffer key = new KeyBuffer(64);
    for (TableIndex index : indexes) {
      if (keyDiffers(index, old, version)) {
        index.encode(old, oldKey);
        boolean exempt = index.encode(version, key);
        if (!java.util.Arrays.equals(oldKey.bytes, 0, oldKey.length, key.bytes, 0, key.length)) {
          entries.add(transaction, index, key, exempt, rowId);
        }
      }
    }
  }

  // ---- delete ----

  boolean delete(Writer transaction, long rowId) {
    RowLayout layout = table.form.layout;
    transaction.reserveWrite();
    Page page = table.pageOf(rowId);
    int slot = Page.slotOf(rowId);
    long record = pool.allocateToMakeRoom(layout.undoBytes);
    boolean written = false;
    page.latch();
    try {
      if (mayReplace(transaction, page, slot)) {
        table.locker.refuse(transaction, page, slot, LockStrength.UPDATE);
        page.makeRoomForUndo();
        saveUndo(page, slot, record, null, true);
        for (int c : layout.byReference) {
          page.setWord(c, slot, 0, page.isNull(c, slot));
        }
        putStamp(page, slot, transaction.stamp(true), true, record);
        page.setLive(slot, false);
        written = true;
      }
    } finally {
      page.unlatch();
      if (!written) {
        pool.free(record, layout.undoBytes);
      }
    }
    if (written) {
      transaction.logWrite(table, page, slot, record);
      transaction.addRows(table, -1);
    }
    return written;
  }

  // ---- parts of a change, under the latch ----

  /// Whether the newest version may be replaced by the transaction.
  ///
  /// @return false if the row is gone for it
  boolean mayReplace(Writer transaction, Page page, int slot) {
    long stamp = slot < page.used ? page.stamp(slot) : Stamp.NOTHING;
    if (Stamp.isInFlight(stamp)) {
      if (Stamp.slot(stamp) == transaction.slot()) {
        return !Stamp.isTombstone(stamp);
      }
      long timestamp = slots.commitTimestamp(Stamp.slot(stamp));
      if (timestamp == 0) {
        SlotOwner owner = slots.owner(Stamp.slot(stamp));
        throw RowConflicts.owned(owner, page, slot);
      }
      // Its commit is on the way here. We stamp for it, so that only the top version of a chain is
      // ever in flight for another transaction.
      page.commitStamp(slot, stamp, timestamp);
      stamp = page.stamp(slot);
    }
    boolean changed = Stamp.timestamp(stamp) > transaction.snapshot();
    if (changed || Stamp.isTombstone(stamp)) {
      table.store.hasSeen(transaction.slot(), Stamp.timestamp(stamp));
    }
    if (changed) {
      throw RowConflicts.changed(page, slot);
    }
    return !Stamp.isTombstone(stamp);
  }

  /// Copies the newest version to an undo record.
  ///
  /// @param next the version that follows; null: a tombstone
  void saveUndo(Page page, int slot, long record, @Nullable RowVersion next, boolean keysChanged) {
    RowLayout layout = table.form.layout;
    Native.putLong(record + RowLayout.UNDO_STAMP, page.stamp(slot));
    Native.putLong(record + RowLayout.UNDO_PREVIOUS, page.undo(slot));
    int columns = layout.columns;
    Native.putLong(record + RowLayout.UNDO_FLAGS, RowLayout.undoFlags(columns, keysChanged));
    for (int from = 0; from < columns; from += 64) {
      long replaced = 0;
      long nulls = 0;
      for (int c = from; c < Math.min(columns, from + 64); c++) {
        long word = page.word(c, slot);
        Native.putLong(RowLayout.undoWordAt(record, c), word);
        nulls |= page.isNull(c, slot) ? 1L << (c & 63) : 0;
        if (layout.kinds[c].byReference()
            && layout.isOwned(c, word)
            && (next == null || next.words[c] != word)) {
          replaced |= 1L << (c & 63);
        }
      }
      Native.putLong(RowLayout.undoReplacedAt(record, columns, from), replaced);
      Native.putLong(RowLayout.undoNullsAt(record, columns, from), nulls);
    }
  }

  /// @param locksKeys whether others may not hold the row's keys beside the version; where its transaction has one already, that counts,
  ///     too
  static void putStamp(Page page, int slot, long stamp, boolean locksKeys, long record) {
    long before = page.stamp(slot);
    boolean own = Stamp.isInFlight(before);
    if (!own) {
      page.inFlight++;
    }
    page.setUndo(slot, record);
    boolean locks = locksKeys || (own && Stamp.locksKeys(before));
    page.setStamp(slot, locks ? Stamp.lockingKeys(stamp) : stamp);
  }
}
