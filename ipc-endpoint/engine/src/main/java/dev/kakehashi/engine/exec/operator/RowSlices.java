package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.List;
import java.util.function.Consumer;

/// Computes something for the rows of batches, so many at a time that their values take a bounded memory.
///
/// A batch is computed whole if its values are of ordinary length. Where they are long, as many rows are computed at a time as make some
/// megabytes: all at once could take any amount of memory. Where computing a row twice would be seen, as with nextval(), few rows are
/// computed first, and more as long as their values are short. A failure for a row is thrown when all rows before it have been computed by
/// themselves. A constraint's refusal is thrown at once where new values would be others the next time. Confined to one task.
public final class RowSlices {
  /// How much narrower the next attempt is.
  private static final int NARROWING = 8;

  /// Whether a row that a constraint refuses is found also where new values are others the next time.
  private boolean findsRefused;

  /// Rows to begin with where computing them twice would be seen, as with nextval().
  private static final int FIRST_ROWS = 16;

  private static final int[] NO_ROWS = {};

  private final boolean repeatable;

  /// Most rows that are computed at a time.
  private int slice;

  /// Whether the batch is computed in slices: its live rows, and how many of them have been computed.
  private boolean sliced;

  private int[] rows = NO_ROWS;
  private int taken;

  /// @param expressions that are computed
  public RowSlices(List<Expr> expressions) {
    this(expressions.stream().allMatch(ExprRewriter::isRepeatable));
  }

  /// @param repeatable whether computing a row twice is the same as once
  RowSlices(boolean repeatable) {
    this.repeatable = repeatable;
    begin();
  }

  /// Finds the row also where a constraint refuses one and new values are others the next time, for those that go on with the rows after
  /// it.
  public RowSlices findingRefused() {
    findsRefused = true;
    return this;
  }

  /// Goes on behind the row that has failed, after [#compute] has thrown a failure of a row's values: it is the live row of the batch.
  public void skipFailed() {
    if (sliced) {
      taken++;
      sliced = taken < rows.length;
    }
  }

  /// Begins a run: nothing is known of the values.
  public void begin() {
    slice = repeatable ? VectorBatch.CAPACITY : FIRST_ROWS;
    sliced = false;
  }

  /// Whether the last batch has rows that have not been computed.
  public boolean isUnfinished() {
    return sliced;
  }

  /// Narrows a batch to its first rows, or to the next ones if it is unfinished, and computes them.
  ///
  /// @param heap for what is made of them; emptied before
  /// @param computation of the live rows; nothing but `heap`, vectors and, of a condition, rows that have been dropped may be different
  ///     when it has thrown
  public void compute(VectorBatch batch, VarHeap heap, Consumer<VectorBatch> computation) {
    if (!sliced) {
      // Rows that a condition has dropped before it failed are dropped the next time, too, but not
      // those of random().
      int[] all = repeatable ? NO_ROWS : RowsBeforeFailure.liveRows(batch);
      if (batch.liveRows() <= slice && isComputed(batch, heap, computation)) {
        return;
      }
      rows = repeatable ? RowsBeforeFailure.liveRows(batch) : all;
      taken = 0;
      sliced = true;
    }
    int count;
    do {
      // The rows of one batch may take long.
      Interrupts.check();
      count = Math.min(slice, rows.length - taken);
      System.arraycopy(rows, taken, batch.selection, 0, count);
      batch.selected = count;
    } while (!isComputed(batch, heap, computation));
    taken += count;
    sliced = taken < rows.length;
  }

  /// False if fewer rows are to be computed at a time.
  private boolean isComputed(VectorBatch batch, VarHeap heap, Consumer<VectorBatch> computation) {
    int live = batch.liveRows();
    heap.limit(repeatable && live > 1 ? VectorBatch.COMPUTED_BYTES : Long.MAX_VALUE);
    heap.reset();
    try {
      computation.accept(batch);
    } catch (VarHeap.LimitReached e) {
      slice = Math.max(1, live / NARROWING);
      return false;
    } catch (EngineException e) {
      if (live <= 1
          || !RowsBeforeFailure.isOfRow(e)
          || (!repeatable && !findsRefused && RowsBeforeFailure.isRefusal(e))) {
        throw e;
      }
      slice = 1;
      return false;
    } finally {
      heap.limit(Long.MAX_VALUE);
    }
    adapt(live, heap.usedBytes());
    return true;
  }

  private void adapt(int live, long used) {
    if (used > VectorBatch.COMPUTED_BYTES / 2) {
      slice = (int) Math.max(1, live * (VectorBatch.COMPUTED_BYTES / 2) / used);
    } else if (live >= slice) {
      slice = Math.min(VectorBatch.CAPACITY, 2 * slice);
    }
  }
}
