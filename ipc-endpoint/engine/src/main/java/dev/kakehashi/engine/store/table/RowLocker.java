package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.LockStrength;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.memory.Native;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowConflicts;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.SharedLocks;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.version.TransactionSlots;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;

/// Locks rows of one table for transactions, until they end. Thread-safe.
///
/// The four strengths of [LockStrength] are in two places. A row has one holder of NO_KEY_UPDATE or UPDATE: a version in flight is its
/// lock, whether it changes the row or is the same with a new stamp, and the stamp says which of the two it is ([Stamp#locksKeys]).
/// KEY_SHARE and SHARE have many holders, and are listed beside the page ([SharedLocks]): they are locks of the row, whatever versions of
/// it come.
///
/// **Why nobody is overlooked.** All of this is looked at and written under the latch of the row's page:
///
/// * To share the row, a transaction takes the latch. In the same hold it looks at the stamp of the newest version (not only of the
///   snapshot's version) and lists the lock.
/// * To change the row, a transaction takes the latch. In the same hold it looks for shared locks of others that conflict, and writes its
///   version.
///
/// So one of two conflicting transactions comes first, and the other one meets it, and waits for its end. The end of a transaction lets go
/// of its shared locks after its commit has been published. A deletion may wait for a referencing row, and then look for referencing rows
/// with a snapshot of that moment ([StoreTransaction#beginLatest]). So it sees the changes that the other has committed.
///
/// **Keys.** An update that leaves all keys that can be referenced goes on beside KEY_SHARE, and the other way round: the version is in
/// flight, and a reader of the one before it holds the row all the same. [RowWriter#referencedKeysDiffer] says which keys can be
/// referenced.
///
/// Shared locks are in memory, and in the record of a prepared transaction. Records of older versions do not have them; a transaction with
/// such a record holds the keys of all rows of a table.
final class RowLocker {
  private static final StoreTransaction[] NOBODY = {};

  private final RowTable table;

  /// Owners of the keys of all rows. Written before the store serves anybody, and when one of them ends, under this; read by each
  /// transaction that changes keys.
  private volatile StoreTransaction[] owners = NOBODY;

  RowLocker(RowTable table) {
    this.table = table;
  }

  /// See [dev.kakehashi.engine.store.api.TableStore#lock].
  boolean lock(Writer transaction, long rowId, LockStrength strength) {
    return strength.isShared()
        ? share(transaction, rowId, strength)
        : lockAlone(transaction, rowId, strength);
  }

  // ---- one holder ----

  private boolean lockAlone(Writer transaction, long rowId, LockStrength strength) {
    RowLayout layout = table.form.layout;
    transaction.reserveWrite();
    Page page = table.pageOf(rowId);
    int slot = Page.slotOf(rowId);
    RowVersion same = new RowVersion(layout.columns);
    boolean keys = strength == LockStrength.UPDATE;
    long record = table.pool.allocateToMakeRoom(layout.undoBytes);
    boolean written = false;
    boolean present;
    page.latch();
    try {
      present = table.writer.mayReplace(transaction, page, slot);
      long stamp = page.stamp(slot);
      if (present && !(Stamp.isInFlight(stamp) && (!keys || Stamp.locksKeys(stamp)))) {
        refuse(transaction, page, slot, strength);
        page.makeRoomForUndo();
        same.readHead(page, slot);
        table.writer.saveUndo(page, slot, record, same, false);
        RowLayout.setLocked(record);
        RowWriter.putStamp(page, slot, transaction.stamp(false), keys, record);
        written = true;
      }
    } finally {
      page.unlatch();
      if (!written) {
        table.pool.free(record, layout.undoBytes);
      }
    }
    if (written) {
      transaction.logWrite(table, page, slot, record);
    }
    return present;
  }

