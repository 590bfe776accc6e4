package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.plan.PlanNode.WindowCall;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Window functions: collects the rows, sorts them by partition and order, and computes partition after partition as the result is read.
final class WindowBreaker extends Breaker {
  private final PlanNode.Window node;
  private final Execution execution;
  private final int[] inputOids;
  private final RowOrder order;
  private final RowOrder partitions;
  private final RowOrder peers;
  private final List<MaterializedRows> parts = new ArrayList<>();
  private @Nullable MaterializedRows rows;
  private int[] sorted = new int[0];

  WindowBreaker(PlanNode.Window node, Execution execution) {
    this.node = node;
    this.execution = execution;
    this.inputOids = node.input().typeOids();
    List<SortKey> partition = new ArrayList<>();
    for (int column : node.partition()) {
      partition.add(new SortKey(column, false, false));
    }
    List<SortKey> all = new ArrayList<>(partition);
    all.addAll(node.order());
    this.partitions = new RowOrder(partition, execution.memory());
    this.peers = new RowOrder(node.order(), execution.memory());
    this.order = new RowOrder(all, execution.memory());
  }

  @Override
  void open(Execution opened) {
    rows = null;
  }

  @Override
  Collector newCollector() {
    MaterializedRows part = new MaterializedRows(inputOids, execution.memory());
    parts.add(part);
    return new Collector() {
      @Override
      public void accept(VectorBatch batch) {
        part.append(batch);
      }

      @Override
      public void finish() {}
    };
  }

  @Override
  void complete(List<Collector> collectors) {
    MaterializedRows all = parts.getFirst();
    for (int i = 1; i < parts.size(); i++) {
      MaterializedRows part = parts.get(i);
      for (int row = 0; row < part.size(); row++) {
        all.append(part, row);
      }
      part.clear();
    }
    all.account();
    rows = all;
    sorted = order.sort(all);
  }

  @Override
  void close() {
    for (MaterializedRows part : parts) {
      part.clear();
    }
    parts.clear();
    rows = null;
    sorted = new int[0];
  }

  Operator source(EvalContext context) {
    return new Source(context);
  }

  private final class Source extends Operator {
    private final EvalContext context;
    private final VectorBatch batch = new VectorBatch(node.typeOids().length);
    private final WindowFrame[] frames = new WindowFrame[node.calls().size()];
    private final WindowFunction[] functions = new WindowFunction[node.calls().size()];
    private @Nullable WindowPartition partition;
    private int next;
    private int partitionStart;
    private int partitionEnd;

    Source(EvalContext context) {
      this.context = context;
      for (int i = 0; i < functions.length; i++) {
        WindowCall call = node.calls().get(i);
        frames[i] = new WindowFrame(call.frame(), context);
        functions[i] = WindowFunction.of(call, frames[i], execution);
      }
    }

    @Override
    void open() {
      MaterializedRows all = rows;
      if (all == null) {
        throw new IllegalStateException("windows are read before their stage has ended");
      }
      partition = new WindowPartition(all, sorted);
      next = 0;
      partitionEnd = 0;
      for (WindowFrame frame : frames) {
        frame.open();
      }
    }

    @Override
    @Nullable VectorBatch next() {
      WindowPartition current = partition;
      MaterializedRows all = rows;
      if (current == null || all == null) {
        return null;
      }
      batch.reset();
      while (next < sorted.length && batch.size < VectorBatch.CAPACITY) {
        if (next == partitionEnd) {
          begin(current, all);
        }
        int row = batch.size++;
        all.read(sorted[next], batch, row, 0);
        context.functions.heap = batch.heap;
        for (int i = 0; i < functions.length; i++) {
          functions[i].evaluate(
              current,
              next - partitionStart,
              batch.columns[inputOids.length + i],
              row,
              context.functions);
        }
        next++;
      }
      return batch.size == 0 ? null : batch;
    }

    private void begin(WindowPartition current, MaterializedRows all) {
      partitionStart = next;
      partitionEnd = next + 1;
      while (partitionEnd < sorted.length
          && partitions.compare(all, sorted[next], all, sorted[partitionEnd]) == 0) {
        partitionEnd++;
      }
      current.move(partitionStart, partitionEnd, peers);
      for (WindowFunction function : functions) {
        function.begin(current);
      }
    }

    @Override
    void close() {
      batch.close();
      partition = null;
      for (WindowFunction function : functions) {
        function.close();
      }
    }
  }
}
