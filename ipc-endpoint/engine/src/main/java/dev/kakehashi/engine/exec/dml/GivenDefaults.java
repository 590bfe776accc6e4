package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.LoadPlan;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Values of files that stand for the default of their column: it is computed for their rows alone. Used by one thread at a time.
final class GivenDefaults {
  private final LoadPlan plan;
  private final int[] given;
  private final EvalContext context;

  /// By column of the files; null: it has not been needed.
  private final @Nullable Evaluator[] evaluators;

  /// By column of the files, rows of the input.
  private final BitSet[] marks;

  private boolean any;
  private int[] rows = {};

  /// @param given by column of the files, the column of the table
  GivenDefaults(LoadPlan plan, int[] given, EvalContext context) {
    this.plan = plan;
    this.given = given;
    this.context = context;
    this.evaluators = new @Nullable Evaluator[given.length];
    this.marks = new BitSet[given.length];
    Arrays.setAll(marks, _ -> new BitSet());
  }

  void clear() {
    if (any) {
      any = false;
      for (BitSet column : marks) {
        column.clear();
      }
    }
  }

  void mark(int row, int column) {
    marks[column].set(row);
    any = true;
  }

  /// Puts the defaults into the live rows of the input.
  ///
  /// @throws EngineException BAD_COPY_FILE_FORMAT if a column has none
  void fill(VectorBatch input) {
    for (int column = 0; any && column < given.length; column++) {
      int count = marks[column].isEmpty() ? 0 : live(input, marks[column]);
      if (count > 0) {
        fill(input, column, count);
      }
    }
  }

  /// Collects the rows.
  private int live(VectorBatch input, BitSet marked) {
    int count = 0;
    int live = input.liveRows();
    if (rows.length < live) {
      rows = new int[VectorBatch.CAPACITY];
    }
    for (int k = 0; k < live; k++) {
      int row = input.selected < 0 ? k : input.selection[k];
      if (marked.get(row)) {
        rows[count++] = row;
      }
    }
    return count;
  }

  private void fill(VectorBatch input, int column, int count) {
    int[] selection = input.selection;
    int selected = input.selected;
    ColumnVector values;
    try {
      input.selection = rows;
      input.selected = count;
      values = evaluator(column).evaluate(input);
    } finally {
      input.selection = selection;
      input.selected = selected;
    }
    ColumnVector into = input.columns[column];
    for (int k = 0; k < count; k++) {
      int row = rows[k];
      if (values.isNull(row)) {
        into.setNull(row);
      } else {
        into.nulls[row >>> 6] &= ~(1L << row);
        into.words[row] = values.words[row];
      }
    }
  }

  private Evaluator evaluator(int column) {
    Evaluator present = evaluators[column];
    if (present == null) {
      Expr value = plan.defaults().get(given[column]);
      if (value instanceof Expr.Constant constant && constant.isNull()) {
        String name = plan.target().columns().get(given[column]);
        throw new EngineException(
                ErrorCode.BAD_COPY_FILE_FORMAT, "unexpected default marker in COPY data")
            .withDetail("Column \"" + name + "\" has no default value.")
            .withColumn(name);
      }
      present = context.evaluators(List.of(value))[0];
      evaluators[column] = present;
    }
    return present;
  }
}
