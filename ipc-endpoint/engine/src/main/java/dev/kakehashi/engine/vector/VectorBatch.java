package dev.kakehashi.engine.vector;

/// Up to [#CAPACITY] rows in columns.
///
/// Live rows are `0 .. size-1`, or, when `selection` is used, `selection[0 .. selected-1]` in ascending order. By-reference values
/// belong to `heap` or to something that outlives the batch (table constants, statement parameters). Confined to one task at a time.
public final class VectorBatch implements AutoCloseable {
  public static final int CAPACITY = 1024;

  private static final ColumnVector NONE = new ColumnVector(0);

  public final ColumnVector[] columns;
  public final VarHeap heap = new VarHeap();

  /// Row identifiers of a table scan; filled when the scan was asked for them.
  public final long[] rowIds = new long[CAPACITY];

  /// Replaced, never shared for writing, when an operator passes its input's selection on.
  public int[] selection = new int[CAPACITY];

  /// Rows present.
  public int size;

  /// Rows selected; -1: all of `0 .. size-1`.
  public int selected = -1;

  public VectorBatch(int columnCount) {
    this(columnCount, columnCount);
  }

  /// A batch whose first `ownColumns` of `columnCount` columns have vectors of their own; the operator that fills it sets the others.
  public VectorBatch(int ownColumns, int columnCount) {
    columns = new ColumnVector[columnCount];
    for (int i = 0; i < columnCount; i++) {
      columns[i] = i < ownColumns ? new ColumnVector(CAPACITY) : NONE;
    }
  }

  /// Number of live rows.
  public int liveRows() {
    return selected < 0 ? size : selected;
  }

  /// Empties the batch for refilling; earlier by-reference values become invalid.
  public void reset() {
    size = 0;
    selected = -1;
    for (ColumnVector column : columns) {
      column.clearNulls();
    }
    heap.reset();
  }

  @Override
  public void close() {
    heap.close();
  }
}
