package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.TableMemory;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;

/// Counts what a table has of the store's memory.
public final class MemoryCount {
  /// Pages whose values are looked at, at most.
  private static final int SAMPLED_PAGES = 16;

  private MemoryCount() {}

  /// Memory of a table. The caller has a transaction that has begun before: no value that is found is freed meanwhile.
  public static TableMemory of(RowTable table) {
    long pages = 0;
    long pageBytes = 0;
    for (long number = 0; number < table.pageCount(); number++) {
      Page page = table.page(number);
      if (page != null && page.hasMemory()) {
        pages++;
        pageBytes += page.memoryBytes();
      }
    }
    long nodes = 0;
    for (TableIndex index : table.form.indexes()) {
      nodes += index.tree.nodes();
    }
    return new TableMemory(
        pageBytes,
        valueBytes(table, pages) + table.form.layout.sharedBytes(),
        nodes * MemoryPool.NODE_BYTES);
  }

  private static long valueBytes(RowTable table, long pages) {
    if (table.form.layout.byReference.length == 0) {
      return 0;
    }
    long step = Math.max(1, pages / SAMPLED_PAGES);
    long sampled = 0;
    long bytes = 0;
    long found = 0;
    for (long number = 0; number < table.pageCount(); number++) {
      Page page = table.page(number);
      if (page != null && page.hasMemory()) {
        if (found++ % step == 0) {
          sampled++;
          bytes += valueBytes(table, page);
        }
      }
    }
    return sampled == 0 ? 0 : (long) ((double) bytes / sampled * pages);
  }

  private static long valueBytes(RowTable table, Page page) {
    RowLayout layout = table.form.layout;
    RowVersion version = new RowVersion(layout.columns);
    long bytes = 0;
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
            bytes += MemoryPool.blockBytes(VarlenaLengths.bytes(layout.kinds[c], version.words[c]));
          }
        }
      } finally {
        table.store.chainReaders().leave(cell);
      }
    }
    return bytes;
  }
}
