package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.store.RowCursor;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/// Scans a random sample of a table.
final class SampleOperator extends Operator {
  private final Execution execution;
  private final PlanNode.SampleScan node;
  private final VectorBatch batch;
  private @Nullable RowCursor cursor;

  SampleOperator(Execution execution, PlanNode.SampleScan node) {
    this.execution = execution;
    this.node = node;
    this.batch = new VectorBatch(node.columns().length);
  }

  @Override
  void open() {
    Long seed = node.seed();
    cursor =
        execution
            .scope()
            .store()
            .table(node.tableId())
            .sample(
                execution.scope().view(),
                node.fraction(),
                seed == null ? ThreadLocalRandom.current().nextLong() : seed,
                node.columns());
  }

  @Override
  @Nullable VectorBatch next() {
    RowCursor open = cursor;
    if (open == null || !open.next(batch)) {
      return null;
    }
    execution.scope().scanned(batch.liveRows());
    return batch;
  }

  @Override
  void close() {
    if (cursor != null) {
      cursor.close();
      cursor = null;
    }
    batch.close();
  }
}
