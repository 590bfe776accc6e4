package dev.kakehashi.engine.store.table;

import dev.kakehashi.engine.store.api.IndexParts;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.RangeDivision;
import dev.kakehashi.engine.store.row.TableIndex;
import dev.kakehashi.engine.store.version.ReadSet;
import org.jspecify.annotations.Nullable;

/// Parts of a range of an index that begin and end at separators of its tree. Immutable.
final class DividedRange implements IndexParts {
  final TableIndex index;
  private final RowTable table;
  private final ReadSet.Range whole;
  private final RangeDivision division;

  private DividedRange(
      RowTable table, TableIndex index, ReadSet.Range whole, RangeDivision division) {
    this.table = table;
    this.index = index;
    this.whole = whole;
    this.division = division;
  }

  static DividedRange of(RowTable table, TableIndex index, KeyRange range, int most) {
    KeyBuffer from = new KeyBuffer(32);
    KeyBuffer end = new KeyBuffer(32);
    KeyBuffer to = (IndexCursor.encode(index, range, from, end) & 2) == 0 ? null : end;
    return new DividedRange(
        table, index, IndexCursor.readRange(index, from, to), index.tree.divide(from, to, most));
  }

  @Override
  public int count() {
    return division.keys().size() + 1;
  }

  @Override
  public long leaves() {
    return division.leaves();
  }

  @Override
  public void noteRead(ReadView view) {
    ReadSet reads = table.store.readSet(view);
    if (reads != null) {
      reads.addRange(table.tableId(), whole);
    }
  }

  @Override
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
