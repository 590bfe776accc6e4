package dev.kakehashi.engine.store;

import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.RangeDivision;
import org.jspecify.annotations.Nullable;

/// A range of an index in parts that several tasks scan, one part after another: each entry lies in exactly one of them, whatever becomes of the index
/// meanwhile. Immutable and thread-safe; made by [TableStore#divide].
public final class IndexParts {
  final TableIndex index;
  private final RowTable table;
  private final ReadSet.Range whole;
  private final RangeDivision division;

  private IndexParts(
      RowTable table, TableIndex index, ReadSet.Range whole, RangeDivision division) {
    this.table = table;
    this.index = index;
    this.whole = whole;
    this.division = division;
  }

  static IndexParts of(RowTable table, TableIndex index, KeyRange range, int most) {
    KeyBuffer from = new KeyBuffer(32);
    KeyBuffer end = new KeyBuffer(32);
    KeyBuffer to = (IndexCursor.encode(index, range, from, end) & 2) == 0 ? null : end;
    return new IndexParts(
        table, index, IndexCursor.readRange(index, from, to), index.tree.divide(from, to, most));
  }

  /// How many parts there are, at least 1.
  public int count() {
    return division.keys().size() + 1;
  }

  /// Nodes with entries that the whole range has, approximately; at least 1.
  public long leaves() {
    return division.leaves();
  }

  /// Notes that a transaction reads all of it. Called before the first part is scanned.
  public void noteRead(ReadView view) {
    ReadSet reads = table.store.readSet(view);
    if (reads != null) {
      reads.addRange(table.tableId(), whole);
    }
  }

  /// Opens a scan of one part, in the index's order.
  ///
  /// @param part from 0
  /// @param columns positions wanted, in the order of the batch's columns
  /// @param closed as for [TableStore#indexScan]
  public RowCursor scan(
      ReadView view, int part, int[] columns, boolean withRowIds, @Nullable RowCursor closed) {
    IndexCursor cursor = IndexCursor.of(table.store, closed);
    cursor.open(table, view, this, part, columns, withRowIds);
    return cursor;
  }

  /// Where a part begins, inclusively.
  byte[] from(int part) {
    return part == 0 ? whole.from() : division.keys().get(part - 1);
  }

  /// Where a part ends, exclusively; null: at the index's end.
  byte @Nullable [] to(int part) {
    return part < division.keys().size() ? division.keys().get(part) : whole.to();
  }
}
