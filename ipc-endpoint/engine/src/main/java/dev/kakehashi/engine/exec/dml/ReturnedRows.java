package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.exec.operator.RowSlices;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan.Change;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Rows of RETURNING: expressions over the columns of the changed row, followed by those of the statement's source.
final class ReturnedRows {
  private final EvalContext context;
  private final Evaluator[] expressions;
  private final RowBuffer rows;
  private final VectorBatch input;
  private final VectorBatch output;
  private final RowSlices slices;
  private final Consumer<VectorBatch> computation = this::compute;

  /// Rows that a change returns; null if it returns nothing.
  static @Nullable ReturnedRows of(Change plan, RunContext run, EvalContext context) {
    List<Expr> expressions = plan.returning();
    return expressions == null
        ? null
        : new ReturnedRows(
            expressions,
            plan.target().columns().size(),
            plan.source().typeOids().length,
            run.memory(),
            context);
  }

  private ReturnedRows(
      List<Expr> expressions,
      int tableColumns,
      int sourceColumns,
      MemoryAccount memory,
      EvalContext context) {
    this.context = context;
    this.expressions = context.evaluators(expressions);
    this.rows = new RowBuffer(expressions.stream().mapToInt(Expr::typeOid).toArray(), memory);
    this.input = VectorBatch.view(tableColumns + sourceColumns);
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
    int tableColumns = input.columns.length - source.columns.length;
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
