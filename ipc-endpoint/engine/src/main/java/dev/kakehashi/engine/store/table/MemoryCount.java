package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.TableMemory;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.Stamp;
import dev.kakehashi.engine.store.row.TableIndex;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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
    long[] values = valueBytes(table, pages);
    List<TableMemory.OfColumn> columns = new ArrayList<>();
    for (int c : table.form.definition().placement().positions()) {
      long ofPages = 0;
      for (long number = 0; number < table.pageCount(); number++) {
        Page page = table.page(number);
        ofPages += page == null ? 0 : page.memoryBytes(c);
      }
      columns.add(new TableMemory.OfColumn(ofPages, values[c]));
    }
    return new TableMemory(
        table.rowCount(),
        pageBytes,
        Arrays.stream(values).sum(),
        nodes * MemoryPool.NODE_BYTES,
        columns);
  }

  /// The values of each stored column.
  private static long[] valueBytes(RowTable table, long pages) {
    RowLayout layout = table.form.layout;
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
          addValueBytes(table, page, bytes);
        }
      }
    }
    for (int c : layout.byReference) {
      bytes[c] = sampled == 0 ? 0 : (long) ((double) bytes[c] / sampled * pages);
      bytes[c] += layout.sharedBytes(c);
    }
    return bytes;
  }

  private static void addValueBytes(RowTable table, Page page, long[] bytes) {
    RowLayout layout = table.form.layout;
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
