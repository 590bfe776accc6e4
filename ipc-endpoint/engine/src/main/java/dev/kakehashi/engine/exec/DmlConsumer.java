package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PhysicalPlan.OnConflict;
import dev.kakehashi.engine.plan.PhysicalPlan.UniformChange;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// Changes a table by the rows of a chain.
final class DmlConsumer implements ChangeConsumer {
  private final Execution execution;
  private final UniformChange plan;
  private final ChangedTable table;
  private final Evaluator @Nullable [] values;
  private final @Nullable ReturnedRows returning;
  private final @Nullable Upsert upsert;
  private final EvalContext context;
  private final VectorBatch newRow;
  private int[] affected = {};
  private final int[] first = new int[1];

  /// Rows changed so far by this execution; null where no row can come twice.
  private @Nullable RowIdSet seen;

  private long rows;

  DmlConsumer(Execution execution, UniformChange plan, EvalContext context) {
    this.execution = execution;
    this.plan = plan;
    this.context = context;
    this.table = new ChangedTable(plan.target(), execution, context);
    this.values =
        plan instanceof PhysicalPlan.Update update ? context.evaluators(update.values()) : null;
    int columns = plan.target().columns().size();
    this.returning = ReturnedRows.of(plan, execution, context);
    OnConflict conflict = plan instanceof PhysicalPlan.Insert insert ? insert.conflict() : null;
    this.upsert = conflict == null ? null : new Upsert(execution, table, conflict, context);
    this.newRow = VectorBatch.view(columns);
  }

  private int rowIdColumn() {
    return switch (plan) {
      case PhysicalPlan.Insert insert -> -1;
      case PhysicalPlan.Update update -> update.rowIdColumn();
      case PhysicalPlan.Delete delete -> delete.rowIdColumn();
    };
  }

  @Override
  public @Nullable RowBuffer returned() {
    return returning == null ? null : returning.rows();
  }

  @Override
  public void begin() {
    RowIdSet shared = execution.changedRows(plan.target().tableId());
    seen = shared == null && rowIdColumn() >= 0 ? new RowIdSet() : shared;
    table.begin(execution);
    if (upsert != null) {
      upsert.begin();
    }
  }

  @Override
  public boolean accept(VectorBatch batch) {
    VectorBatch changed =
        switch (plan) {
          case PhysicalPlan.Update update -> newRows(batch);
          case PhysicalPlan.Insert insert when table.isGenerated() -> copy(batch);
          case PhysicalPlan.Insert insert -> batch;
          case PhysicalPlan.Delete delete -> batch;
        };
    if (!(plan instanceof PhysicalPlan.Delete)) {
      table.generate(changed);
      table.check(changed);
    }
    int count = 0;
    int live = batch.liveRows();
    if (affected.length < live) {
      affected = new int[live];
    }
    for (int k = 0; k < live; k++) {
      int row = batch.selected < 0 ? k : batch.selection[k];
      if (upsert != null) {
        put(upsert, batch, changed, row);
      } else if (apply(batch, changed, row)) {
        affected[count++] = row;
      }
    }
    rows += count;
    if (returning != null && count > 0) {
      returning.keep(changed, batch, affected, count);
    }
    execution.scope().checkCancelled();
    return true;
  }

  private void put(Upsert into, VectorBatch batch, VectorBatch changed, int row) {
    Upsert.Outcome outcome = into.put(changed, batch, row);
    if (outcome == Upsert.Outcome.LEFT) {
      return;
    }
    rows++;
    if (returning != null) {
      boolean updated = outcome == Upsert.Outcome.UPDATED;
      first[0] = updated ? 0 : row;
      returning.keep(updated ? into.updated() : changed, batch, first, 1);
    }
  }

  private VectorBatch newRows(VectorBatch batch) {
    Evaluator[] expressions = values;
    if (expressions == null) {
      throw new IllegalStateException("only an update has new values");
    }
    newRow.heap.reset();
    context.functions.heap = newRow.heap;
    for (int c = 0; c < expressions.length; c++) {
      newRow.columns[c] = expressions[c].evaluate(batch);
    }
    return withRowsOf(batch);
  }

  /// The rows with columns that may be replaced.
  private VectorBatch copy(VectorBatch batch) {
    newRow.heap.reset();
    System.arraycopy(batch.columns, 0, newRow.columns, 0, newRow.columns.length);
    return withRowsOf(batch);
  }

  private VectorBatch withRowsOf(VectorBatch batch) {
    newRow.size = batch.size;
    newRow.selection = batch.selection;
    newRow.selected = batch.selected;
    return newRow;
  }

  private boolean apply(VectorBatch source, VectorBatch changed, int row) {
    return switch (plan) {
      case PhysicalPlan.Insert insert -> {
        table.insert(changed, row);
        yield true;
      }
      case PhysicalPlan.Update update -> {
        long rowId = rowId(source, update.rowIdColumn(), row);
        yield isFirst(rowId)
            && table.mayChange(execution.scope().view(), rowId, "updated")
            && table.update(rowId, changed, row);
      }
      case PhysicalPlan.Delete delete -> {
        long rowId = rowId(source, delete.rowIdColumn(), row);
        yield isFirst(rowId)
            && table.mayChange(execution.scope().view(), rowId, "deleted")
            && table.delete(rowId);
      }
    };
  }

  private static long rowId(VectorBatch source, int column, int row) {
    return column < 0 ? source.rowIds[row] : source.columns[column].words[row];
  }

  /// As in PostgreSQL a row that joins several times is changed by the first of them only.
  private boolean isFirst(long rowId) {
    return seen == null || seen.add(rowId);
  }

  @Override
  public void close() {
    newRow.heap.close();
    table.close();
    if (returning != null) {
      returning.close();
    }
    if (upsert != null) {
      upsert.close();
    }
  }

  @Override
  public long rows() {
    return rows;
  }
}
