package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.index.EntryBatch;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowVersion;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.version.ReadSet;
import dev.kakehashi.engine.store.version.RowReader;
import dev.kakehashi.engine.store.version.StoreParts;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A scan of an index. Entries are copied out of the tree some at a time; each leads to a row, whose visible version counts if it has the
/// entry's key.
///
/// Opened and closed any number of times: to look one row up allocates less than its buffers take. Confined to one task at a time.
final class IndexCursor implements RowCursor {
  /// Entries of the first fetch; later ones double, up to the largest.
  private static final int FIRST_FETCH = 4;

  private static final int LARGEST_FETCH = 256;

  /// Entries of long keys are not kept from scan to scan.
  private static final int MOST_KEPT_BYTES = 16 << 10;

  private static final int[] NO_COLUMNS = {};

  private final StoreParts store;
  private final RowReader reader;
  private final KeyBuffer position = new KeyBuffer(32);
  private final KeyBuffer bound = new KeyBuffer(32);
  private final KeyBuffer key = new KeyBuffer(32);
  private EntryBatch entries = new EntryBatch();
  private RowVersion version = new RowVersion(0);

  /// Null: closed. Then it leads to no table either.
  private @Nullable RowTable table;

  private @Nullable TableIndex index;
  private boolean reverse;
  private boolean withRowIds;
  private boolean hasBound;
  private boolean inclusive;
  private boolean unbounded;
  private boolean more;
  private int fetch;
  private int entry;

  // The arguments from which columns and needed were made, see #place: the same from scan to scan.
  private int[] givenColumns = NO_COLUMNS;
  private int[] positions = NO_COLUMNS;
  private int[] keyColumns = NO_COLUMNS;

  /// Stored columns that are wanted.
  private int[] columns = NO_COLUMNS;

  /// These and key columns.
  private int[] needed = NO_COLUMNS;

  private IndexCursor(StoreParts store) {
    this.store = store;
    this.reader = new RowReader(store);
  }

  /// A closed one: the given, if it is a scan of the store that was closed, or a new one.
  @SuppressWarnings("ReferenceEquality") // the same store
  static IndexCursor of(StoreParts store, @Nullable RowCursor closed) {
    return closed instanceof IndexCursor own && own.store == store ? own : new IndexCursor(store);
  }

  /// Begins a scan.
  ///
  /// @param wanted columns of the table
  /// @throws IllegalStateException if it is not closed
  void open(
      RowTable newTable,
      ReadView view,
      TableIndex newIndex,
      KeyRange range,
      boolean backwards,
      int[] wanted,
      boolean rowIds) {
    prepare(newTable, view, newIndex, backwards, wanted, rowIds);
    KeyBuffer from = reverse ? bound : position;
    KeyBuffer to = reverse ? position : bound;
    int bounds = encode(newIndex, range, from, to);
    boolean hasTo = (bounds & 2) != 0;
    hasBound = reverse ? (bounds & 1) != 0 : hasTo;
    unbounded = reverse && !hasTo;
    ReadSet reads = store.readSet(view);
    if (reads != null) {
      reads.addRange(newTable.tableId(), readRange(newIndex, from, hasTo ? to : null));
    }
    table = newTable;
    index = newIndex;
  }

  /// Begins a scan of one part of a range.
  ///
  /// @throws IllegalStateException if it is not closed
  void open(
      RowTable newTable,
      ReadView view,
      DividedRange parts,
      int part,
      int[] wanted,
      boolean rowIds) {
    prepare(newTable, view, parts.index, false, wanted, rowIds);
    byte[] from = parts.from(part);
    byte[] to = parts.to(part);
    position.set(from, 0, from.length);
    hasBound = to != null;
    unbounded = false;
    if (to != null) {
      bound.set(to, 0, to.length);
    }
    table = newTable;
    index = parts.index;
  }

  /// @return see [dev.kakehashi.engine.store.index.KeyCodec#encodeRange]; without a beginning, `from` is empty
  static int encode(TableIndex index, KeyRange range, KeyBuffer from, KeyBuffer to) {
    int bounds = index.codec.encodeRange(range, from, to);
    if ((bounds & 1) == 0) {
      from.length = 0;
    }
    return bounds;
  }

