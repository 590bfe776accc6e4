package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/// Rows in order, one after another, from memory or from a file. Confined to one task at a time.
public abstract class SortedRows {
  /// Goes to the next row; false if there is none.
  abstract boolean next();

  public abstract long word(int column);

  abstract boolean isNull(int column);

  abstract ColumnKind kind(int column);

  /// Shows the row as row 0 of vectors, with its values where they are.
  public final void show(ColumnVector[] row) {
    for (int c = 0; c < row.length; c++) {
      row[c].clearNulls();
      if (isNull(c)) {
        row[c].setNull(0);
      } else {
        row[c].words[0] = word(c);
      }
    }
  }

  /// Copies the row into a batch; its values may stay where they are as long as all rows do.
  public abstract void read(VectorBatch out, int outRow);

  /// Number among those that are merged: of equal rows that of the lower one comes first.
  private int number;

  public static SortedRows of(MaterializedRows rows, int[] order) {
    return new SortedRows() {
      private int at = -1;

      @Override
      boolean next() {
        return ++at < order.length;
      }

      @Override
      public long word(int column) {
        return rows.word(column, order[at]);
      }

      @Override
      boolean isNull(int column) {
        return rows.isNull(column, order[at]);
      }

      @Override
      ColumnKind kind(int column) {
        return rows.kind(column);
      }

      @Override
      public void read(VectorBatch out, int outRow) {
        rows.read(order[at], out, outRow, 0);
      }
    };
  }

  /// @param buffer bytes of its buffer
  public static SortedRows of(SpillFile file, int buffer) {
    SpillFile.Reader reader = file.readerWith(buffer);
    return new SortedRows() {
      @Override
      boolean next() {
        return reader.next();
      }

      @Override
      public long word(int column) {
        return reader.word(column);
      }

      @Override
      boolean isNull(int column) {
        return reader.isNull(column);
      }

      @Override
      ColumnKind kind(int column) {
        return file.kinds()[column];
      }

      @Override
      public void read(VectorBatch out, int outRow) {
        reader.read(out, outRow, file.kinds().length);
      }
    };
  }

  /// Several of them as one.
  public static final class Merge {
    private final PriorityQueue<SortedRows> heads;
    private @Nullable SortedRows current;

    public Merge(List<SortedRows> inputs, Comparator<SortedRows> order) {
      heads =
          new PriorityQueue<>(
              Math.max(1, inputs.size()), order.thenComparingInt(input -> input.number));
      for (int i = 0; i < inputs.size(); i++) {
        SortedRows input = inputs.get(i);
        input.number = i;
        if (input.next()) {
          heads.add(input);
        }
      }
    }

    /// The input whose row comes next, until the next call; null at the end.
    public @Nullable SortedRows next() {
      SortedRows before = current;
      if (before != null && before.next()) {
        heads.add(before);
      }
      current = heads.poll();
      return current;
    }
  }
}
