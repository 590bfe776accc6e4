package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;

/// The rows of a query of WITH that several parts of the statement read: each task keeps its share, in memory or in a file.
final class CommonRows extends Breaker {
  private final PlanNode.With node;
  private final Execution execution;
  private final MemoryAccount memory;
  private final List<RowBuffer> kept = new ArrayList<>();

  CommonRows(PlanNode.With node, Execution execution) {
    this.node = node;
    this.execution = execution;
    this.memory = execution.memory(node);
  }

  private record Share(RowBuffer rows) implements Collector {
    @Override
    public void accept(VectorBatch batch) {
      rows.append(batch);
    }

    @Override
    public void finish() {
      rows.seal();
    }
  }

  @Override
  void open(Execution opened) {}

  @Override
  Collector newCollector() {
    RowBuffer rows = new RowBuffer(node.common().typeOids(), memory);
    kept.add(rows);
    return new Share(rows);
  }

  @Override
  void complete(List<Collector> collectors) {
    execution.setWorkTable(node.number(), List.copyOf(kept));
  }

  @Override
  void close() {
    kept.forEach(RowBuffer::close);
    kept.clear();
  }
}
