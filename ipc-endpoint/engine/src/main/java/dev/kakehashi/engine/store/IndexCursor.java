package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.index.EntryBatch;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;

/// A scan of an index. Entries are copied out of the tree some at a time; each leads to a row, whose visible version counts if it has the entry's key.
final class IndexCursor implements RowCursor {
  /// Entries of the first fetch; later ones double, up to the largest.
  private static final int FIRST_FETCH = 4;

  private static final int LARGEST_FETCH = 256;

  private final RowTable table;
  private final RowReader reader;
  private final TableIndex index;
  private final boolean reverse;
  private final int[] columns;

  /// Wanted columns and key columns.
  private final int[] needed;

  private final boolean withRowIds;

  private final KeyBuffer position = new KeyBuffer(32);
  private final KeyBuffer bound = new KeyBuffer(32);
  private final boolean hasBound;
  private boolean inclusive = true;
  private boolean unbounded;
  private boolean more = true;
  private int fetch = FIRST_FETCH;
  private final EntryBatch entries = new EntryBatch();
  private int entry;

  private final RowVersion version;
  private final KeyBuffer key = new KeyBuffer(32);

  IndexCursor(
      RowTable table,
      ReadView view,
      TableIndex index,
      KeyRange range,
      boolean reverse,
      int[] columns,
      boolean withRowIds) {
    this.table = table;
    this.reader = new RowReader(table.store, view);
    this.index = index;
    this.reverse = reverse;
    this.columns = columns;
    this.needed = union(columns, index.keyColumns);
    this.withRowIds = withRowIds;
    this.version = new RowVersion(table.layout.columns);
    KeyBuffer from = reverse ? bound : position;
    KeyBuffer to = reverse ? position : bound;
    int bounds = index.codec.encodeRange(range, from, to);
    if ((bounds & 1) == 0) {
      from.length = 0;
    }
    boolean hasTo = (bounds & 2) != 0;
    this.hasBound = reverse ? (bounds & 1) != 0 : hasTo;
    this.unbounded = reverse && !hasTo;
    ReadSet reads = table.store.readSet(view);
    if (reads != null) {
      reads.addRange(
          table.tableId(),
          new ReadSet.Range(
              index.definition.indexId(),
              Arrays.copyOf(from.bytes, from.length),
              hasTo ? Arrays.copyOf(to.bytes, to.length) : null));
    }
  }

  private static int[] union(int[] columns, int[] more) {
    int[] all = Arrays.copyOf(columns, columns.length + more.length);
    int count = columns.length;
    for (int column : more) {
      boolean known = false;
      for (int c : columns) {
        known |= c == column;
      }
      if (!known) {
        all[count++] = column;
      }
    }
    return Arrays.copyOf(all, count);
  }

  @Override
  public boolean next(VectorBatch batch) {
    batch.reset();
    while (batch.size < batch.capacity) {
      if (entry == entries.count()) {
        if (!more) {
          break;
        }
        fetch();
      } else {
        if (isBeyondBound(entry)) {
          close();
          break;
        }
        take(batch, entry++);
      }
    }
    return batch.size > 0;
  }

  private void fetch() {
    entry = 0;
    if (reverse) {
      more = index.tree.fetchBackward(position, unbounded, fetch, entries);
      unbounded = false;
    } else {
      more = index.tree.fetchForward(position, inclusive, hasBound ? bound : null, fetch, entries);
      inclusive = entries.inclusive;
    }
    fetch = Math.min(LARGEST_FETCH, fetch * 4);
  }

  private boolean isBeyondBound(int at) {
    // Forwards the tree has left out what is beyond.
    return reverse && hasBound && entries.compare(at, bound) < 0;
  }

  private void take(VectorBatch batch, int at) {
    long rowId = entries.rowId(at);
    Page page = table.page(rowId >>> Page.SLOT_BITS);
    int slot = Page.slotOf(rowId);
    if (page == null || !reader.read(page, slot, version, needed)) {
      return;
    }
    index.encode(version, key);
    int from = entries.offset(at);
    if (!Arrays.equals(
        entries.bytes(), from, from + entries.length(at) - 8, key.bytes, 0, key.length)) {
      return;
    }
    int row = version.appendTo(batch, table.layout, columns);
    if (withRowIds) {
      batch.rowIds[row] = rowId;
    }
  }

  @Override
  public void close() {
    more = false;
    entry = entries.count();
  }
}