  /// Under the latch of the row's page, before a version is written.
  ///
  /// @param strength what the version is
  /// @throws dev.kakehashi.engine.store.api.RowConflict if other transactions hold the row so that this cannot be
  void refuse(Writer transaction, Page page, int slot, LockStrength strength) {
    SharedLocks locks = page.sharedLocks();
    if (locks != null) {
      List<StoreTransaction> others = locks.others(transaction, slot, strength);
      if (!others.isEmpty()) {
        throw RowConflicts.owned(others, page, slot);
      }
    }
    StoreTransaction[] ofAll = owners;
    if (ofAll.length > 0 && strength == LockStrength.UPDATE) {
      refuseOfAll(ofAll, transaction, page, slot);
    }
  }

  @SuppressWarnings("ReferenceEquality") // the same transaction
  private static void refuseOfAll(
      StoreTransaction[] ofAll, Writer transaction, Page page, int slot) {
    List<StoreTransaction> others = new ArrayList<>();
    for (StoreTransaction each : ofAll) {
      if (each != transaction) {
        others.add(each);
      }
    }
    if (!others.isEmpty()) {
      throw RowConflicts.owned(others, page, slot);
    }
  }

  // ---- many holders ----

  private boolean share(Writer transaction, long rowId, LockStrength strength) {
    HeldLocks held = transaction.heldLocks();
    held.reserve();
    Page page = table.pageOf(rowId);
    int slot = Page.slotOf(rowId);
    page.latch();
    try {
      long stamp = newest(page, slot);
      if (isOwn(stamp, transaction)) {
        // Nobody else can lock a row that the transaction has locked by its version. That version
        // goes after the changes that rely on it.
        return !Stamp.isTombstone(stamp);
      }
      if (Stamp.isInFlight(stamp) && (strength == LockStrength.SHARE || Stamp.locksKeys(stamp))) {
        throw RowConflicts.owned(table.store.slots().owner(Stamp.slot(stamp)), page, slot);
      }
      if (!Stamp.isInFlight(stamp) && Stamp.timestamp(stamp) <= transaction.snapshot()) {
        if (Stamp.isTombstone(stamp)) {
          table.store.hasSeen(transaction.slot(), Stamp.timestamp(stamp));
          return false;
        }
      } else if (strength == LockStrength.SHARE || !hasKeysOfSnapshot(transaction, page, slot)) {
        if (!Stamp.isInFlight(stamp)) {
          table.store.hasSeen(transaction.slot(), Stamp.timestamp(stamp));
        }
        throw RowConflicts.changed(page, slot);
      }
      held.lock(transaction, page, slot, strength);
      return true;
    } finally {
      page.unlatch();
    }
  }

  /// Stamp of the newest version of a latched page's row, with its timestamp if it is committed.
  private long newest(Page page, int slot) {
    long stamp = page.stamp(slot);
    if (Stamp.isInFlight(stamp)) {
      long timestamp = table.store.slots().commitTimestamp(Stamp.slot(stamp));
      if (timestamp != 0) {
        page.commitStamp(slot, stamp, timestamp);
        return page.stamp(slot);
      }
    }
    return stamp;
  }

  private static boolean isOwn(long stamp, Writer transaction) {
    return Stamp.isInFlight(stamp) && Stamp.slot(stamp) == transaction.slot();
  }

  /// Whether the newest version of a latched page's row, which the transaction's snapshot does not see, is a row with the keys of the
  /// version that it sees.
  private boolean hasKeysOfSnapshot(Writer transaction, Page page, int slot) {
    long stamp = page.stamp(slot);
    if (Stamp.isTombstone(stamp)) {
      return false;
    }
    // The version that it sees is there, and under the latch nobody takes anything out of the chain
    // before it.
    long record = page.undo(slot);
    while (record != 0) {
      stamp = Native.getLong(record + RowLayout.UNDO_STAMP);
      if (!Stamp.isInFlight(stamp) && Stamp.timestamp(stamp) <= transaction.snapshot()) {
        break;
      }
      record = Native.getLong(record + RowLayout.UNDO_PREVIOUS);
    }
    if (record == 0 || Stamp.isTombstone(stamp)) {
      return false;
    }
    RowLayout layout = table.form.layout;
    RowVersion newest = new RowVersion(layout.columns);
    RowVersion seen = new RowVersion(layout.columns);
    newest.readHead(page, slot);
    seen.readUndo(layout, record);
    return !RowWriter.referencedKeysDiffer(table.form.indexes(), newest, seen);
  }

