package dev.kakehashi.engine.vector;

import org.jspecify.annotations.Nullable;

/// Up to [#capacity] rows in columns.
///
/// Live rows are `0 .. size-1`, or, when `selection` is used, `selection[0 .. selected-1]` in ascending order. By-reference values
/// belong to `heap` or to something that outlives the batch (table constants, statement parameters). Confined to one task at a time.
public final class VectorBatch implements AutoCloseable {
  /// Most rows of any batch, and of one whose maker does not say otherwise.
  public static final int CAPACITY = 1024;

  /// Most bytes of values that are computed for, or copied to, the rows of a batch at a time, if they are not one row's.
  public static final long COMPUTED_BYTES = 8 << 20;

  private static final ColumnVector NONE = new ColumnVector(0);

  /// Most rows of this batch.
  public final int capacity;

  public final ColumnVector[] columns;
  public final VarHeap heap = new VarHeap();

  /// Row identifiers of a table scan; filled when the scan was asked for them.
  public final long[] rowIds;

  /// Replaced, never shared for writing, when an operator passes its input's selection on.
  public int[] selection;

  /// Null: all words are what [ColumnVector] says.
  public @Nullable DeferredValues deferred;

  /// Rows present.
  public int size;

  /// Rows that the next filling is to give, at most `capacity`.
  public int wanted;

  /// Rows selected; -1: all of `0 .. size-1`.
  public int selected = -1;

  public VectorBatch(int columnCount) {
    this(columnCount, columnCount);
  }

  /// A batch whose first `ownColumns` of `columnCount` columns have vectors of their own; the operator that fills it sets the others.
  public VectorBatch(int ownColumns, int columnCount) {
    this(ownColumns, columnCount, CAPACITY);
  }

  private VectorBatch(int ownColumns, int columnCount, int capacity) {
    this.capacity = capacity;
    this.wanted = capacity;
    this.rowIds = new long[capacity];
    this.selection = new int[capacity];
    columns = new ColumnVector[columnCount];
    for (int i = 0; i < columnCount; i++) {
      columns[i] = i < ownColumns ? new ColumnVector(capacity) : NONE;
    }
  }

  /// A batch of one row and no columns, for expressions without columns.
  public static VectorBatch oneRow() {
    VectorBatch batch = new VectorBatch(0);
    batch.size = 1;
    return batch;
  }

  /// A batch for few rows, for those that look at one row after another: it costs what its rows take.
  public static VectorBatch ofRows(int columnCount, int capacity) {
    return new VectorBatch(columnCount, columnCount, capacity);
  }

  /// A batch that shows vectors of others, and their selection; it has no row identifiers.
  public static VectorBatch view(int columnCount) {
    return new VectorBatch(0, columnCount, 0);
  }

  /// Number of live rows.
  public int liveRows() {
    return selected < 0 ? size : selected;
  }

  /// Whether there is room for another row: fewer are there than are wanted, and its heap has no more than some megabytes of values.
  public boolean hasRoom() {
    return size < wanted && heap.usedBytes() < COMPUTED_BYTES / 2;
  }

  /// Empties the batch for refilling; earlier by-reference values become invalid.
  public void reset() {
    size = 0;
    selected = -1;
    deferred = null;
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
