package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.exec.operator.RowSlices;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.exec.rows.RowIdSet;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PhysicalPlan.OnConflict;
import dev.kakehashi.engine.plan.PhysicalPlan.UniformChange;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Changes a table by the rows of a chain.
public final class DmlConsumer implements ChangeConsumer {
  /// Rows inserted one by one before the rest is inserted in bulk: fewer are not worth it, and each of them is refused at its turn.
  private static final int ROWS_BEFORE_BULK = 10_000;

  private final RunContext run;
  private final StatementChanges changes;
  private final UniformChange plan;
  private final ChangedTable table;
  private final Evaluator @Nullable [] values;
  private final @Nullable ReturnedRows returning;
  private final @Nullable Upsert upsert;

  /// Null: rows are inserted one by one.
  private @Nullable BulkRows bulk;

  /// Rows inserted by this execution.
  private long inserted;

  private final EvalContext context;
  private final VectorBatch newRow;
  private int[] affected = {};

  private final RowSlices slices;
  private final Consumer<VectorBatch> computation = this::compute;

  /// Rows changed so far by this execution; null where no row can come twice.
  private @Nullable RowIdSet seen;

  private long rows;

  public DmlConsumer(
      RunContext run, StatementChanges changes, UniformChange plan, EvalContext context) {
    this.run = run;
    this.changes = changes;
    this.plan = plan;
    this.context = context;
    this.table = new ChangedTable(plan.target(), run, context);
    this.values =
        plan instanceof PhysicalPlan.Update update ? context.evaluators(update.values()) : null;
    int columns = plan.target().columns().size();
    this.returning = ReturnedRows.of(plan, run, context);
    OnConflict conflict = plan instanceof PhysicalPlan.Insert insert ? insert.conflict() : null;
    this.upsert = conflict == null ? null : new Upsert(run, changes, table, conflict, context);
    this.newRow = VectorBatch.view(columns);
    this.slices = new RowSlices(computed(plan));
  }

  /// Expressions that are computed for new rows, their checks among them.
  private static List<Expr> computed(UniformChange plan) {
    List<Expr> computed = new ArrayList<>();
    if (plan instanceof PhysicalPlan.Update update) {
      computed.addAll(update.values());
    }
    if (!(plan instanceof PhysicalPlan.Delete)) {
      computed.addAll(ChangedTable.computed(plan.target()));
    }
    return computed;
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
    RowIdSet shared = changes.changedRows(plan.target().tableId());
    seen = shared == null && rowIdColumn() >= 0 ? new RowIdSet() : shared;
    table.begin(changes);
    slices.begin();
    closeBulk();
    inserted = 0;
    if (upsert != null) {
      upsert.begin();
    }
  }

  @Override
  public boolean accept(VectorBatch batch) {
    if (plan instanceof PhysicalPlan.Delete) {
      change(batch, batch);
    } else {
      do {
        slices.compute(batch, newRow.heap, computation);
        change(batch, newRow);
      } while (slices.isUnfinished());
    }
    run.scope().checkCanceled();
    return true;
  }

  /// @param changed the new rows, if there are any
  private void change(VectorBatch batch, VectorBatch changed) {
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
  }

  private void put(Upsert into, VectorBatch batch, VectorBatch changed, int row) {
    Upsert.Outcome outcome = into.put(changed, batch, row);
    if (outcome == Upsert.Outcome.LEFT) {
      return;
    }
    rows++;
    if (returning != null) {
      switch (outcome) {
        case UPDATED -> returning.keepOne(into.updated(), batch, into.existing(), 0);
        case SELECTED -> returning.keepOne(into.existing(), batch, into.existing(), 0);
        default -> returning.keepOne(changed, batch, null, row);
      }
    }
  }

  /// Makes the new rows of a batch in `newRow`, and checks them.
  private void compute(VectorBatch batch) {
    Evaluator[] expressions = values;
    if (expressions == null) {
      System.arraycopy(batch.columns, 0, newRow.columns, 0, newRow.columns.length);
    } else {
      context.functions.heap = newRow.heap;
      for (int c = 0; c < expressions.length; c++) {
        newRow.columns[c] = expressions[c].evaluate(batch);
      }
    }
    newRow.size = batch.size;
    newRow.selection = batch.selection;
    newRow.selected = batch.selected;
    table.generate(newRow);
    table.check(newRow);
  }

  private boolean apply(VectorBatch source, VectorBatch changed, int row) {
    return switch (plan) {
      case PhysicalPlan.Insert insert -> {
        insert(changed, row);
        yield true;
      }
      case PhysicalPlan.Update update -> {
        long rowId = rowId(source, update.rowIdColumn(), row);
        yield isFirst(rowId)
            && table.mayChange(run.scope().view(), rowId, "updated")
            && table.update(rowId, changed, row);
      }
      case PhysicalPlan.Delete delete -> {
        long rowId = rowId(source, delete.rowIdColumn(), row);
        yield isFirst(rowId)
            && table.mayChange(run.scope().view(), rowId, "deleted")
            && table.delete(rowId);
      }
    };
  }

  private void insert(VectorBatch changed, int row) {
    BulkRows many = bulk;
    if (many == null && inserted++ >= ROWS_BEFORE_BULK) {
      many = new BulkRows(table);
      bulk = many;
    }
    if (many == null) {
      table.insert(changed, row);
    } else {
      many.insert(changed, row);
    }
  }

  @Override
  public boolean finish() {
    if (bulk != null) {
      bulk.finish();
    }
    closeBulk();
    return true;
  }

  @Override
  public void abandon() {
    closeBulk();
  }

  private void closeBulk() {
    BulkRows many = bulk;
    bulk = null;
    if (many != null) {
      many.close();
    }
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
    closeBulk();
    newRow.heap.close();
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
