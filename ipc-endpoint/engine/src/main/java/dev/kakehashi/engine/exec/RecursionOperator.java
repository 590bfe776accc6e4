package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// WITH RECURSIVE: gives out the rows of one step, then makes the next ones of them.
final class RecursionOperator extends Operator {
  private final Execution execution;
  private final PlanNode.Recursion node;
  private final EvalContext context;
  private final SubPlan anchor;
  private final SubPlan step;
  private final VectorBatch batch;
  private final int[] groups = new int[VectorBatch.CAPACITY];
  private @Nullable GroupTable seen;
  private @Nullable MaterializedRows rows;
  private int next;

  RecursionOperator(Execution execution, PlanNode.Recursion node, EvalContext context) {
    this.execution = execution;
    this.node = node;
    this.context = context;
    this.anchor = new SubPlan(node.anchor(), execution);
    this.step = new SubPlan(node.step(), execution);
    this.batch = new VectorBatch(node.typeOids().length);
  }

  @Override
  void open() {
    seen = node.all() ? null : new GroupTable(node.typeOids(), execution.memory());
    rows = null;
    next = 0;
  }

  @Override
  @Nullable VectorBatch next() {
    MaterializedRows current = rows;
    if (current == null) {
      current = run(anchor);
    } else if (next == current.size()) {
      step.execution().setWorkTable(node.number(), current);
      MaterializedRows made = run(step);
      current.clear();
      current = made;
    }
    if (rows != current) {
      rows = current;
      next = 0;
    }
    batch.reset();
    while (next < current.size() && batch.size < VectorBatch.CAPACITY) {
      current.read(next++, batch, batch.size++, 0);
    }
    return batch.size == 0 ? null : batch;
  }

  private MaterializedRows run(SubPlan part) {
    MaterializedRows made = new MaterializedRows(node.typeOids(), execution.memory());
    try {
      part.open(context.parameters, context.parameterNulls);
      VectorBatch got = part.next();
      while (got != null) {
        keep(got, made);
        got = part.next();
      }
    } catch (RuntimeException | Error e) {
      made.clear();
      throw e;
    } finally {
      part.close();
    }
    return made;
  }

  private void keep(VectorBatch got, MaterializedRows made) {
    GroupTable known = seen;
    if (known == null) {
      made.append(got);
      return;
    }
    int group = known.size();
    known.find(got.columns, got, groups);
    int live = got.liveRows();
    for (int k = 0; k < live; k++) {
      // New rows get the next numbers in their order.
      if (groups[k] == group) {
        group++;
        made.append(got.columns, got.selected < 0 ? k : got.selection[k]);
      }
    }
    made.account();
  }

  @Override
  void close() {
    anchor.close();
    step.close();
    batch.close();
    if (rows != null) {
      rows.clear();
      rows = null;
    }
    if (seen != null) {
      seen.clear();
      seen = null;
    }
  }

  /// The rows of the step before.
  static final class WorkTableScan extends Operator {
    private final Execution execution;
    private final PlanNode.WorkTable node;
    private final VectorBatch batch;
    private @Nullable MaterializedRows rows;
    private int next;

    WorkTableScan(Execution execution, PlanNode.WorkTable node) {
      this.execution = execution;
      this.node = node;
      this.batch = new VectorBatch(node.typeOids().length);
    }

    @Override
    void open() {
      rows = execution.workTable(node.number());
      next = 0;
    }

    @Override
    @Nullable VectorBatch next() {
      MaterializedRows current = rows;
      if (current == null) {
        return null;
      }
      batch.reset();
      while (next < current.size() && batch.size < VectorBatch.CAPACITY) {
        current.read(next++, batch, batch.size++, 0);
      }
      return batch.size == 0 ? null : batch;
    }

    @Override
    void close() {
      batch.close();
      rows = null;
    }
  }
}
