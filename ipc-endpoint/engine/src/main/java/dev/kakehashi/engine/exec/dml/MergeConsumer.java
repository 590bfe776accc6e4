package dev.kakehashi.engine.exec.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.RowSlices;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.exec.rows.RowIdSet;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluator;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PhysicalPlan.MergeClause;
import dev.kakehashi.engine.plan.PhysicalPlan.MergeKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// MERGE: does with each row of the source what the clause of its number says, clause after clause within a batch.
public final class MergeConsumer implements ChangeConsumer {
  private final RunContext run;
  private final StatementChanges changes;
  private final PhysicalPlan.Merge plan;
  private final ChangedTable table;
  private final List<Step> steps = new ArrayList<>();
  private final @Nullable ReturnedRows returning;
  private final EvalContext context;
  private final VectorBatch newRow;
  private int[] chosen = {};
  private int[] affected = {};

  /// Rows changed so far by this execution.
  private RowIdSet seen = new RowIdSet();

  private long rows;

  /// Step for the rows of a clause.
  ///
  /// @param computation of the new rows, or for DELETE the old ones, in `newRow`
  private record Step(MergeKind kind, RowSlices slices, Consumer<VectorBatch> computation) {}

  public MergeConsumer(
      RunContext run, StatementChanges changes, PhysicalPlan.Merge plan, EvalContext context) {
    this.run = run;
    this.changes = changes;
    this.plan = plan;
    this.context = context;
    this.table = new ChangedTable(plan.target(), run, context);
    int columns = plan.target().columns().size();
    this.returning = ReturnedRows.of(plan, run, context);
    this.newRow = VectorBatch.view(columns);
    plan.clauses().forEach(clause -> steps.add(step(clause)));
  }

  private Step step(MergeClause clause) {
    boolean written = clause.kind() != MergeKind.DELETE;
    List<Expr> computed = new ArrayList<>(clause.values());
    if (written) {
      computed.addAll(ChangedTable.computed(plan.target()));
    }
    Evaluator[] values = context.evaluators(clause.values());
    return new Step(
        clause.kind(), new RowSlices(computed), batch -> compute(values, written, batch));
  }

  @Override
  public @Nullable RowBuffer returned() {
    return returning == null ? null : returning.rows();
  }

  @Override
  public void begin() {
    RowIdSet shared = changes.changedRows(plan.target().tableId());
    seen = shared == null ? new RowIdSet() : shared;
    table.begin(changes);
    steps.forEach(step -> step.slices().begin());
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
    for (int i = 0; i < steps.size(); i++) {
      int count = 0;
      for (int k = 0; k < live; k++) {
        int row = selected < 0 ? k : selection[k];
        if (actions[row] == i + 1) {
          chosen[count++] = row;
        }
      }
      if (count > 0 && steps.get(i).kind() != MergeKind.NOTHING) {
        batch.selection = chosen;
        batch.selected = count;
        apply(steps.get(i), batch);
        batch.selection = selection;
        batch.selected = selected;
      }
    }
    run.scope().checkCanceled();
    return true;
  }

  private void apply(Step step, VectorBatch batch) {
    do {
      step.slices().compute(batch, newRow.heap, step.computation());
      change(step.kind(), batch);
    } while (step.slices().isUnfinished());
  }

  /// Makes what a clause says of the live rows in `newRow`, and checks what is to be written.
  private void compute(Evaluator[] values, boolean written, VectorBatch batch) {
    context.functions.heap = newRow.heap;
    for (int c = 0; c < values.length; c++) {
      newRow.columns[c] = values[c].evaluate(batch);
    }
    newRow.size = batch.size;
    newRow.selection = batch.selection;
    newRow.selected = batch.selected;
    if (written) {
      table.generate(newRow);
      table.check(newRow);
    }
  }

  private void change(MergeKind kind, VectorBatch batch) {
    int changed = 0;
    ColumnVector rowIds = batch.columns[plan.rowIdColumn()];
    for (int k = 0; k < batch.selected; k++) {
      int row = batch.selection[k];
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
    if (returning != null) {
      returning.close();
    }
  }

  @Override
  public long rows() {
    return rows;
  }
}
