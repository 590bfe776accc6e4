package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowConflicts;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.version.TransactionSlots;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Who keeps rows of one table, and their unique keys, from going away: what rows of other tables that reference them need until their transaction ends
/// (FOR KEY SHARE of PostgreSQL). Shared: any number of transactions may lock a row, and other columns of it may be changed meanwhile.
///
/// **Against deletion.** Under snapshot isolation alone an insert of a referencing row and a deletion of the row that it references, in two
/// transactions, would both commit: neither changes a row of the other. Here both look at the same two things under the latch of the referenced row's page:
///
/// * who references latches, looks at the newest version (not only at the one that its snapshot shows), and enters the lock in the same hold of the latch;
/// * who deletes, or changes a unique key, latches, looks for locks of others, and writes its version in the same hold of the latch.
///
/// So one of them comes first. If the lock does, the deletion meets it and waits for its owner's end as for a row that another transaction has changed; the end of a
/// transaction lets go of its locks after its commit has been published, so the deletion, which then looks for referencing rows with a snapshot of that moment
/// ([dev.kakehashi.engine.store.api.StoreTransaction#beginLatest]), sees what the other has committed. If the deletion does, who references meets its version, and waits for its end.
///
/// **Many locks.** A transaction that has [#MOST_ROWS] locks in a table takes all of them at once. That lock is entered without a latch, but
/// before the newest version is looked at under the latch, and is looked for under the latch before a version is written: the latch orders the two.
///
/// Locks are in memory only. Those of transactions that an earlier run has prepared are taken again as a whole table's when the store is opened.
public final class KeyLocks {
  /// Rows of one table that a transaction locks one by one.
  static final int MOST_ROWS = 1 << 13;

  private static final Writer[] NOBODY = {};

  private final RowTable table;

  /// Set for good by the first lock, so that tables that nobody references pay one read.
  private volatile boolean used;

  private final Map<Long, Writer[]> rows = new ConcurrentHashMap<>();

  /// Owners of locks of all rows. Replaced under this.
  private volatile Writer[] owners = NOBODY;

  KeyLocks(RowTable table) {
    this.table = table;
  }

  /// What one transaction has locked, by table. Used like the transaction itself.
  public static final class Held {
    private final IdentityHashMap<RowTable, Rows> tables = new IdentityHashMap<>(2);

    private static final class Rows {
      long[] ids = new long[4];
      int count;
      boolean all;
    }

    /// Lets go of everything.
    public void release(Writer owner) {
      tables.forEach((table, held) -> {
        if (held.all) {
          table.keyLocks.removeOwner(owner);
        }
        for (int i = 0; i < held.count; i++) {
          table.keyLocks.rows.computeIfPresent(held.ids[i], (id, all) -> without(all, owner));
        }
      });
      tables.clear();
    }
  }

  /// Locks the row for the transaction, if nobody else has changed what it was found by.
  ///
  /// @param columns of the table
  /// @param key their values, in row `row`
  /// @return false if the row is gone
  /// @throws RowConflict if another transaction has deleted it, or changed the columns
  boolean lock(Writer transaction, Page page, int slot, int[] columns, VectorBatch key, int row) {
    used = true;
    Held.Rows held = transaction.heldKeys().tables.computeIfAbsent(table, _ -> new Held.Rows());
    if (!held.all && held.count == MOST_ROWS) {
      held.all = true;
      addOwner(transaction);
    }
    page.latch();
    try {
      long stamp = slot < page.used ? page.stamp(slot) : Stamp.NOTHING;
      if (Stamp.isInFlight(stamp) && Stamp.slot(stamp) == transaction.slot()) {
        // Nobody else can replace it, and what relies on it is rolled back before it.
        return !Stamp.isTombstone(stamp);
      }
      TransactionSlots slots = table.store.slots();
      if (Stamp.isInFlight(stamp)) {
        long timestamp = slots.commitTimestamp(Stamp.slot(stamp));
        if (timestamp != 0) {
          page.commitStamp(slot, stamp, timestamp);
          stamp = page.stamp(slot);
        }
      }
      if (Stamp.isTombstone(stamp) || !isKey(page, slot, columns, key, row)) {
        if (Stamp.isInFlight(stamp)) {
          throw RowConflicts.owned(slots.owner(Stamp.slot(stamp)), page, slot);
        }
        table.store.hasSeen(transaction.slot(), Stamp.timestamp(stamp));
        if (Stamp.timestamp(stamp) > transaction.snapshot()) {
          throw RowConflicts.changed(page, slot);
        }
        return false;
      }
      if (!held.all) {
        enter(transaction, held, page.rowId(slot));
      }
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

  private void enter(Writer transaction, Held.Rows held, long rowId) {
    if (held.count == held.ids.length) {
      held.ids = Arrays.copyOf(held.ids, 2 * held.count);
    }
    Writer[] before = rows.get(rowId);
    if (before != null && Arrays.asList(before).contains(transaction)) {
      return;
    }
    rows.merge(rowId, new Writer[] {transaction}, KeyLocks::with);
    held.ids[held.count++] = rowId;
  }

  /// Locks all rows.
  void lockAll(Writer transaction) {
    used = true;
    transaction.heldKeys().tables.computeIfAbsent(table, _ -> new Held.Rows()).all = true;
    addOwner(transaction);
  }

  /// Under the latch of the row's page, before a version is written without the row's keys.
  ///
  /// @throws RowConflict if another transaction has locked the row
  void refuse(Writer transaction, Page page, int slot) {
    if (!used) {
      return;
    }
    Writer other = other(transaction, owners);
    if (other == null) {
      other = other(transaction, rows.getOrDefault(page.rowId(slot), NOBODY));
    }
    if (other != null) {
      throw RowConflicts.owned(other, page, slot);
    }
  }

  @SuppressWarnings("ReferenceEquality") // the same transaction
  private static @Nullable Writer other(Writer transaction, Writer[] all) {
    for (Writer each : all) {
      if (each != transaction) {
        return each;
      }
    }
    return null;
  }

  private synchronized void addOwner(Writer owner) {
    owners = with(owners, new Writer[] {owner});
  }

  private synchronized void removeOwner(Writer owner) {
    Writer[] left = without(owners, owner);
    owners = left == null ? NOBODY : left;
  }

  private static Writer[] with(Writer[] all, Writer[] more) {
    Writer[] result = Arrays.copyOf(all, all.length + 1);
    result[all.length] = more[0];
    return result;
  }

  @SuppressWarnings("ReferenceEquality") // the same transaction
  private static Writer @Nullable [] without(Writer[] all, Writer owner) {
    Writer[] left = Arrays.stream(all).filter(each -> each != owner).toArray(Writer[]::new);
    return left.length == 0 ? null : left;
  }
}
