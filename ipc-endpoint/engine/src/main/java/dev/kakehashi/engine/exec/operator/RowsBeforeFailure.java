package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.RowFilter;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A condition of an operator, and what is kept of its failure until its place among the rows comes.
///
/// Rows are looked at a batch at a time, but an expression fails for one row. The rows before it are handed on first, so that whoever has
/// enough of them, as a LIMIT has, never comes to the failure. Confined to the operator's task.
public final class RowsBeforeFailure {
  private final @Nullable RowFilter filter;
  private final RowSlices slices;
  private final Consumer<VectorBatch> computation;

  /// Values that the condition makes of the rows.
  private final VarHeap heap = new VarHeap();

  private @Nullable EngineException failure;

  /// @param filter null: all rows pass
  public RowsBeforeFailure(@Nullable RowFilter filter, EvalContext context) {
    this.filter = filter;
    this.slices = new RowSlices(filter == null || filter.isRepeatable());
    this.computation =
        batch -> {
          context.functions.heap = heap;
          if (filter != null) {
            filter.apply(batch);
          }
        };
  }

  /// Begins a run of the operator.
  public void open() {
    failure = null;
    slices.begin();
  }

  /// Before the operator goes on after a batch.
  ///
  /// @throws EngineException the failure of the row behind those that were handed on
  public void check() {
    EngineException thrown = failure;
    if (thrown != null) {
      throw thrown;
    }
  }

  /// Whether a failure is that of a row's values: SQLSTATE class 22, data exceptions, and what a constraint refuses.
  public static boolean isOfRow(Throwable thrown) {
    return thrown instanceof EngineException e && (e.sqlstate().startsWith("22") || isRefusal(e));
  }

  /// Whether a constraint has refused a row: SQLSTATE class 23.
  static boolean isRefusal(EngineException e) {
    return e.sqlstate().startsWith("23");
  }

  /// Narrows a batch to the live rows that pass, before the first one that the condition fails for; false when no row is left, of which
  /// [#check] then knows the reason.
  public boolean narrow(VectorBatch batch) {
    if (filter != null && batch.liveRows() > 0) {
      narrowTo(batch);
    }
    return batch.liveRows() > 0;
  }

  private void narrowTo(VectorBatch batch) {
    apply(batch);
    if (!slices.isUnfinished()) {
      return;
    }
    int[] passed = new int[batch.size];
    int count = append(batch, passed, 0);
    while (slices.isUnfinished()) {
      apply(batch);
      count = append(batch, passed, count);
    }
    System.arraycopy(passed, 0, batch.selection, 0, count);
    batch.selected = count;
  }

  /// Applies the condition to all rows or to the next ones. One that fails is the last: it leaves none.
  private void apply(VectorBatch batch) {
    try {
      slices.compute(batch, heap, computation);
    } catch (EngineException e) {
      if (!isOfRow(e)) {
        throw e;
      }
      failure = e;
      slices.begin();
      batch.selected = 0;
    }
  }

  private static int append(VectorBatch batch, int[] to, int count) {
    int live = batch.liveRows();
    for (int k = 0; k < live; k++) {
      to[count + k] = batch.selected < 0 ? k : batch.selection[k];
    }
    return count + live;
  }

  static int[] liveRows(VectorBatch batch) {
    int[] rows = new int[batch.liveRows()];
    append(batch, rows, 0);
    return rows;
  }

  public void close() {
    heap.close();
  }
}
