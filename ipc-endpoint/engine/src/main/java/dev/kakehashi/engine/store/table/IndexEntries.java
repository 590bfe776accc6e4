package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.index.EntryBatch;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.memory.Readers;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowConflicts;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.RowReader;
import dev.kakehashi.engine.store.version.SlotOwner;
import dev.kakehashi.engine.store.version.TransactionSlots;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/// The entries of one table's rows in its indexes: made with a look at unique keys, taken back when nobody may read a version with their
/// key any more. Thread-safe.
final class IndexEntries {
  private static final int UNIQUE_FETCH = 8;

  private final RowTable table;
  private final TransactionSlots slots;
  private final Readers readers;

  IndexEntries(RowTable table) {
    this.table = table;
    this.slots = table.store.slots();
    this.readers = table.store.chainReaders();
  }

  /// Makes the entry of a version that is in its page already.
  ///
  /// @param key of the version, empty if it has no entry; it gets the row identifier
  /// @param exempt whether the key is unique whatever the others are
  /// @throws DuplicateKey another row has it
  /// @throws RowConflict a transaction in progress decides whether another row has it, or a serializable one has looked for the key before
  ///     another row got it
  void add(Writer transaction, TableIndex index, KeyBuffer key, boolean exempt, long rowId) {
    int keyLength = key.length;
    if (keyLength == 0) {
      return;
    }
    index.complete(key, rowId);
    if (!index.definition.unique() || exempt) {
      index.tree.insert(key);
      return;
    }
    synchronized (index.stripe(key, keyLength)) {
      checkUnique(transaction, index, key, keyLength, rowId);
      index.tree.insert(key);
    }
  }

  /// See [dev.kakehashi.engine.store.api.TableStore#requireUnique].
  void requireUnique(Writer transaction, TableIndex index, long rowId) {
    // Our version and entry are there for everybody before we look for those of others.
    VarHandle.fullFence();
    Page page = table.pageOf(rowId);
    int slot = Page.slotOf(rowId);
    RowVersion version = new RowVersion(table.form.layout.columns);
    KeyBuffer key = new KeyBuffer(64);
    boolean exempt;
    int cell = readers.enter();
    try {
      long seen;
      int spins = 0;
      boolean gone;
      do {
        Page.pause(spins++);
        seen = page.stableVersion();
        gone = Stamp.isTombstone(page.stamp(slot));
        version.readHead(page, slot);
      } while (!page.validate(seen));
      exempt = gone || index.encode(version, key);
    } finally {
      readers.leave(cell);
    }
    if (!exempt) {
      checkUnique(transaction, index, key, key.length, rowId);
    }
  }

  /// Looks whether another row has a key. The caller has the lock of the key's stripe, or has made its own entry before.
  ///
  /// @param key may have the row identifier behind `keyLength` bytes
  void checkUnique(Writer transaction, TableIndex index, KeyBuffer key, int keyLength, long rowId) {
    EntryBatch entries = new EntryBatch();
    KeyBuffer position = new KeyBuffer(keyLength + 8);
    position.set(key.bytes, 0, keyLength);
    KeyBuffer other = new KeyBuffer(keyLength);
    boolean inclusive = true;
    boolean more = true;
    while (more) {
      more = index.tree.fetchForward(position, inclusive, null, UNIQUE_FETCH, entries);
      inclusive = entries.inclusive;
      for (int i = 0; i < entries.count(); i++) {
        int from = entries.offset(i);
        if (!Arrays.equals(
            entries.bytes(),
            from,
            from + Math.min(keyLength, entries.length(i)),
            key.bytes,
            0,
            keyLength)) {
          return;
        }
        if (entries.rowId(i) != rowId) {
          int cell = readers.enter();
          try {
            checkOtherRow(transaction, index, key, keyLength, entries.rowId(i), other);
          } finally {
            readers.leave(cell);
          }
        }
      }
    }
  }

