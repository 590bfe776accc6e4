package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.DeferredValues;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import java.util.BitSet;

/// A predicate that narrows a batch's selection to the rows for which it is true.
public abstract class RowFilter {
  /// Narrows the selection, in the batch's own selection array.
  public abstract void apply(VectorBatch batch);

  /// Whether applying it twice to a batch is the same as once: not if it calls a volatile function.
  public abstract boolean isRepeatable();

  /// A filter with fresh buffers. Terms of a conjunction are applied one after another to what the earlier ones left.
  public static RowFilter of(Expr predicate, EvalContext context) {
    if (predicate instanceof Expr.And and) {
      RowFilter[] terms = and.terms().stream().map(t -> of(t, context)).toArray(RowFilter[]::new);
      return new All(terms);
    }
    Evaluator evaluator = Evaluators.of(predicate, context);
    BitSet inMemory = ExprRewriter.columnsInMemory(predicate);
    RowFilter computed =
        new Computed(evaluator, ExprRewriter.isRepeatable(predicate), inMemory.stream().toArray());
    return inMemory.cardinality() == 1
            && inMemory.equals(ExprRewriter.columns(predicate))
            && ExprRewriter.isOfColumnsAlone(predicate)
        ? new RememberingFilter(computed, evaluator, inMemory.nextSetBit(0))
        : computed;
  }

  private static final class All extends RowFilter {
    private final RowFilter[] terms;

    All(RowFilter[] terms) {
      this.terms = terms;
    }

    @Override
    public boolean isRepeatable() {
      return Arrays.stream(terms).allMatch(RowFilter::isRepeatable);
    }

    @Override
    public void apply(VectorBatch batch) {
      for (RowFilter term : terms) {
        if (batch.liveRows() == 0) {
          return;
        }
        term.apply(batch);
      }
    }
  }

  private static final class Computed extends RowFilter {
    private final Evaluator predicate;
    private final boolean repeatable;
    private final int[] columns;

    Computed(Evaluator predicate, boolean repeatable, int[] columns) {
      this.predicate = predicate;
      this.repeatable = repeatable;
      this.columns = columns;
    }

    @Override
    public boolean isRepeatable() {
      return repeatable;
    }

    @Override
    public void apply(VectorBatch batch) {
      DeferredValues deferred = batch.deferred;
      if (deferred != null) {
        for (int column : columns) {
          deferred.copy(batch, column);
        }
      }
      ColumnVector truth = predicate.evaluate(batch);
      int[] selection = batch.selection;
      int kept = 0;
      if (batch.selected < 0) {
        for (int row = 0; row < batch.size; row++) {
          selection[kept] = row;
          kept += truth.words[row] != 0 && !truth.isNull(row) ? 1 : 0;
        }
      } else {
        for (int k = 0; k < batch.selected; k++) {
          int row = selection[k];
          selection[kept] = row;
          kept += truth.words[row] != 0 && !truth.isNull(row) ? 1 : 0;
        }
      }
      batch.selected = kept == batch.size ? -1 : kept;
    }
  }
}
