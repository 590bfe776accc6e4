package dev.kakehashi.engine.exec.sort;

import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;

/// The last row that a top-n sort still wants, by its first key: what comes after it need not be kept.
///
/// Rows with an equal first key pass; the sort decides about them. One per task.
final class TopThreshold {
  private final SortKey key;
  private boolean set;
  private boolean isNull;
  private long word;

  TopThreshold(SortKey key) {
    this.key = key;
  }

  /// Makes a row the last one that is wanted. Its values must stay until the next call.
  void set(MaterializedRows rows, int row) {
    set = true;
    isNull = rows.isNull(key.column(), row);
    word = isNull ? 0 : rows.word(key.column(), row);
  }

  /// Takes rows that come after the threshold out of a batch.
  void narrow(VectorBatch batch, ColumnKind kind) {
    if (!set) {
      return;
    }
    ColumnVector column = batch.columns[key.column()];
    boolean dense = batch.selected < 0;
    int live = batch.liveRows();
    int kept = 0;
    boolean words = kind == ColumnKind.INTEGER && !column.hasNulls && !isNull;
    for (int k = 0; k < live; k++) {
      int row = dense ? k : batch.selection[k];
      if (words
          ? key.descending() ? column.words[row] >= word : column.words[row] <= word
          : !isAfter(column, row, kind)) {
        batch.selection[kept++] = row;
      }
    }
    batch.selected = kept;
  }

  private boolean isAfter(ColumnVector column, int row, ColumnKind kind) {
    boolean nullRow = column.isNull(row);
    if (nullRow || isNull) {
      return nullRow != isNull && nullRow != key.nullsFirst();
    }
    int order = Ordering.compare(kind, column.words[row], word);
    return key.descending() ? order < 0 : order > 0;
  }
}