  /// Locks the row that a foreign key has found, if nobody has changed what it was found by: see
  /// [dev.kakehashi.engine.store.api.TableStore#lockKey].
  boolean lockKey(
      Writer transaction, Page page, int slot, int[] columns, VectorBatch key, int row) {
    HeldLocks held = transaction.heldLocks();
    held.reserve();
    TransactionSlots slots = table.store.slots();
    page.latch();
    try {
      long stamp = newest(page, slot);
      if (isOwn(stamp, transaction)) {
        // Nobody else can replace it, and what relies on it is rolled back before it.
        return !Stamp.isTombstone(stamp);
      }
      if (Stamp.isInFlight(stamp) && Stamp.locksKeys(stamp)) {
        throw RowConflicts.owned(slots.owner(Stamp.slot(stamp)), page, slot);
      }
      if (Stamp.isTombstone(stamp) || !isKey(page, slot, columns, key, row)) {
        if (Stamp.isInFlight(stamp)) {
          // The transaction that has the row leaves its keys: a commit before has changed them.
          throw RowConflicts.changed(page, slot);
        }
        table.store.hasSeen(transaction.slot(), Stamp.timestamp(stamp));
        if (Stamp.timestamp(stamp) > transaction.snapshot()) {
          throw RowConflicts.changed(page, slot);
        }
        return false;
      }
      held.lock(transaction, page, slot, LockStrength.KEY_SHARE);
      return true;
    } finally {
      page.unlatch();
    }
  }

  private static boolean isKey(Page page, int slot, int[] columns, VectorBatch key, int row) {
    RowLayout layout = page.form.layout;
    for (int i = 0; i < columns.length; i++) {
      int c = columns[i];
      long word = page.word(c, slot);
      long wanted = key.columns[i].words[row];
      if (page.isNull(c, slot)) {
        return false;
      }
      if (layout.kinds[c].byReference()
          ? !RowWriter.isSameValue(layout.kinds[c], word, wanted)
          : word != wanted) {
        return false;
      }
    }
    return true;
  }

  // ---- transactions that an earlier run has prepared ----

  /// Takes a lock of a prepared transaction again. Before anybody is served.
  void restore(Writer transaction, long rowId, LockStrength strength) {
    Page page = table.pages.pageForRecovery(rowId >>> Page.SLOT_BITS);
    int slot = Page.slotOf(rowId);
    HeldLocks held = transaction.heldLocks();
    held.reserve();
    page.latch();
    try {
      long stamp = page.stamp(slot);
      if (strength.isShared()) {
        held.lock(transaction, page, slot, strength);
      } else if (isOwn(stamp, transaction) && strength == LockStrength.UPDATE) {
        page.setStamp(slot, Stamp.lockingKeys(stamp));
      }
    } finally {
      page.unlatch();
    }
  }

  /// Holds the keys of all rows for a transaction of which nobody knows which they were. Before anybody is served.
  void lockAll(Writer transaction) {
    synchronized (this) {
      StoreTransaction[] more = java.util.Arrays.copyOf(owners, owners.length + 1);
      more[owners.length] = transaction;
      owners = more;
    }
    transaction.heldLocks().addWhole(this);
  }

  @SuppressWarnings("ReferenceEquality") // the same transaction
  synchronized void removeOwner(StoreTransaction owner) {
    owners =
        java.util.Arrays.stream(owners)
            .filter(each -> each != owner)
            .toArray(StoreTransaction[]::new);
  }
}
