package dev.kakehashi.engine.store.check;

import dev.kakehashi.engine.store.index.EntryBatch;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.table.RowTable;
import dev.kakehashi.engine.store.transaction.StoreTransactions;
import java.util.Arrays;
import java.util.Set;
import java.util.function.LongFunction;

/// Compares the indexes of an open store with its rows, both ways, while nobody changes anything: every row has its entry, every entry a
/// version of its row that somebody may read, a unique key has one row, and the number of rows is the one that is kept.
public final class IndexCheck {
  private static final int FETCH = 256;

  private final StoreTransactions store;
  private final Set<Long> uniqueIndexes;
  private final CheckListener report;
  private final long horizon;

  private IndexCheck(StoreTransactions store, Set<Long> uniqueIndexes, CheckListener report) {
    this.store = store;
    this.uniqueIndexes = uniqueIndexes;
    this.report = report;
    this.horizon = store.parts().horizon();
  }

  /// @param names what tables are called
  /// @param uniqueIndexes indexes whose keys are unique although the store does not refuse duplicates
  public static void run(
      StoreTransactions store,
      LongFunction<String> names,
      Set<Long> uniqueIndexes,
      CheckListener report) {
    store.collector().collect();
    IndexCheck check = new IndexCheck(store, uniqueIndexes, report);
    for (RowTable table : store.tables().all()) {
      String name = names.apply(table.tableId());
      check.count(table, name);
      for (TableIndex index : table.form.indexes()) {
        check.index(table, index, "%s: index \"%s\"".formatted(name, index.definition.name()));
      }
    }
  }

  private void count(RowTable table, String name) {
    long rows = 0;
    for (long number = 0; number < table.pageCount(); number++) {
      Page page = table.page(number);
      for (int slot = 0; page != null && slot < page.used; slot++) {
        rows += isCommittedRow(page, slot) ? 1 : 0;
      }
    }
    if (rows != table.rowCount() && store.prepared().size() == 0) {
      report.problem(
          "%s: %d rows are counted, %d are there".formatted(name, table.rowCount(), rows));
    }
  }

  private static boolean isCommittedRow(Page page, int slot) {
    long stamp = page.stamp(slot);
    return !Stamp.isInFlight(stamp) && !Stamp.isTombstone(stamp);
  }

  private void index(RowTable table, TableIndex index, String name) {
    KeyBuffer key = new KeyBuffer(64);
    RowVersion version = new RowVersion(table.form.layout.columns);
    EntryBatch found = new EntryBatch();
    KeyBuffer position = new KeyBuffer(64);
    for (long number = 0; number < table.pageCount(); number++) {
      Page page = table.page(number);
      for (int slot = 0; page != null && slot < page.used; slot++) {
        if (!Stamp.isTombstone(page.stamp(slot))) {
          version.readHead(page, slot);
          index.encode(version, key);
          boolean hasEntry = key.length > 0;
          key.putLong(page.rowId(slot));
          position.set(key);
          if (hasEntry && !has(index, position, key, found)) {
            report.problem("%s: row %d has no entry".formatted(name, page.rowId(slot)));
          }
        }
      }
    }
    report.checked("%s: %d entries".formatted(name, entries(table, index, name)));
  }

  private static boolean has(
      TableIndex index, KeyBuffer position, KeyBuffer key, EntryBatch found) {
    boolean inclusive = true;
    boolean more = true;
    while (more) {
      more = index.tree.fetchForward(position, inclusive, null, 1, found);
      inclusive = found.inclusive;
      if (found.count() > 0) {
        return found.compare(0, key) == 0;
      }
    }
    return false;
  }

  private long entries(RowTable table, TableIndex index, String name) {
    EntryBatch found = new EntryBatch();
    KeyBuffer position = new KeyBuffer(64);
    KeyBuffer key = new KeyBuffer(64);
    KeyBuffer before = new KeyBuffer(64);
    boolean unique =
        index.definition.unique() || uniqueIndexes.contains(index.definition.indexId());
    long rowBefore = -1;
    long count = 0;
    boolean inclusive = true;
    boolean more = true;
    while (more) {
      more = index.tree.fetchForward(position, inclusive, null, FETCH, found);
      inclusive = found.inclusive;
      for (int i = 0; i < found.count(); i++) {
        count++;
        key.set(found.bytes(), found.offset(i), found.length(i));
        long rowId = found.rowId(i);
        if (!belongs(table, index, rowId, key)) {
          report.problem("%s: entry %s has no row %d".formatted(name, key, rowId));
        } else if (unique && isCurrent(table, index, rowId, key)) {
          if (rowBefore >= 0 && sameKey(before, key)) {
            report.problem(
                "%s: rows %d and %d have the same key".formatted(name, rowBefore, rowId));
          }
          before.set(key);
          rowBefore = rowId;
        }
      }
    }
    return count;
  }

  private boolean belongs(RowTable table, TableIndex index, long rowId, KeyBuffer key) {
    Page page = table.page(rowId >>> Page.SLOT_BITS);
    int slot = Page.slotOf(rowId);
    return page != null && slot < page.used && table.isNeeded(index, page, slot, key, horizon);
  }

  /// Whether an entry is that of a committed row whose key no other may have.
  private static boolean isCurrent(RowTable table, TableIndex index, long rowId, KeyBuffer key) {
    Page page = table.page(rowId >>> Page.SLOT_BITS);
    int slot = Page.slotOf(rowId);
    if (page == null || !isCommittedRow(page, slot)) {
      return false;
    }
    RowVersion version = new RowVersion(table.form.layout.columns);
    version.readHead(page, slot);
    KeyBuffer now = new KeyBuffer(key.length);
    boolean exempt = index.encode(version, now);
    now.putLong(rowId);
    return !exempt && Arrays.equals(now.bytes, 0, now.length, key.bytes, 0, key.length);
  }

  private static boolean sameKey(KeyBuffer a, KeyBuffer b) {
    return Arrays.equals(a.bytes, 0, a.length - 8, b.bytes, 0, b.length - 8);
  }
}
