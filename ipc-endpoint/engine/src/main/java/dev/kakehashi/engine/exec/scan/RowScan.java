package dev.kakehashi.engine.exec.scan;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.operator.RowsBeforeFailure;
import dev.kakehashi.engine.exec.operator.RunContext;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.expr.RowFilter;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.DeferredValues;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// A leaf that reads rows of a table, of which a filter may leave some: how they are found is the subclass's.
public abstract class RowScan extends Operator {
  final RunContext run;

  /// To read from the store; the row identifier is none of them.
  final int[] columns;

  final boolean withRowIds;
  final VectorBatch batch;
  private final boolean rowIdColumn;
  private long expected = VectorBatch.CAPACITY;
  private final RowsBeforeFailure before;
  private final boolean filtered;
  private BitSet compact = new BitSet();

  /// @param planned columns of the batches; the last one may be [PlanNode#ROW_ID]
  /// @param condition null: all rows pass
  RowScan(
      RunContext run,
      int[] planned,
      @Nullable Expr condition,
      EvalContext context,
      boolean withRowIds) {
    this.run = run;
    this.rowIdColumn = planned.length > 0 && planned[planned.length - 1] == PlanNode.ROW_ID;
    this.withRowIds = withRowIds || rowIdColumn;
    this.columns = rowIdColumn ? Arrays.copyOf(planned, planned.length - 1) : planned;
    this.batch = new VectorBatch(planned.length);
    this.filtered = condition != null;
    this.before =
        new RowsBeforeFailure(condition == null ? null : RowFilter.of(condition, context), context);
  }

  @Override
  public void giveCompact(BitSet given) {
    compact = given;
  }

  /// Whether values had better be copied later: a condition may leave rows out, or whoever reads them takes words.
  boolean defersValues() {
    return filtered || !compact.isEmpty();
  }

  @Override
  public void expectRows(long rows) {
    expected = rows;
  }

  @Override
  public void open() {
    before.open();
    batch.wanted = firstBatch(expected);
  }

  /// Fills `batch` with the next rows; false at the end.
  abstract boolean fill();

  @Override
  public @Nullable VectorBatch next() {
    while (true) {
      before.check();
      if (!fill()) {
        return null;
      }
      batch.wanted = nextBatch(batch.wanted);
      if (rowIdColumn) {
        ColumnVector last = batch.columns[batch.columns.length - 1];
        System.arraycopy(batch.rowIds, 0, last.words, 0, batch.size);
      }
      run.scope().scanned(batch.liveRows());
      if (before.narrow(batch)) {
        DeferredValues deferred = batch.deferred;
        if (deferred != null) {
          deferred.copyAll(batch, compact);
          batch.deferred = null;
        }
        return batch;
      }
      Interrupts.check();
    }
  }

  @Override
  public void close() {
    batch.close();
    before.close();
  }
}
