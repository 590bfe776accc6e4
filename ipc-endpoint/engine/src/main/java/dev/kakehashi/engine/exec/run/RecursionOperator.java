package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// WITH RECURSIVE: gives out the rows of one step, then makes the next ones of them.
public final class RecursionOperator extends Operator {
  private final RunContext run;
  private final PlanNode.Recursion node;
  private final EvalContext context;
  private final SubPlan anchor;
  private final SubPlan step;
  private final VectorBatch batch;
  private @Nullable SeenRows seen;
  private @Nullable RowBuffer rows;
  private RowBuffer.@Nullable Reader reader;

  RecursionOperator(RunContext run, PlanNode.Recursion node, EvalContext context) {
    this.run = run;
    this.node = node;
    this.context = context;
    this.anchor = new SubPlan(node.anchor(), run);
    this.step = new SubPlan(node.step(), run);
    this.batch = new VectorBatch(node.typeOids().length);
  }

  @Override
  public void open() {
    seen = node.all() ? null : new SeenRows(node.typeOids(), run.memory(node));
    rows = null;
    reader = null;
  }

  @Override
  public @Nullable VectorBatch next() {
    RowBuffer current = rows;
    if (current == null) {
      begin(run(anchor));
    } else if (current.size() == 0) {
      return null;
    }
    while (reader != null && !reader.fill(batch)) {
      RowBuffer before = rows;
      if (before == null || before.size() == 0) {
        return null;
      }
      step.context().setWorkTable(node.number(), List.of(before));
      RowBuffer made = run(step);
      before.clear();
      begin(made);
    }
    return batch;
  }

  private void begin(RowBuffer made) {
    rows = made;
    reader = made.reader();
  }

  private RowBuffer run(SubPlan part) {
    SeenRows known = seen;
    RowBuffer made = new RowBuffer(node.typeOids(), run.memory(node));
    try {
      part.open(context.parameters, context.parameterNulls);
      VectorBatch got = part.next();
      while (got != null) {
        if (known == null) {
          made.append(got);
        } else {
          known.add(got, made);
        }
        got = part.next();
      }
      if (known != null) {
        known.settle(made);
      }
    } catch (RuntimeException | Error e) {
      made.clear();
      throw e;
    } finally {
      part.close();
    }
    return made;
  }

  @Override
  public void close() {
    anchor.close();
    step.close();
    batch.close();
    if (rows != null) {
      rows.clear();
      rows = null;
    }
    if (seen != null) {
      seen.close();
      seen = null;
    }
  }
}
