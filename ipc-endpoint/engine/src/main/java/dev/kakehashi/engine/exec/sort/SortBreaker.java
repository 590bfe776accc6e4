package dev.kakehashi.engine.exec.sort;

import dev.kakehashi.engine.exec.operator.Breaker;
import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RowOperators;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.exec.rows.RowOrder;
import dev.kakehashi.engine.exec.rows.SortedFiles;
import dev.kakehashi.engine.exec.rows.SortedRows;
import dev.kakehashi.engine.exec.rows.SpillFile;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.SortKey;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// ORDER BY [LIMIT]: each task sorts its share, then the sorted runs are merged as they are read.
///
/// With a limit a task keeps no more than a few times the rows that can be wanted of it. When the statement's memory gets tight, what a
/// task has is sorted and goes to a file; the files are merged, several at a time until few enough are left, and with what is in memory at
/// the end (external merge sort; Knuth, TAOCP 3, 5.4).
public final class SortBreaker extends Breaker {
  /// Rows collected before a top-n run is cut down, at least.
  private static final int MIN_CUT_ROWS = 8192;

  private static final int CUT_FACTOR = 4;

  private final PlanNode.Sort node;
  private final MemoryAccount memory;
  private final RowOrder order;
  private final List<Run> runs = new ArrayList<>();
  private @Nullable EvalContext counts;
  private long offset;
  private long limit = Long.MAX_VALUE;
  private long keep = Long.MAX_VALUE;

  /// Files of all tasks; null: all rows are in memory.
  private @Nullable SortedFiles files;

  public SortBreaker(PlanNode.Sort node, MemoryAccount memory) {
    this.node = node;
    this.memory = memory;
    this.order = new RowOrder(node.keys(), memory);
  }

  /// A sort of rows that come from somewhere else than a node of the plan; it needs no [#open].
  ///
  /// @param keys none: the rows stay in their order
  public static SortBreaker of(int[] typeOids, List<SortKey> keys, MemoryAccount memory) {
    PlanNode none = new PlanNode.Values(List.of(), typeOids);
    return new SortBreaker(new PlanNode.Sort(none, keys, null, null), memory);
  }

  @Override
  public void open(RunContext execution) {
    EvalContext context = counts;
    if (context == null) {
      context = execution.newContext();
      counts = context;
    }
    offset = count(node.offset(), 0, ErrorCode.INVALID_ROW_COUNT_IN_OFFSET, "OFFSET", context);
    limit =
        count(node.limit(), Long.MAX_VALUE, ErrorCode.INVALID_ROW_COUNT_IN_LIMIT, "LIMIT", context);
    keep = limit > Long.MAX_VALUE - offset ? Long.MAX_VALUE : offset + limit;
  }

  private static long count(
      @Nullable Expr expr, long none, ErrorCode code, String clause, EvalContext context) {
    return RowOperators.count(
        expr == null ? null : Evaluators.of(expr, context), none, code, clause, context);
  }

  @Override
  public Collector newCollector() {
    Run run = new Run();
    runs.add(run);
    return run;
  }

  @Override
  public void complete(List<Collector> collectors) {
    for (Run run : runs) {
      if (run.files.isEmpty()) {
        continue;
      }
      SortedFiles all = files;
      if (all == null) {
        all = newFiles(memory);
        files = all;
      }
      all.take(run.files);
    }
    if (files != null) {
      files.reduce();
    }
  }

  private SortedFiles newFiles(MemoryAccount user) {
    return new SortedFiles(MaterializedRows.kinds(node.typeOids()), order, user, keep);
  }

  @Override
  public void close() {
    for (Run run : runs) {
      run.rows.clear();
      run.files.close();
    }
    runs.clear();
    if (files != null) {
      files.close();
      files = null;
    }
  }

  public Operator source() {
    return new Merge();
  }

  private final class Run implements Collector {
    private final MemoryAccount user = memory.user();
    private MaterializedRows rows = new MaterializedRows(node.typeOids(), user);
    private int[] sorted = new int[0];
    private final @Nullable TopThreshold threshold =
        keep == Long.MAX_VALUE ? null : new TopThreshold(node.keys().get(0));
    private final SortedFiles files = newFiles(user);

