package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.exec.rows.RowOrder;
import dev.kakehashi.engine.exec.sort.SortBreaker;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.plan.PlanNode.WindowCall;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Window functions: collects the rows, sorts them by partition and order, and computes partition after partition as the result is read.
///
/// When the statement's memory gets tight the rows are sorted in files, and a partition is read into a [RowBuffer], which may go to a file again.
public final class WindowBreaker extends Breaker {
  /// A batch ends when its values have more bytes.
  private static final long BATCH_BYTES = 1L << 20;

  private final PlanNode.Window node;
  private final MemoryAccount memory;
  private final int[] inputOids;
  private final ColumnKind[] inputKinds;
  private final RowOrder order;
  private final RowOrder partitions;
  private final RowOrder peers;

  /// Sorts the rows once they do not fit.
  private final SortBreaker sort;

  private final List<Part> parts = new ArrayList<>();
  private @Nullable MaterializedRows rows;
  private int[] sorted = new int[0];
  private boolean spilled;

  public WindowBreaker(PlanNode.Window node, RunContext execution) {
    this.node = node;
    this.memory = execution.memory(node);
    this.inputOids = node.input().typeOids();
    this.inputKinds = MaterializedRows.kinds(inputOids);
    List<SortKey> partition = new ArrayList<>();
    for (int column : node.partition()) {
      partition.add(new SortKey(column, false, false));
    }
    List<SortKey> all = new ArrayList<>(partition);
    all.addAll(node.order());
    this.partitions = new RowOrder(partition, memory);
    this.peers = new RowOrder(node.order(), memory);
    this.order = new RowOrder(all, memory);
    this.sort = SortBreaker.of(inputOids, all, memory);
  }

  @Override
  public void open(RunContext opened) {
    rows = null;
    spilled = false;
  }

  @Override
  public Collector newCollector() {
    Part part = new Part();
    parts.add(part);
    return part;
  }

  /// Rows of one task.
  private final class Part implements Collector {
    private final MemoryAccount user = memory.user();
    final MaterializedRows kept = new MaterializedRows(inputOids, user);
    final Collector run = sort.newCollector();
    private boolean full;

    @Override
    public void accept(VectorBatch batch) {
      int live = batch.liveRows();
      int copied = 0;
      while (copied < live && !full) {
        copied = kept.append(batch, copied);
        if (user.wantsBack(kept.bytes(), RowOrder.sortBytes(kept.size()))) {
          handOver();
        }
      }
      if (copied < live) {
        run.accept(copied == 0 ? batch : rest(batch, copied));
      }
    }

    /// The live rows of a batch but for the first `skipped`.
    private static VectorBatch rest(VectorBatch batch, int skipped) {
      VectorBatch rest = VectorBatch.view(batch.columns.length);
      System.arraycopy(batch.columns, 0, rest.columns, 0, batch.columns.length);
      rest.size = batch.size;
      rest.selection =
          IntStream.range(skipped, batch.liveRows())
              .map(k -> batch.selected < 0 ? k : batch.selection[k])
              .toArray();
      rest.selected = rest.selection.length;
      return rest;
    }

    /// Gives the rows to the sort.
    void handOver() {
      full = true;
      VectorBatch chunk = new VectorBatch(0, inputOids.length);
      for (int row = 0; row < kept.size(); row += VectorBatch.CAPACITY) {
        System.arraycopy(kept.chunk(row), 0, chunk.columns, 0, inputOids.length);
        chunk.size = Math.min(kept.size() - row, VectorBatch.CAPACITY);
        run.accept(chunk);
      }
      kept.clear();
    }

    @Override
    public void finish() {
      if (full) {
        run.finish();
      }
    }
  }

  @Override
  public void complete(List<Collector> collectors) {
    if (parts.stream().anyMatch(part -> part.full)) {
      spilled = true;
      for (Part part : parts) {
        if (!part.full) {
          part.handOver();
          part.finish();
        }
      }
      sort.complete(List.of());
      return;
    }
    Part first = parts.getFirst();
    MaterializedRows all = first.kept;
    for (int i = 1; i < parts.size(); i++) {
      Part other = parts.get(i);
      all.appendAll(other.kept);
      first.user.absorb(other.user);
    }
    rows = all;
    sorted = order.sort(all, memory);
  }

  @Override
  public void close() {
    for (Part part : parts) {
      part.kept.clear();
    }
    parts.clear();
    sort.close();
    rows = null;
    sorted = new int[0];
  }

  public Operator source(EvalContext context) {
    return new Source(context);
  }

