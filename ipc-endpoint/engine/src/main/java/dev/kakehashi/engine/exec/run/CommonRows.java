package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;

/// The rows of a query of WITH that several parts of the statement read: each task keeps its share, in memory or in a file.
public final class CommonRows extends Breaker {
  private final PlanNode.With node;
  private final RunContext run;
  private final MemoryAccount memory;
  private final List<RowBuffer> kept = new ArrayList<>();

  CommonRows(PlanNode.With node, RunContext run) {
    this.node = node;
    this.run = run;
    this.memory = run.memory(node);
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
  public void open(RunContext opened) {}

  @Override
  public Collector newCollector() {
    RowBuffer rows = new RowBuffer(node.common().typeOids(), memory);
    kept.add(rows);
    return new Share(rows);
  }

  @Override
  public void complete(List<Collector> collectors) {
    run.setWorkTable(node.number(), List.copyOf(kept));
  }

  @Override
  public void close() {
    kept.forEach(RowBuffer::close);
    kept.clear();
  }
}
