package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowConflicts;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.version.SlotOwner;
import dev.kakehashi.engine.store.version.TransactionSlots;
import dev.kakehashi.engine.vector.Interrupts;

/// Enters every version that anybody may read into a new index, beside writers who know the index already.
///
/// The index is exact, though nobody stops:
///
/// * The index is in the table's list before the first page is looked at. A writer reads that list while it has the page's latch. So its
///   change is either finished when we look at the row, or the writer makes the entries itself.
/// * An entry is made under the page's latch, and only if a version that may be read has its key in this moment. A transaction that takes
///   back such a version later does so under the latch, and looks for entries to drop afterwards.
/// * It drops entries if the undo record says that keys changed. Records from before the index know nothing of its columns: they are told
///   here, under the latch.
/// * The collector frees nothing meanwhile; the caller sees to that.
///
/// Used by one thread.
final class IndexBuild {
  /// Rows between two looks whether the statement was canceled, less one.
  private static final int CHECK_MASK = (1 << 8) - 1;

  private final RowTable table;
  private final Writer transaction;
  private final TableIndex index;
  private final long horizon;
  private final TransactionSlots slots;
  private final RowVersion version;
  private final KeyBuffer key = new KeyBuffer(64);

  /// @param transaction whose index it is: its own rows are no conflict
  /// @param horizon snapshots from here on may be in use
  IndexBuild(RowTable table, Writer transaction, TableIndex index, long horizon) {
    this.table = table;
    this.transaction = transaction;
    this.index = index;
    this.horizon = horizon;
    this.slots = table.store.slots();
    this.version = new RowVersion(table.form.layout.columns);
  }

  /// @throws DuplicateKey two rows have the same key of a unique index
  /// @throws RowConflict a transaction in progress decides whether they have
  /// @throws RuntimeException that of [Interrupts#check()]
  void run() {
    for (long number = 0; number < table.pageCount(); number++) {
      Page page = table.page(number);
      int used = page == null ? 0 : page.stableUsed();
      for (int slot = 0; page != null && slot < used; slot++) {
        if ((slot & CHECK_MASK) == 0) {
          Interrupts.check();
        }
        enterRow(page, slot);
      }
    }
  }

  private void enterRow(Page page, int slot) {
    boolean entered = false;
    while (!entered) {
      entered = tryEnterRow(page, slot);
    }
  }

  /// @return false if the row changed while its key was compared with those of other rows
  private boolean tryEnterRow(Page page, int slot) {
    long head;
    long chain;
    long seen;
    int spins = 0;
    do {
      Page.pause(spins++);
      seen = page.stableVersion();
      head = page.stamp(slot);
      chain = page.undo(slot);
      version.readHead(page, slot);
    } while (!page.validate(seen));
    boolean undecided =
        Stamp.isInFlight(head)
            && Stamp.slot(head) != transaction.slot()
            && slots.commitTimestamp(Stamp.slot(head)) == 0;
    SlotOwner owner = undecided ? slots.owner(Stamp.slot(head)) : null;
    try {
      if (!Stamp.isTombstone(head)) {
        enter(page, slot, true);
      }
      long stamp = head;
      long undo = chain;
      boolean current = undecided;
      while (undo != 0 && isOlderNeeded(stamp)) {
        stamp = Native.getLong(undo + RowLayout.UNDO_STAMP);
        version.readUndo(table.form.layout, undo);
        undo = Native.getLong(undo + RowLayout.UNDO_PREVIOUS);
        if (!Stamp.isTombstone(stamp)) {
          enter(page, slot, current);
        }
        // The versions that a rollback may bring back end with the committed one.
        current &= Stamp.isInFlight(stamp);
      }
      return true;
    } catch (DuplicateKey duplicate) {
      if (!isUnchanged(page, slot, head, chain)) {
        return false; // it may have given the key away, and another row has taken it
      }
      if (undecided) {
        throw RowConflicts.owned(owner, page, slot); // there is one only if it ends the one way
      }
      throw duplicate;
    }
  }

  /// Whether somebody may read what is behind a version.
  private boolean isOlderNeeded(long stamp) {
    return Stamp.isInFlight(stamp) || Stamp.timestamp(stamp) > horizon;
  }

  private static boolean isUnchanged(Page page, int slot, long head, long chain) {
    page.latch();
    try {
      return page.stamp(slot) == head && page.undo(slot) == chain;
    } finally {
      page.unlatch();
    }
  }

  /// @param current whether the row has the key now, or may have it again by a rollback
  private void enter(Page page, int slot, boolean current) {
    boolean exempt = index.encode(version, key);
    int keyLength = key.length;
    if (keyLength == 0) {
      return;
    }
    index.complete(key, page.rowId(slot));
    if (!current || exempt || !index.definition.unique()) {
      enterIfNeeded(page, slot);
      return;
    }
    synchronized (index.stripe(key, keyLength)) {
      table.entries.checkUnique(transaction, index, key, keyLength, page.rowId(slot));
      enterIfNeeded(page, slot);
    }
  }

  private void enterIfNeeded(Page page, int slot) {
    page.latch();
    try {
      if (table.entries.isNeeded(index, page, slot, key, horizon)) {
        index.tree.insert(key);
        tellChain(page, slot);
      }
    } finally {
      page.unlatch();
    }
  }

  private void tellChain(Page page, int slot) {
    long stamp = page.stamp(slot);
    long undo = page.undo(slot);
    while (undo != 0 && isOlderNeeded(stamp)) {
      RowLayout.setKeysChanged(undo);
      stamp = Native.getLong(undo + RowLayout.UNDO_STAMP);
      undo = Native.getLong(undo + RowLayout.UNDO_PREVIOUS);
    }
  }
}