  private final class Source extends Operator {
    private final EvalContext context;
    private final VectorBatch batch = new VectorBatch(node.typeOids().length);
    private final FrameRuns[] frames = new FrameRuns[node.calls().size()];
    private final WindowFunction[] functions = new WindowFunction[node.calls().size()];
    private @Nullable Partitions input;

    /// Of the current partition: the next row, and how many there are.
    private int next;

    private int size;

    Source(EvalContext context) {
      this.context = context;
      for (int i = 0; i < functions.length; i++) {
        WindowCall call = node.calls().get(i);
        frames[i] = new FrameRuns(call.frame(), context);
        functions[i] = WindowFunction.of(call, frames[i], memory);
      }
    }

    @Override
    public void open() {
      input = spilled ? new SpilledPartitions() : new KeptPartitions();
      next = 0;
      size = 0;
      for (FrameRuns frame : frames) {
        frame.open();
      }
    }

    @Override
    public @Nullable VectorBatch next() {
      Partitions partitionsLeft = input;
      if (partitionsLeft == null) {
        return null;
      }
      batch.reset();
      WindowPartition current = partitionsLeft.partition();
      while (batch.size < VectorBatch.CAPACITY && batch.heap.usedBytes() < BATCH_BYTES) {
        if (next == size) {
          size = partitionsLeft.next();
          next = 0;
          if (size == 0) {
            break;
          }
          for (WindowFunction function : functions) {
            function.begin(current);
          }
        }
        int row = batch.size++;
        for (int c = 0; c < inputOids.length; c++) {
          WindowFunction.copy(current, c, next, batch.columns[c], row, batch.heap);
        }
        context.functions.heap = batch.heap;
        for (int i = 0; i < functions.length; i++) {
          functions[i].evaluate(
              current, next, batch.columns[inputOids.length + i], row, context.functions);
        }
        next++;
      }
      return batch.size == 0 ? null : batch;
    }

    @Override
    public void close() {
      batch.close();
      if (input != null) {
        input.close();
        input = null;
      }
      for (WindowFunction function : functions) {
        function.close();
      }
    }
  }

  /// The partitions, one after another.
  private abstract static class Partitions {
    /// Always the same object.
    abstract WindowPartition partition();

    /// Goes to the next one; its number of rows, 0 at the end.
    abstract int next();

    abstract void close();
  }

  /// Partitions of rows that are all in memory.
  private final class KeptPartitions extends Partitions {
    private final MaterializedRows all;
    private final WindowPartition partition;
    private int end;

    KeptPartitions() {
      MaterializedRows present = rows;
      if (present == null) {
        throw new IllegalStateException("windows are read before their stage has ended");
      }
      all = present;
      partition = new WindowPartition(present, sorted, memory.user());
    }

    @Override
    WindowPartition partition() {
      return partition;
    }

    @Override
    int next() {
      if (end == sorted.length) {
        return 0;
      }
      int start = end++;
      while (end < sorted.length && partitions.compare(all, sorted[start], all, sorted[end]) == 0) {
        end++;
      }
      partition.move(start, end, peers);
      return end - start;
    }

    @Override
    void close() {
      partition.close();
    }
  }

  /// Partitions of rows that were sorted in files: the rows of the current one are in a buffer.
  private final class SpilledPartitions extends Partitions {
    private final Operator source = sort.source();
    private final RowBuffer buffer = new RowBuffer(inputOids, memory);
    private final WindowPartition partition = new WindowPartition(buffer, null, memory.user());

    /// First row of the current partition.
    private final VectorBatch first = new VectorBatch(inputOids.length);

    private @Nullable VectorBatch batch;
    private int at;

    SpilledPartitions() {
      source.open();
      batch = source.next();
    }

    @Override
    WindowPartition partition() {
      return partition;
    }

    @Override
    int next() {
      buffer.clear();
      VectorBatch from = batch;
      if (from == null) {
        return 0;
      }
      first.reset();
      first.size = 1;
      MaterializedRows.copy(inputKinds, from.columns, at, first, 0);
      while (from != null && belongs(from, at)) {
        buffer.append(from.columns, at++);
        if (at == from.size) {
          buffer.account();
          memory.checkCanceled();
          from = source.next();
          at = 0;
        }
      }
      buffer.account();
      batch = from;
      partition.move(0, buffer.size(), peers);
      return buffer.size();
    }

    private boolean belongs(VectorBatch from, int row) {
      for (int column : node.partition()) {
        if (MaterializedRows.differ(
            inputKinds[column], from.columns[column], row, first.columns[column], 0)) {
          return false;
        }
      }
      return true;
    }

    @Override
    void close() {
      source.close();
      buffer.close();
      partition.close();
      first.close();
    }
  }
}