  static ReadSet.Range readRange(TableIndex index, KeyBuffer from, @Nullable KeyBuffer to) {
    return new ReadSet.Range(
        index.definition.indexId(),
        Arrays.copyOf(from.bytes, from.length),
        to == null ? null : Arrays.copyOf(to.bytes, to.length));
  }

  /// All but bounds; it is open when it has a table.
  private void prepare(
      RowTable newTable,
      ReadView view,
      TableIndex newIndex,
      boolean backwards,
      int[] wanted,
      boolean rowIds) {
    if (table != null) {
      throw new IllegalStateException("the cursor is open");
    }
    place(newTable, newIndex, wanted);
    position.length = 0;
    bound.length = 0;
    key.length = 0;
    if (entries.bytes().length > MOST_KEPT_BYTES) {
      entries = new EntryBatch();
    } else {
      entries.clear();
    }
    if (version.words.length != newTable.form.layout.columns) {
      version = new RowVersion(newTable.form.layout.columns);
    }
    reader.begin(view);
    reverse = backwards;
    withRowIds = rowIds;
    inclusive = true;
    more = true;
    fetch = FIRST_FETCH;
    entry = 0;
  }

  /// Finds the stored columns, unless they are those of the scan before: arrays of positions and key columns are replaced, never changed.
  @SuppressWarnings("ReferenceEquality") // the same arrays
  private void place(RowTable of, TableIndex by, int[] wanted) {
    int[] now = of.form.positions();
    if (wanted == givenColumns && now == positions && by.keyColumns == keyColumns) {
      return;
    }
    columns = of.form.stored(wanted);
    needed = union(columns, by.keyColumns);
    givenColumns = wanted;
    positions = now;
    keyColumns = by.keyColumns;
  }

  private static int[] union(int[] columns, int[] more) {
    int unknown = 0;
    for (int column : more) {
      unknown += contains(columns, column) ? 0 : 1;
    }
    if (unknown == 0) {
      return columns;
    }
    int[] all = Arrays.copyOf(columns, columns.length + unknown);
    int count = columns.length;
    for (int column : more) {
      if (!contains(columns, column)) {
        all[count++] = column;
      }
    }
    return all;
  }

  private static boolean contains(int[] columns, int column) {
    for (int c : columns) {
      if (c == column) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean next(VectorBatch batch) {
    batch.reset();
    RowTable from = table;
    TableIndex by = index;
    if (from == null || by == null) {
      return false;
    }
    while (batch.size < batch.wanted) {
      if (entry == entries.count()) {
        if (!more) {
          break;
        }
        fetch(by);
      } else {
        if (isBeyondBound(entry)) {
          end();
          break;
        }
        take(from, by, batch, entry++);
      }
    }
    return batch.size > 0;
  }

  private void fetch(TableIndex by) {
    entry = 0;
    if (reverse) {
      more = by.tree.fetchBackward(position, unbounded, fetch, entries);
      unbounded = false;
    } else {
      more = by.tree.fetchForward(position, inclusive, hasBound ? bound : null, fetch, entries);
      inclusive = entries.inclusive;
    }
    fetch = Math.min(LARGEST_FETCH, fetch * 4);
  }

  private boolean isBeyondBound(int at) {
    // Forwards the tree has left out what is beyond.
    return reverse && hasBound && entries.compare(at, bound) < 0;
  }

  private void take(RowTable from, TableIndex by, VectorBatch batch, int at) {
    long rowId = entries.rowId(at);
    Page page = from.page(rowId >>> Page.SLOT_BITS);
    int slot = Page.slotOf(rowId);
    if (page == null || !reader.read(page, slot, version, needed)) {
      return;
    }
    by.encode(version, key);
    int begin = entries.offset(at);
    if (!Arrays.equals(
        entries.bytes(), begin, begin + entries.length(at) - 8, key.bytes, 0, key.length)) {
      return;
    }
    int row = version.appendTo(batch, from.form.layout, columns);
    if (withRowIds) {
      batch.rowIds[row] = rowId;
    }
  }

  private void end() {
    more = false;
    entry = entries.count();
  }

  @Override
  public void close() {
    if (table != null) {
      reader.end();
    }
    table = null;
    index = null;
  }
}
