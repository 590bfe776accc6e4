package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PhysicalPlan.MergeKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// MERGE: does with each row of the source what the clause of its number says, clause after clause within a batch.
final class MergeConsumer implements ChangeConsumer {
  private final Execution execution;
  private final PhysicalPlan.Merge plan;
  private final ChangedTable table;
  private final List<Evaluator[]> values = new ArrayList<>();
  private final @Nullable ReturnedRows returning;
  private final EvalContext context;
  private final VectorBatch newRow;
  private int[] chosen = {};
  private int[] affected = {};

  /// Rows changed so far by this execution.
  private RowIdSet seen = new RowIdSet();

  private long rows;

  MergeConsumer(Execution execution, PhysicalPlan.Merge plan, EvalContext context) {
    this.execution = execution;
    this.plan = plan;
    this.context = context;
    this.table = new ChangedTable(plan.target(), execution, context);
    plan.clauses().forEach(clause -> values.add(context.evaluators(clause.values())));
    int columns = plan.target().columns().size();
    this.returning = ReturnedRows.of(plan, execution, context);
    this.newRow = VectorBatch.view(columns);
  }

  @Override
  public @Nullable RowBuffer returned() {
    return returning == null ? null : returning.rows();
  }

  @Override
  public void begin() {
    RowIdSet shared = execution.changedRows(plan.target().tableId());
    seen = shared == null ? new RowIdSet() : shared;
    table.begin(execution);
  }

  @Override
  public boolean accept(VectorBatch batch) {
    int[] selection = batch.selection;
    int selected = batch.selected;
    int live = batch.liveRows();
    if (chosen.length < live) {
      chosen = new int[live];
      affected = new int[live];
    }
    long[] actions = batch.columns[plan.actionColumn()].words;
    for (int i = 0; i < plan.clauses().size(); i++) {
      int count = 0;
      for (int k = 0; k < live; k++) {
        int row = selected < 0 ? k : selection[k];
        if (actions[row] == i + 1) {
          chosen[count++] = row;
        }
      }
      if (count > 0 && plan.clauses().get(i).kind() != MergeKind.NOTHING) {
        batch.selection = chosen;
        batch.selected = count;
        apply(plan.clauses().get(i).kind(), values.get(i), batch, count);
        batch.selection = selection;
        batch.selected = selected;
      }
    }
    execution.scope().checkCancelled();
    return true;
  }

  private void apply(MergeKind kind, Evaluator[] expressions, VectorBatch batch, int count) {
    newRow.heap.reset();
    context.functions.heap = newRow.heap;
    for (int c = 0; c < expressions.length; c++) {
      newRow.columns[c] = expressions[c].evaluate(batch);
    }
    newRow.size = batch.size;
    newRow.selection = chosen;
    newRow.selected = count;
    if (kind != MergeKind.DELETE) {
      table.generate(newRow);
      table.check(newRow);
    }
    int changed = 0;
    ColumnVector rowIds = batch.columns[plan.rowIdColumn()];
    for (int k = 0; k < count; k++) {
      int row = chosen[k];
      if (change(kind, rowIds.words[row], row)) {
        affected[changed++] = row;
      }
    }
    rows += changed;
    if (returning != null && changed > 0) {
      returning.keep(newRow, batch, affected, changed);
    }
  }

  private boolean change(MergeKind kind, long rowId, int row) {
    if (kind == MergeKind.INSERT) {
      table.insert(newRow, row);
      return true;
    }
    if (!seen.add(rowId)) {
      throw new EngineException(
              ErrorCode.CARDINALITY_VIOLATION, "MERGE command cannot affect row a second time")
          .withHint("Ensure that not more than one source row matches any one target row.");
    }
    return kind == MergeKind.DELETE ? table.delete(rowId) : table.update(rowId, newRow, row);
  }

  @Override
  public void close() {
    newRow.heap.close();
    table.close();
    if (returning != null) {
      returning.close();
    }
  }

  @Override
  public long rows() {
    return rows;
  }
}
