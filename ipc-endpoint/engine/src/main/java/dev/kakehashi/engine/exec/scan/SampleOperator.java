package dev.kakehashi.engine.exec.scan;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.store.api.RowCursor;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// Scans a random sample of a table.
public final class SampleOperator extends Operator {
  private final RunContext run;
  private final PlanNode.SampleScan node;
  private final VectorBatch batch;
  private @Nullable RowCursor cursor;

  public SampleOperator(RunContext run, PlanNode.SampleScan node) {
    this.run = run;
    this.node = node;
    this.batch = new VectorBatch(node.columns().length);
  }

  @Override
  public void open() {
    Long seed = node.seed();
    cursor =
        run.scope()
            .store()
            .table(node.tableId())
            .sample(
                run.scope().view(),
                node.fraction(),
                seed == null ? ThreadLocalRandom.current().nextLong() : seed,
                node.columns());
  }

  @Override
  public @Nullable VectorBatch next() {
    RowCursor open = cursor;
    if (open == null || !open.next(batch)) {
      return null;
    }
    run.scope().scanned(batch.liveRows());
    return batch;
  }

  @Override
  public void close() {
    if (cursor != null) {
      cursor.close();
      cursor = null;
    }
    batch.close();
  }
}