  /// Refuses a key that another row has, or will have if its transaction ends the one way or the other.
  private void checkOtherRow(
      Writer transaction,
      TableIndex index,
      KeyBuffer key,
      int keyLength,
      long rowId,
      KeyBuffer other) {
    RowLayout layout = table.form.layout;
    Page page = table.page(rowId >>> Page.SLOT_BITS);
    int slot = Page.slotOf(rowId);
    if (page == null) {
      return;
    }
    RowVersion version = new RowVersion(layout.columns);
    for (int spins = 0; ; spins++) {
      long seen = page.stableVersion();
      long stamp = page.stamp(slot);
      long undo = page.undo(slot);
      version.readHead(page, slot);
      boolean inFlight = Stamp.isInFlight(stamp);
      boolean own = inFlight && Stamp.slot(stamp) == transaction.slot();
      long committed =
          !inFlight ? Stamp.timestamp(stamp) : own ? 0 : slots.commitTimestamp(Stamp.slot(stamp));
      boolean undecided = inFlight && !own && committed == 0;
      SlotOwner owner = undecided ? slots.owner(Stamp.slot(stamp)) : null;
      if (!page.validate(seen)) {
        Page.pause(spins);
        continue;
      }
      boolean matches = !Stamp.isTombstone(stamp) && hasKey(index, version, key, keyLength, other);
      if (!undecided) {
        if (matches) {
          throw duplicate(transaction, index, key, keyLength, page, slot, committed);
        }
        return;
      }
      // A rollback, whole or to a savepoint, may bring back any version down to the committed one.
      for (long at = undo; at != 0 && !matches; ) {
        long older = Native.getLong(at + RowLayout.UNDO_STAMP);
        version.readUndo(layout, at);
        matches = !Stamp.isTombstone(older) && hasKey(index, version, key, keyLength, other);
        at = Stamp.isInFlight(older) ? Native.getLong(at + RowLayout.UNDO_PREVIOUS) : 0;
      }
      if (matches) {
        throw RowConflicts.owned(owner, page, slot);
      }
      return;
    }
  }

  /// The error for a key that is there. A serializable transaction depends on that key then. If it has looked for the key before and found
  /// none, it is told to try again instead.
  ///
  /// @param committed when the other row got the key; 0: by the transaction itself
  private RuntimeException duplicate(
      Writer transaction,
      TableIndex index,
      KeyBuffer key,
      int keyLength,
      Page page,
      int slot,
      long committed) {
    table.store.hasSeen(transaction.slot(), committed);
    boolean newer = committed > transaction.snapshot();
    ReadSet reads = transaction.readSet();
    if (reads != null && committed != 0) {
      if (newer && new RowReader(table.store).touches(page, slot, committed, reads)) {
        return RowConflicts.readChanged(page, slot);
      }
      (newer ? reads.newest() : reads)
          .addRange(
              table.tableId(), ReadSet.Range.of(index.definition.indexId(), key.bytes, keyLength));
    }
    return new DuplicateKey(index.definition, newer);
  }

  private static boolean hasKey(
      TableIndex index, RowVersion version, KeyBuffer key, int keyLength, KeyBuffer other) {
    index.encode(version, other);
    return Arrays.equals(other.bytes, 0, other.length, key.bytes, 0, keyLength);
  }

  /// Removes an entry unless some version that may still be read has its key.
  ///
  /// @param key with the row identifier; of a version without an entry that alone
  void drop(TableIndex index, Page page, int slot, KeyBuffer key, long horizon) {
    if (key.length == Long.BYTES) {
      return;
    }
    page.latch();
    try {
      if (!isNeeded(index, page, slot, key, horizon)) {
        index.tree.remove(key);
      }
    } finally {
      page.unlatch();
    }
  }

  /// Whether some version of a row that may still be read has the key of an entry. The caller has the page's latch, or nobody changes it.
  boolean isNeeded(TableIndex index, Page page, int slot, KeyBuffer key, long horizon) {
    RowLayout layout = table.form.layout;
    RowVersion version = new RowVersion(layout.columns);
    KeyBuffer other = new KeyBuffer(key.length);
    int keyLength = key.length - 8;
    long stamp = page.stamp(slot);
    long undo = page.undo(slot);
    version.readHead(page, slot);
    while (true) {
      if (!Stamp.isTombstone(stamp) && hasKey(index, version, key, keyLength, other)) {
        return true;
      }
      boolean lastNeeded = !Stamp.isInFlight(stamp) && Stamp.timestamp(stamp) <= horizon;
      if (lastNeeded || undo == 0) {
        return false;
      }
      stamp = Native.getLong(undo + RowLayout.UNDO_STAMP);
      version.readUndo(layout, undo);
      undo = Native.getLong(undo + RowLayout.UNDO_PREVIOUS);
    }
  }
}
