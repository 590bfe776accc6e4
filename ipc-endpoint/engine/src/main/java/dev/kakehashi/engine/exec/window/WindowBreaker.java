package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowBuffer;
import dev.kakehashi.engine.exec.rows.RowOrder;
import dev.kakehashi.engine.exec.scan.SharedScan;
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
/// Each task sorts what it has collected. The tasks that read the result take partitions by turns; a partition is one task's.
///
/// When the statement's memory gets tight the rows are sorted in files, and a partition is read into a [RowBuffer], which may go to a file
/// again. One task reads them then.
public final class WindowBreaker extends Breaker {
  /// A batch ends when its values have more bytes.
  private static final long BATCH_BYTES = 1L << 20;

  /// Rows that a task takes at a time, and those of the partition in which they end.
  private static final int SHARE_ROWS = 1024;

  /// Rows that are as much work as a page of a table.
  private static final int ROWS_OF_PAGE = 128;

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
  private final Shares shares = new Shares();

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
    shares.open(opened);
  }

  /// How the tasks that read the result share it.
  public SharedScan shares() {
    return shares;
  }

  /// Sorted rows that tasks have taken. Thread-safe while they are read.
  private final class Shares extends SharedScan {
    /// Rows taken; where they are in files: 0, or 1 when a task has them.
    private int taken;

    @Override
    public void open(RunContext opened) {
      taken = 0;
    }

    @Override
    public long pages(int workers) {
      return spilled || node.partition().length == 0 ? 1 : sorted.length / ROWS_OF_PAGE;
    }

    @Override
    public void divide(int tasks) {}

    @Override
    public void close() {}

    /// Whether the caller is the one that reads the files.
    synchronized boolean takeFiles() {
      return taken++ == 0;
    }

    /// The next partitions of rows in memory: where they begin, and in the low half where they end; -1: there are none.
    synchronized long take(MaterializedRows all) {
      if (taken == sorted.length) {
        return -1;
      }
      int from = taken;
      int end =
          node.partition().length == 0 ? sorted.length : Math.min(from + SHARE_ROWS, sorted.length);
      while (end < sorted.length && isSamePartition(all, end - 1, end)) {
        memory.checkCanceled(end);
        end++;
      }
      taken = end;
      return (long) from << 32 | end;
    }
  }

  private boolean isDescending() {
    return !node.order().isEmpty() && node.order().getFirst().descending();
  }

  private boolean isSamePartition(MaterializedRows all, int a, int b) {
    return partitions.compare(all, sorted[a], all, sorted[b]) == 0;
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

    /// Positions of the kept rows in their order, after [#finish()].
    int[] positions = new int[0];

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
      } else {
        positions = order.sort(kept, user);
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
    List<int[]> runs = new ArrayList<>();
    runs.add(first.positions);
    for (int i = 1; i < parts.size(); i++) {
      Part other = parts.get(i);
      int before = all.size();
      int moved = other.kept.size();
      all.appendAll(other.kept);
      first.user.absorb(other.user);
      // The full chunks come first, see appendAll().
      int full = before - MaterializedRows.inChunk(before);
      int movedFull = moved - MaterializedRows.inChunk(moved);
      runs.forEach(run -> shift(run, full, 0, movedFull));
      shift(other.positions, movedFull, full, before);
      runs.add(other.positions);
    }
    rows = all;
    sorted = merged(all, runs);
  }

  /// Moves positions before `limit` by `low`, others by `high`.
  private static void shift(int[] positions, int limit, int low, int high) {
    for (int i = 0; i < positions.length; i++) {
      positions[i] += positions[i] < limit ? low : high;
    }
  }

  /// The positions of sorted runs in one order; of equal rows those of an earlier run come first.
  private int[] merged(MaterializedRows all, List<int[]> runs) {
    List<int[]> left = runs;
    long bytes = left.size() > 1 ? RowOrder.sortBytes(all.size()) : 0;
    memory.add(bytes);
    try {
      while (left.size() > 1) {
        List<int[]> next = new ArrayList<>();
        for (int i = 0; i < left.size(); i += 2) {
          next.add(i + 1 < left.size() ? merged(all, left.get(i), left.get(i + 1)) : left.get(i));
        }
        left = next;
      }
      return left.getFirst();
    } finally {
      memory.add(-bytes);
    }
  }

  private int[] merged(MaterializedRows all, int[] a, int[] b) {
    int[] into = new int[a.length + b.length];
    int fromA = 0;
    int fromB = 0;
    for (int i = 0; i < into.length; i++) {
      memory.checkCanceled(i);
      boolean takesA =
          fromB == b.length
              || (fromA < a.length && order.compare(all, a[fromA], all, b[fromB]) <= 0);
      into[i] = takesA ? a[fromA++] : b[fromB++];
    }
    return into;
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

    /// Position in the current partition: the next row, and how many there are.
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
      input = !spilled ? new KeptPartitions() : shares.takeFiles() ? new SpilledPartitions() : null;
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

    /// Rest of the rows that were taken: `[at, end)` of the order.
    private int at;

    private int end;

    KeptPartitions() {
      MaterializedRows present = rows;
      if (present == null) {
        throw new IllegalStateException("windows are read before their stage has ended");
      }
      all = present;
      partition = new WindowPartition(present, sorted, isDescending(), memory.user());
    }

    @Override
    WindowPartition partition() {
      return partition;
    }

    @Override
    int next() {
      if (at == end) {
        long share = shares.take(all);
        if (share < 0) {
          return 0;
        }
        at = (int) (share >>> 32);
        end = (int) share;
      }
      int start = at++;
      while (at < end && isSamePartition(all, at - 1, at)) {
        memory.checkCanceled(at);
        at++;
      }
      partition.move(start, at, peers);
      return at - start;
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
    private final WindowPartition partition =
        new WindowPartition(buffer, null, isDescending(), memory.user());

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
