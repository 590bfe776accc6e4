package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;

/// Computes an expression for the live rows of a batch.
///
/// An instance has buffers and belongs to one chain of operators. Values of rows that are not live are undefined, except that reading them
/// as words is harmless.
public abstract class Evaluator {
  /// The values, in a vector that is valid until the next call; it may be a column of the batch.
  public abstract ColumnVector evaluate(VectorBatch batch);

  /// Copies value `row` of one vector into another.
  static void copy(ColumnVector from, ColumnVector to, int row) {
    if (from.isNull(row)) {
      to.setNull(row);
    } else {
      to.words[row] = from.words[row];
    }
  }

  /// Rows of a batch that are live, for loops: `rows[k]` for k < count, or k itself when there is no selection.
  static int row(int[] rows, boolean dense, int k) {
    return dense ? k : rows[k];
  }
}
