package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.RowFilter;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// What an operator keeps of a failure until its place among the rows comes.
///
/// Rows are computed a batch at a time, but an expression fails for one row. The rows before it are handed on first, so that whoever has enough of them, as a LIMIT has,
/// never comes to the failure. Confined to the operator's task.
final class RowsBeforeFailure {
  private @Nullable EngineException failure;

  /// Begins a run of the operator.
  void open() {
    failure = null;
  }

  /// Before the operator goes on after a batch.
  ///
  /// @throws EngineException the failure of the row behind those that were handed on
  void check() {
    EngineException thrown = failure;
    if (thrown != null) {
      throw thrown;
    }
  }

  /// Whether a failure is that of a row's values: SQLSTATE class 22, data exceptions.
  static boolean isOfRow(Throwable thrown) {
    return thrown instanceof EngineException e && e.code().sqlstate().startsWith("22");
  }

  /// Applies a filter that may allocate in `heap`, up to the first row that it fails for; false when no row is left, of which [#check] then knows the reason.
  ///
  /// @param filter null: all rows pass
  boolean narrow(@Nullable RowFilter filter, VectorBatch batch, EvalContext context, VarHeap heap) {
    if (filter != null && batch.liveRows() > 0) {
      narrowTo(filter, batch, context, heap);
    }
    return batch.liveRows() > 0;
  }

  private void narrowTo(RowFilter filter, VectorBatch batch, EvalContext context, VarHeap heap) {
    boolean limited = batch.liveRows() > 1 && filter.isRepeatable();
    heap.limit(limited ? VectorBatch.COMPUTED_BYTES : Long.MAX_VALUE);
    try {
      apply(filter, batch, context, heap);
    } catch (VarHeap.LimitReached e) {
      oneByOne(filter, batch, context, heap);
    } catch (EngineException e) {
      if (!isOfRow(e)) {
        throw e;
      }
      oneByOne(filter, batch, context, heap);
    } finally {
      heap.limit(Long.MAX_VALUE);
    }
  }

  private static void apply(
      RowFilter filter, VectorBatch batch, EvalContext context, VarHeap heap) {
    heap.reset();
    context.functions.heap = heap;
    filter.apply(batch);
  }

  /// Narrows a batch to the live rows that pass, before the first one that the filter fails for.
  private void oneByOne(RowFilter filter, VectorBatch batch, EvalContext context, VarHeap heap) {
    heap.limit(Long.MAX_VALUE);
    int[] rows = liveRows(batch);
    int kept = 0;
    failure = null;
    for (int k = 0; k < rows.length && failure == null; k++) {
      batch.selection[0] = rows[k];
      batch.selected = 1;
      try {
        apply(filter, batch, context, heap);
      } catch (EngineException e) {
        if (!isOfRow(e)) {
          throw e;
        }
        failure = e;
        continue;
      }
      if (batch.liveRows() > 0) {
        // Never ahead of the rows that are still to be looked at.
        rows[kept++] = rows[k];
      }
    }
    System.arraycopy(rows, 0, batch.selection, 0, kept);
    batch.selected = kept;
  }

  static int[] liveRows(VectorBatch batch) {
    int[] rows = new int[batch.liveRows()];
    for (int k = 0; k < rows.length; k++) {
      rows[k] = batch.selected < 0 ? k : batch.selection[k];
    }
    return rows;
  }
}