    @Override
    public void accept(VectorBatch batch) {
      if (threshold != null) {
        threshold.narrow(batch, rows.kind(node.keys().get(0).column()));
      }
      int copied = 0;
      while (copied < batch.liveRows()) {
        copied = rows.append(batch, copied);
        if (keep < rows.size() / CUT_FACTOR && rows.size() >= MIN_CUT_ROWS) {
          cut();
        } else if (user.wantsBack(rows.bytes(), RowOrder.sortBytes(rows.size()))) {
          spill();
        }
      }
    }

    private void spill() {
      int[] positions = order.sort(rows, user);
      SpillFile file = files.begin();
      for (int position : positions) {
        file.append(rows.chunk(position), MaterializedRows.inChunk(position));
      }
      rows.clear();
      files.end();
    }

    /// Keeps the first rows only.
    private void cut() {
      int[] positions = order.sort(rows, user);
      MaterializedRows first = new MaterializedRows(node.typeOids(), user);
      for (int i = 0; i < keep; i++) {
        first.append(rows, positions[i]);
      }
      first.account();
      rows.clear();
      rows = first;
      if (keep > 0 && threshold != null) {
        threshold.set(rows, rows.size() - 1);
      }
    }

    @Override
    public void finish() {
      sorted = order.sort(rows, user);
    }
  }

  private final class Merge extends Operator {
    private final VectorBatch batch = new VectorBatch(node.typeOids().length);
    private int[] positions = new int[0];
    private SortedRows.@Nullable Merge spilled;
    private long skip;
    private long left;
    private final MemoryAccount user = memory.user();
    private long bufferBytes;

    @Override
    public void open() {
      addBuffers(-bufferBytes);
      positions = new int[runs.size()];
      spilled = files == null ? null : merge(files);
      skip = offset;
      left = limit;
    }

    private void addBuffers(long bytes) {
      bufferBytes += bytes;
      user.add(bytes);
    }

    private SortedRows.Merge merge(SortedFiles sorted) {
      int buffer = user.bufferBytes();
      addBuffers((long) buffer * sorted.size());
      List<SortedRows> inputs = sorted.inputs(buffer);
      runs.forEach(run -> inputs.add(SortedRows.of(run.rows, run.sorted)));
      return new SortedRows.Merge(inputs, order::compare);
    }

    @Override
    public @Nullable VectorBatch next() {
      batch.reset();
      SortedRows.Merge merge = spilled;
      if (merge != null) {
        readSpilled(merge);
        return batch.size == 0 ? null : batch;
      }
      while (left > 0 && batch.size < VectorBatch.CAPACITY) {
        int first = first();
        if (first < 0) {
          break;
        }
        Run run = runs.get(first);
        int row = run.sorted[positions[first]++];
        if (skip > 0) {
          skip--;
        } else {
          run.rows.read(row, batch, batch.size++, 0);
          left--;
        }
      }
      return batch.size == 0 ? null : batch;
    }

    private void readSpilled(SortedRows.Merge merge) {
      for (; skip > 0; skip--) {
        memory.checkCanceled(skip);
        if (merge.next() == null) {
          left = 0;
        }
      }
      while (left > 0 && batch.hasRoom()) {
        SortedRows row = merge.next();
        if (row == null) {
          left = 0;
          break;
        }
        row.read(batch, batch.size++);
        left--;
      }
    }

    /// Run whose next row comes first, or -1. There are as many runs as workers: a scan is enough.
    private int first() {
      int best = -1;
      for (int i = 0; i < positions.length; i++) {
        Run run = runs.get(i);
        if (positions[i] < run.sorted.length
            && (best < 0 || comesBefore(run, positions[i], runs.get(best), positions[best]))) {
          best = i;
        }
      }
      return best;
    }

    private boolean comesBefore(Run a, int positionA, Run b, int positionB) {
      return order.compare(a.rows, a.sorted[positionA], b.rows, b.sorted[positionB]) < 0;
    }

    @Override
    public void close() {
      addBuffers(-bufferBytes);
      spilled = null;
      batch.close();
    }
  }
}
