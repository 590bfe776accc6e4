package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.exec.operator.RowSlices;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan.Change;
import dev.kakehashi.engine.plan.PhysicalPlan.Insert;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Rows of RETURNING: expressions over the columns of the changed row, followed by those of the statement's source, and by those of a row
/// that ON CONFLICT has found.
final class ReturnedRows {
  private final EvalContext context;
  private final Evaluator[] expressions;
  private final RowBuffer rows;
  private final VectorBatch input;
  private final VectorBatch output;
  private final RowSlices slices;
  private final int[] one = new int[1];
  private final Consumer<VectorBatch> computation = this::compute;

  /// Where the columns of the row that existed begin; the end of the input: there are none.
  private final int existing;

  /// Column of the row that existed, where there was none.
  private ColumnVector absent = new ColumnVector(0);

  /// Rows that a change returns; null if it returns nothing.
  static @Nullable ReturnedRows of(Change plan, RunContext run, EvalContext context) {
    List<Expr> expressions = plan.returning();
    return expressions == null
        ? null
        : new ReturnedRows(
            expressions,
            plan.target().columns().size(),
            plan.source().typeOids().length,
            plan instanceof Insert insert
                && insert.conflict() != null
                && insert.conflict().takesExisting(),
            run.memory(),
            context);
  }

  private ReturnedRows(
      List<Expr> expressions,
      int tableColumns,
      int sourceColumns,
      boolean takesExisting,
      MemoryAccount memory,
      EvalContext context) {
    this.context = context;
    this.expressions = context.evaluators(expressions);
    this.rows = new RowBuffer(expressions.stream().mapToInt(Expr::typeOid).toArray(), memory);
    this.existing = tableColumns + sourceColumns;
    this.input = VectorBatch.view(existing + (takesExisting ? tableColumns : 0));
    this.output = VectorBatch.view(expressions.size());
    this.slices = new RowSlices(expressions);
  }

  RowBuffer rows() {
    return rows;
  }

  /// Keeps what RETURNING says of some rows.
  ///
  /// @param changed whose first columns are the changed rows
  /// @param source with the rows they came from, at the same positions
  /// @param selection the first `count` are the rows; others afterwards
  void keep(VectorBatch changed, VectorBatch source, int[] selection, int count) {
    int tableColumns = existing - source.columns.length;
    System.arraycopy(changed.columns, 0, input.columns, 0, tableColumns);
    System.arraycopy(source.columns, 0, input.columns, tableColumns, source.columns.length);
    input.size = Math.max(changed.size, source.size);
    input.selection = selection;
    input.selected = count;
    do {
      slices.compute(input, output.heap, computation);
      output.size = input.size;
      output.selection = input.selection;
      output.selected = input.selected;
      rows.append(output);
    } while (slices.isUnfinished());
  }

  /// Keeps what RETURNING says of a row of ON CONFLICT.
  ///
  /// @param changed has the row at `row`
  /// @param before has the row that existed at the same position; null: there was none
  void keepOne(VectorBatch changed, VectorBatch source, @Nullable VectorBatch before, int row) {
    if (before == null && absent.words.length <= row) {
      absent = new ColumnVector(Math.max(changed.size, row + 1));
    }
    if (before == null) {
      absent.setNull(row);
    }
    for (int c = existing; c < input.columns.length; c++) {
      input.columns[c] = before == null ? absent : before.columns[c - existing];
    }
    one[0] = row;
    keep(changed, source, one, 1);
  }

  private void compute(VectorBatch batch) {
    context.functions.heap = output.heap;
    for (int i = 0; i < expressions.length; i++) {
      output.columns[i] = expressions[i].evaluate(batch);
    }
  }

  void close() {
    output.heap.close();
    rows.clear();
  }
}
