package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.Operator;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.plan.PlanNode.JoinKind;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Runs the right side for each row of the left. Values of the right side are copied, because it goes on before the batch is full.
public final class CorrelateOperator extends Operator {
  private final Operator left;
  private final SubPlan right;
  private final PlanNode.Correlate node;
  private final EvalContext context;
  private final int leftColumns;
  private final ColumnKind[] rightKinds;
  private final boolean onlyLeft;
  private final VectorBatch out;
  private @Nullable VectorBatch input;

  /// Live row of the input that the right side runs for, -1 before the first.
  private int current;

  private long expected = VectorBatch.CAPACITY;

  /// Rows of the next batch.
  private int nextRows;

  private boolean rightOpen;
  private boolean matched;

  /// State of a right side with one row for all rows of the left: whether it was run, and that row.
  private boolean ran;

  private @Nullable VectorBatch kept;
  private @Nullable VectorBatch pending;
  private int pendingRow;

  CorrelateOperator(Operator left, SubPlan right, PlanNode.Correlate node, EvalContext context) {
    this.left = left;
    this.right = right;
    this.node = node;
    this.context = context;
    this.leftColumns = node.left().typeOids().length;
    this.rightKinds = MaterializedRows.kinds(node.right().typeOids());
    this.onlyLeft = node.kind() == JoinKind.SEMI || node.kind() == JoinKind.ANTI;
    this.out = new VectorBatch(node.typeOids().length);
    if (onlyLeft) {
      right.expectRows(1);
    }
  }

  @Override
  public void expectRows(long rows) {
    expected = rows;
    left.expectRows(rows);
  }

  @Override
  public void open() {
    nextRows = firstBatch(expected);
    left.open();
    input = null;
    pending = null;
    rightOpen = false;
    ran = false;
    kept = null;
  }

  @Override
  public @Nullable VectorBatch next() {
    out.reset();
    out.wanted = nextRows;
    nextRows = nextBatch(nextRows);
    while (out.hasRoom()) {
      if (rightOpen) {
        takeRight();
        continue;
      }
      VectorBatch batch = input;
      if (batch != null && current + 1 < batch.liveRows()) {
        current++;
        openRight(batch);
        continue;
      }
      if (out.size > 0) {
        // The rows given out point into the left batch, which the next one replaces.
        input = null;
        return out;
      }
      input = left.next();
      current = -1;
      if (input == null) {
        return null;
      }
    }
    return out;
  }

  private int leftRow(VectorBatch batch) {
    return batch.selected < 0 ? current : batch.selection[current];
  }

  private void openRight(VectorBatch batch) {
    matched = false;
    pending = null;
    if (!isAsked(batch)) {
      putUnmatched();
      return;
    }
    rightOpen = true;
    if (!node.once()) {
      run(batch);
      return;
    }
    if (!ran) {
      run(batch);
      VectorBatch rows = right.next();
      while (rows != null && rows.liveRows() == 0) {
        rows = right.next();
      }
      kept = rows;
      ran = true;
    }
    pending = kept;
    pendingRow = 0;
  }

  private boolean isAsked(VectorBatch batch) {
    if (node.guard() < 0) {
      return true;
    }
    ColumnVector guard = batch.columns[node.guard()];
    int row = leftRow(batch);
    return !guard.isNull(row) && guard.words[row] != 0;
  }

  private void run(VectorBatch batch) {
    int count = node.firstParameter() + node.leftColumns().length;
    long[] words = Arrays.copyOf(context.parameters, Math.max(count, context.parameters.length));
    boolean[] nulls =
        Arrays.copyOf(context.parameterNulls, Math.max(count, context.parameterNulls.length));
    int row = leftRow(batch);
    for (int i = 0; i < node.leftColumns().length; i++) {
      ColumnVector column = batch.columns[node.leftColumns()[i]];
      nulls[node.firstParameter() + i] = column.isNull(row);
      words[node.firstParameter() + i] = column.isNull(row) ? 0 : column.words[row];
    }
    right.open(words, nulls);
  }

  /// Takes rows of the right side until it ends or the batch is full.
  private void takeRight() {
    VectorBatch rows = pending;
    if (rows == null && !node.once()) {
      rows = right.next();
      pendingRow = 0;
      pending = rows;
    }
    if (rows == null || (onlyLeft && rows.liveRows() > 0)) {
      matched |= rows != null;
      endRight();
      return;
    }
    int live = rows.liveRows();
    while (pendingRow < live && out.hasRoom()) {
      matched = true;
      int row = rows.selected < 0 ? pendingRow : rows.selection[pendingRow];
      pendingRow++;
      int to = putLeft();
      for (int c = 0; c < rightKinds.length; c++) {
        ColumnVector from = rows.columns[c];
        if (from.isNull(row)) {
          out.columns[leftColumns + c].setNull(to);
        } else {
          out.columns[leftColumns + c].words[to] =
              MaterializedRows.copied(out.heap, rightKinds[c], from.words[row]);
        }
      }
    }
    if (pendingRow == live) {
      pending = null;
    }
  }

  private void endRight() {
    putUnmatched();
    if (!node.once()) {
      right.close();
    }
    rightOpen = false;
    pending = null;
  }

  /// The row of the left as it is without one of the right, or with one if only that is asked.
  private void putUnmatched() {
    boolean alone =
        switch (node.kind()) {
          case LEFT, ANTI -> !matched;
          case SEMI -> matched;
          default -> false;
        };
    if (alone) {
      int to = putLeft();
      for (int c = leftColumns; c < out.columns.length; c++) {
        out.columns[c].setNull(to);
      }
    }
  }

  private int putLeft() {
    VectorBatch batch = input;
    if (batch == null) {
      throw new IllegalStateException("no row on the left");
    }
    int row = leftRow(batch);
    int to = out.size++;
    for (int c = 0; c < leftColumns; c++) {
      if (batch.columns[c].isNull(row)) {
        out.columns[c].setNull(to);
      } else {
        out.columns[c].words[to] = batch.columns[c].words[row];
      }
    }
    return to;
  }

  @Override
  public void close() {
    right.close();
    rightOpen = false;
    left.close();
    out.close();
    input = null;
    pending = null;
    kept = null;
  }
}
