package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;

/// Expressions that choose among others, evaluating only what they choose.
final class ChoiceEvaluators {
  private ChoiceEvaluators() {}

  /// CASE: each condition sees only the rows that no earlier one took, each value only the rows that chose it.
  static final class Case extends Evaluator {
    private final Evaluator[] conditions;
    private final Evaluator[] values;
    private final Evaluator otherwise;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);
    private final int[] open = new int[VectorBatch.CAPACITY];
    private final int[] chosen = new int[VectorBatch.CAPACITY];

    Case(Evaluator[] conditions, Evaluator[] values, Evaluator otherwise) {
      this.conditions = conditions;
      this.values = values;
      this.otherwise = otherwise;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      int[] selection = batch.selection;
      int selected = batch.selected;
      int count = batch.liveRows();
      for (int k = 0; k < count; k++) {
        open[k] = row(selection, selected < 0, k);
      }
      out.clearNulls();
      try {
        for (int i = 0; i < conditions.length && count > 0; i++) {
          batch.selection = open;
          batch.selected = count;
          ColumnVector condition = conditions[i].evaluate(batch);
          int taken = 0;
          int kept = 0;
          for (int k = 0; k < count; k++) {
            int row = open[k];
            if (!condition.isNull(row) && condition.words[row] != 0) {
              chosen[taken++] = row;
            } else {
              open[kept++] = row;
            }
          }
          count = kept;
          take(values[i], batch, chosen, taken);
        }
        take(otherwise, batch, open, count);
      } finally {
        batch.selection = selection;
        batch.selected = selected;
      }
      return out;
    }

    private void take(Evaluator value, VectorBatch batch, int[] rows, int count) {
      if (count == 0) {
        return;
      }
      batch.selection = rows;
      batch.selected = count;
      ColumnVector from = value.evaluate(batch);
      for (int k = 0; k < count; k++) {
        copy(from, out, rows[k]);
      }
    }
  }

  /// COALESCE: each argument sees only the rows for which all earlier ones were null.
  static final class Coalesce extends Evaluator {
    private final Evaluator[] arguments;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);
    private final int[] open = new int[VectorBatch.CAPACITY];

    Coalesce(Evaluator[] arguments) {
      this.arguments = arguments;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      int[] selection = batch.selection;
      int selected = batch.selected;
      int count = batch.liveRows();
      for (int k = 0; k < count; k++) {
        open[k] = row(selection, selected < 0, k);
      }
      out.clearNulls();
      try {
        batch.selection = open;
        for (int i = 0; i < arguments.length && count > 0; i++) {
          batch.selected = count;
          ColumnVector argument = arguments[i].evaluate(batch);
          int kept = 0;
          for (int k = 0; k < count; k++) {
            int row = open[k];
            if (argument.isNull(row)) {
              open[kept++] = row;
            } else {
              out.words[row] = argument.words[row];
            }
          }
          count = kept;
        }
      } finally {
        batch.selection = selection;
        batch.selected = selected;
      }
      for (int k = 0; k < count; k++) {
        out.setNull(open[k]);
      }
      return out;
    }
  }

  /// GREATEST and LEAST: null only if all arguments are.
  static final class Extreme extends Evaluator {
    private final ColumnKind kind;
    private final boolean greatest;
    private final Evaluator[] arguments;
    private final ColumnVector[] values;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    Extreme(int typeOid, boolean greatest, Evaluator[] arguments) {
      this.kind = Types.kind(typeOid);
      this.greatest = greatest;
      this.arguments = arguments;
      this.values = new ColumnVector[arguments.length];
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      for (int i = 0; i < arguments.length; i++) {
        values[i] = arguments[i].evaluate(batch);
      }
      out.clearNulls();
      boolean dense = batch.selected < 0;
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        int row = row(batch.selection, dense, k);
        boolean found = false;
        long best = 0;
        for (ColumnVector value : values) {
          if (!value.isNull(row) && (!found || better(value.words[row], best))) {
            best = value.words[row];
            found = true;
          }
        }
        if (found) {
          out.words[row] = best;
        } else {
          out.setNull(row);
        }
      }
      return out;
    }

    private boolean better(long word, long best) {
      int order = Ordering.compare(kind, word, best);
      return greatest ? order > 0 : order < 0;
    }
  }
}
