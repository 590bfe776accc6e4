package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.TableMemory;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import java.util.Arrays;
import java.util.List;

/// Counts what a table has of the store's memory.
public final class MemoryCount {
  /// Pages whose values are looked at, at most.
  private static final int SAMPLED_PAGES = 16;

  private MemoryCount() {}

  /// Memory of a table. The caller has a transaction that has begun before: no value that is found is freed meanwhile.
  public static TableMemory of(RowTable table) {
    // Before the layout, which has all its columns then.
    List<Integer> positions = table.form.definition().placement().positions();
    RowLayout layout = table.form.layout;
    long[] ofPages = new long[layout.columns];
    long pages = 0;
    long pageBytes = 0;
    for (long number = 0; number < table.pageCount(); number++) {
      Page page = table.page(number);
      if (page != null && page.hasMemory()) {
        pages++;
        pageBytes += page.rowBytes();
        for (int c = 0; c < layout.columns; c++) {
          ofPages[c] += page.columnBytes(c);
        }
      }
    }
    long nodes = 0;
    for (TableIndex index : table.form.indexes()) {
      nodes += index.tree.nodes();
    }
    long[] values = valueBytes(table, layout, pages);
    return new TableMemory(
        table.rowCount(),
        pageBytes + Arrays.stream(ofPages).sum(),
        Arrays.stream(values).sum(),
        nodes * MemoryPool.NODE_BYTES,
        positions.stream().map(c -> new TableMemory.OfColumn(ofPages[c], values[c])).toList());
  }

  /// The values of each stored column.
  private static long[] valueBytes(RowTable table, RowLayout layout, long pages) {
    long[] bytes = new long[layout.columns];
    if (layout.byReference.length == 0) {
      return bytes;
    }
    long step = Math.max(1, pages / SAMPLED_PAGES);
    long sampled = 0;
    long found = 0;
    for (long number = 0; number < table.pageCount(); number++) {
      Page page = table.page(number);
      if (page != null && page.hasMemory()) {
        if (found++ % step == 0) {
          sampled++;
          addValueBytes(table, layout, page, bytes);
        }
      }
    }
    for (int c : layout.byReference) {
      bytes[c] = sampled == 0 ? 0 : (long) ((double) bytes[c] / sampled * pages);
      bytes[c] += layout.sharedBytes(c);
    }
    return bytes;
  }

  private static void addValueBytes(RowTable table, RowLayout layout, Page page, long[] bytes) {
    RowVersion version = new RowVersion(layout.columns);
    int used = page.stableUsed();
    for (int slot = 0; slot < used; slot++) {
      int cell = table.store.chainReaders().enter();
      try {
        long seen;
        int spins = 0;
        boolean isRow;
        do {
          Page.pause(spins++);
          seen = page.stableVersion();
          isRow = !Stamp.isTombstone(page.stamp(slot));
          version.readHead(page, slot, layout.byReference);
        } while (!page.validate(seen));
        for (int c : layout.byReference) {
          if (isRow && layout.isOwned(c, version.words[c])) {
            bytes[c] +=
                MemoryPool.blockBytes(VarlenaLengths.bytes(layout.kinds[c], version.words[c]));
          }
        }
      } finally {
        table.store.chainReaders().leave(cell);
      }
    }
  }
}
