package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.BulkInsert.Duplicates;
import dev.kakehashi.engine.store.api.DuplicateKey;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.TreeLoad;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.TableIndex;
import java.util.Set;

/// Entries of one index that a bulk insertion has collected. Threads that collect have an [EntryCollector] each; the rest is used by the
/// thread that finishes.
///
/// An index without an entry gets a tree that is built of them. To others they are entered in their order, which meets each leaf once,
/// while it is in the processor's cache.
final class BulkIndex implements AutoCloseable {
  private final RowTable table;
  private final Writer transaction;
  private final TableIndex index;

  /// Entries whose keys may be there once, if the index is unique.
  private final TreeLoad keys;

  /// Entries of keys with a null, which makes them unique.
  private final TreeLoad exempt;

  BulkIndex(BulkInsertion insertion, TableIndex index) {
    this.table = insertion.table;
    this.transaction = insertion.transaction;
    this.index = index;
    this.keys = index.tree.load();
    this.exempt = index.tree.load();
  }

  EntryCollector newCollector(boolean ofExempt) {
    return new EntryCollector(ofExempt ? exempt : keys);
  }

  /// Enters everything.
  ///
  /// @param refused rows that are taken back; gets those that are refused here
  void enter(Duplicates duplicates, Set<Long> refused) {
    boolean unique = index.definition.unique();
    keys.merge();
    if (unique) {
      keys.forEachEqual((a, b) -> decide(duplicates, refused, a, b));
    }
    if (!keys.isEmpty() && !adopt(unique)) {
      keys.addAll(
          unique,
          refused.isEmpty() ? null : refused::contains,
          unique ? index::withAllStripes : Runnable::run,
          (key, rowId) -> insert(key, rowId, !unique, duplicates, refused));
    }
    exempt.merge();
    if (!exempt.isEmpty() && !exempt.tryComplete()) {
      exempt.addAll(
          false,
          refused.isEmpty() ? null : refused::contains,
          Runnable::run,
          (key, rowId) -> insert(key, rowId, true, duplicates, refused));
    }
    enterLongKeys(duplicates, refused);
  }

  /// Nobody looks whether a key is there, and makes its entry, meanwhile.
  private boolean adopt(boolean unique) {
    if (!unique) {
      return keys.tryComplete();
    }
    boolean[] adopted = new boolean[1];
    index.withAllStripes(() -> adopted[0] = keys.tryComplete());
    return adopted[0];
  }

  /// Two rows have the same key; returns the one that keeps it.
  private long decide(Duplicates duplicates, Set<Long> refused, long first, long second) {
    if (refused.contains(first)) {
      return second;
    }
    if (refused.contains(second)) {
      return first;
    }
    long gone = duplicates.refused(new DuplicateKey(index.definition, false), second, first);
    refused.add(gone);
    return gone == first ? second : first;
  }

  /// @param key with the row identifier
  private void insert(
      KeyBuffer key, long rowId, boolean free, Duplicates duplicates, Set<Long> refused) {
    if (refused.contains(rowId)) {
      return;
    }
    key.length -= Long.BYTES;
    try {
      table.entries.add(transaction, index, key, free, rowId);
    } catch (DuplicateKey duplicate) {
      refused.add(duplicates.refused(duplicate, rowId, Duplicates.NONE));
    }
  }

  /// Enters rows with long keys one by one, because they are few.
  private void enterLongKeys(Duplicates duplicates, Set<Long> refused) {
    RowVersion version = new RowVersion(table.form.layout.columns);
    KeyBuffer key = new KeyBuffer(64);
    for (long rowId : keys.later()) {
      Page page = table.pageOf(rowId);
      version.readHead(page, Page.slotOf(rowId));
      boolean free = index.encode(version, key);
      key.putLong(rowId);
      insert(key, rowId, free, duplicates, refused);
    }
  }

  /// Frees what has not become a part of the index.
  @Override
  public void close() {
    keys.discard();
    exempt.discard();
  }
}
