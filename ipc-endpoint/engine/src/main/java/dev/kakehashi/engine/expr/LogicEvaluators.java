package dev.kakehashi.engine.expr;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;

/// Three-valued logic.
final class LogicEvaluators {
  private LogicEvaluators() {}

  /// AND or OR. As in PostgreSQL a term is not evaluated for rows that earlier terms have decided.
  static final class Junction extends Evaluator {
    private final Evaluator[] terms;
    private final boolean and;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);
    private final int[] open = new int[VectorBatch.CAPACITY];

    Junction(Evaluator[] terms, boolean and) {
      this.terms = terms;
      this.and = and;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      long neutral = and ? 1 : 0;
      int[] selection = batch.selection;
      int selected = batch.selected;
      int count = batch.liveRows();
      out.clearNulls();
      for (int k = 0; k < count; k++) {
        int row = row(selection, selected < 0, k);
        open[k] = row;
        out.words[row] = neutral;
      }
      try {
        batch.selection = open;
        for (int t = 0; t < terms.length && count > 0; t++) {
          batch.selected = count;
          count = apply(terms[t].evaluate(batch), neutral, count);
        }
      } finally {
        batch.selection = selection;
        batch.selected = selected;
      }
      return out;
    }

    /// Joins a term into the result; keeps the rows that are not decided.
    private int apply(ColumnVector term, long neutral, int count) {
      int kept = 0;
      for (int k = 0; k < count; k++) {
        int row = open[k];
        if (term.isNull(row)) {
          out.setNull(row);
          open[kept++] = row;
        } else if (term.words[row] == neutral) {
          open[kept++] = row;
        } else {
          out.words[row] = 1 - neutral;
          if (out.hasNulls) {
            out.nulls[row >>> 6] &= ~(1L << (row & 63));
          }
        }
      }
      return kept;
    }
  }

  static final class Not extends Evaluator {
    private final Evaluator argument;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    Not(Evaluator argument) {
      this.argument = argument;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      ColumnVector in = argument.evaluate(batch);
      CallEvaluators.uniteNulls(in, in, out, batch.size);
      for (int row = 0; row < batch.size; row++) {
        out.words[row] = in.words[row] ^ 1;
      }
      return out;
    }
  }

  static final class IsNull extends Evaluator {
    private final Evaluator argument;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    IsNull(Evaluator argument) {
      this.argument = argument;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      ColumnVector in = argument.evaluate(batch);
      for (int row = 0; row < batch.size; row++) {
        out.words[row] = in.isNull(row) ? 1 : 0;
      }
      return out;
    }
  }

  static final class IsBoolean extends Evaluator {
    private final Evaluator argument;
    private final long wanted;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    IsBoolean(Evaluator argument, boolean value) {
      this.argument = argument;
      this.wanted = value ? 1 : 0;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      ColumnVector in = argument.evaluate(batch);
      for (int row = 0; row < batch.size; row++) {
        out.words[row] = !in.isNull(row) && in.words[row] == wanted ? 1 : 0;
      }
      return out;
    }
  }

  static final class IsDistinct extends Evaluator {
    private final ColumnKind kind;
    private final Evaluator left;
    private final Evaluator right;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    IsDistinct(int typeOid, Evaluator left, Evaluator right) {
      this.kind = Types.kind(typeOid);
      this.left = left;
      this.right = right;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      ColumnVector a = left.evaluate(batch);
      ColumnVector b = right.evaluate(batch);
      boolean dense = batch.selected < 0;
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        int row = row(batch.selection, dense, k);
        boolean distinct =
            (a.isNull(row) || b.isNull(row))
                ? a.isNull(row) != b.isNull(row)
                : !Ordering.equal(kind, a.words[row], b.words[row]);
        out.words[row] = distinct ? 1 : 0;
      }
      return out;
    }
  }

  /// `x IN (...)`: true if any is equal, else null if x or any is null, else false.
  static final class InList extends Evaluator {
    private final ColumnKind kind;
    private final Evaluator argument;
    private final Evaluator[] list;
    private final ColumnVector[] values;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);

    InList(int typeOid, Evaluator argument, Evaluator[] list) {
      this.kind = Types.kind(typeOid);
      this.argument = argument;
      this.list = list;
      this.values = new ColumnVector[list.length];
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      ColumnVector in = argument.evaluate(batch);
      for (int i = 0; i < list.length; i++) {
        values[i] = list[i].evaluate(batch);
      }
      out.clearNulls();
      boolean dense = batch.selected < 0;
      int live = batch.liveRows();
      for (int k = 0; k < live; k++) {
        int row = row(batch.selection, dense, k);
        if (in.isNull(row)) {
          out.setNull(row);
        } else {
          find(row, in.words[row]);
        }
      }
      return out;
    }

    private void find(int row, long word) {
      boolean unknown = false;
      for (ColumnVector value : values) {
        if (value.isNull(row)) {
          unknown = true;
        } else if (Ordering.equal(kind, word, value.words[row])) {
          out.words[row] = 1;
          return;
        }
      }
      if (unknown) {
        out.setNull(row);
      } else {
        out.words[row] = 0;
      }
    }
  }

  /// `x = ANY (array)`: null if the array is null, false if it is empty, else as IN of its elements.
  static final class InArray extends Evaluator {
    private final Evaluator argument;
    private final ValueSet values;
    private final boolean perRow;
    private final EvalContext context;
    private final ColumnVector out = new ColumnVector(VectorBatch.CAPACITY);
    private int version = -1;

    InArray(Evaluator argument, ValueSet values, boolean perRow, EvalContext context) {
      this.argument = argument;
      this.values = values;
      this.perRow = perRow;
      this.context = context;
    }

    @Override
    public ColumnVector evaluate(VectorBatch batch) {
      ColumnVector in = argument.evaluate(batch);
      boolean dense = batch.selected < 0;
      int live = batch.liveRows();
      out.clearNulls();
      if (!perRow && version != context.parameterVersion) {
        values.read();
        version = context.parameterVersion;
      }
      for (int k = 0; k < live; k++) {
        int row = row(batch.selection, dense, k);
        if (perRow) {
          values.read(batch, row);
        }
        find(in, row);
      }
      return out;
    }

    private void find(ColumnVector in, int row) {
      if (values.isNull()) {
        out.setNull(row);
      } else if (values.isEmpty()) {
        out.words[row] = 0;
      } else if (in.isNull(row)) {
        out.setNull(row);
      } else if (values.contains(in.words[row])) {
        out.words[row] = 1;
      } else if (values.hasNull()) {
        out.setNull(row);
      } else {
        out.words[row] = 0;
      }
    }
  }
}
