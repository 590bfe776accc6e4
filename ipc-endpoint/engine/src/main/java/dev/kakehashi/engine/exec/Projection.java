package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.ExprRewriter;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Computes columns. The output shares the input's selection and the vectors of columns that are passed through.
///
/// A batch is computed whole if its values are of ordinary length. Where they are long, as many of its rows are at a time as make some megabytes: all at once could take any amount of memory.
/// What fails for a row is thrown when all rows before it have been handed on, so that whoever has enough of them, as a LIMIT has, never comes to the failure.
final class Projection extends Operator {
  /// How much narrower the next attempt is.
  private static final int NARROWING = 8;

  /// Rows to begin with where computing them twice would be seen, as with nextval().
  private static final int FIRST_ROWS = 16;

  private static final int[] NO_ROWS = {};

  private final Operator input;
  private final Evaluator[] expressions;
  private final EvalContext context;
  private final boolean repeatable;
  private final VectorBatch out;

  /// Most rows that are computed at a time.
  private int slice;

  /// The batch that is computed in slices; null: none is.
  private @Nullable VectorBatch sliced;

  /// Its live rows, and how many of them have been handed on.
  private int[] rows = NO_ROWS;

  private int taken;

  Projection(Operator input, List<Expr> expressions, EvalContext context) {
    this.input = input;
    this.expressions = Evaluators.of(expressions, context);
    this.context = context;
    this.repeatable = expressions.stream().allMatch(ExprRewriter::isRepeatable);
    this.out = new VectorBatch(0, expressions.size());
  }

  @Override
  void open() {
    slice = repeatable ? VectorBatch.CAPACITY : FIRST_ROWS;
    sliced = null;
    input.open();
  }

  @Override
  @Nullable VectorBatch next() {
    VectorBatch batch = sliced;
    if (batch == null) {
      batch = input.next();
      if (batch == null) {
        return null;
      }
      if (batch.liveRows() <= slice && isComputed(batch)) {
        return shown(batch);
      }
      rows = RowsBeforeFailure.liveRows(batch);
      taken = 0;
      sliced = batch;
    }
    int count;
    do {
      count = Math.min(slice, rows.length - taken);
      System.arraycopy(rows, taken, batch.selection, 0, count);
      batch.selected = count;
    } while (!isComputed(batch));
    taken += count;
    if (taken == rows.length) {
      sliced = null;
    }
    return shown(batch);
  }

  /// Computes the live rows of a batch; false if fewer are to be computed at a time.
  private boolean isComputed(VectorBatch batch) {
    int live = batch.liveRows();
    VarHeap heap = out.heap;
    heap.limit(repeatable && live > 1 ? VectorBatch.COMPUTED_BYTES : Long.MAX_VALUE);
    heap.reset();
    context.functions.heap = heap;
    try {
      for (int i = 0; i < expressions.length; i++) {
        out.columns[i] = expressions[i].evaluate(batch);
      }
    } catch (VarHeap.LimitReached e) {
      slice = Math.max(1, live / NARROWING);
      return false;
    } catch (EngineException e) {
      if (live <= 1 || !RowsBeforeFailure.isOfRow(e)) {
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

  private VectorBatch shown(VectorBatch batch) {
    out.size = batch.size;
    out.selection = batch.selection;
    out.selected = batch.selected;
    return out;
  }

  @Override
  void close() {
    input.close();
    out.heap.close();
  }
}
