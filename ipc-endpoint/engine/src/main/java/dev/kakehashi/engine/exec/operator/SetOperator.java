package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import org.jspecify.annotations.Nullable;

/// INTERSECT and EXCEPT [ALL]: gives each distinct row as often as the counts of both sides behind it say.
public final class SetOperator extends Operator {
  private final Operator input;
  private final PlanNode.SetOperation node;
  private final int columns;
  private final VectorBatch out;
  private @Nullable VectorBatch rows;

  /// Live row of `rows` that comes next, and how often the one before is still to come.
  private int next;

  private long repeat;

  public SetOperator(Operator input, PlanNode.SetOperation node) {
    this.input = input;
    this.node = node;
    this.columns = node.typeOids().length;
    this.out = new VectorBatch(columns);
  }

  @Override
  public void open() {
    input.open();
    rows = null;
    repeat = 0;
  }

  @Override
  public @Nullable VectorBatch next() {
    out.reset();
    while (out.size < VectorBatch.CAPACITY) {
      VectorBatch from = rows;
      if (from == null) {
        from = input.next();
        if (from == null) {
          return null;
        }
        rows = from;
        next = 0;
      }
      if (repeat > 0) {
        repeat--;
        put(from, row(from, next - 1));
      } else if (next < from.liveRows()) {
        repeat = times(from, row(from, next++));
      } else {
        rows = null;
        if (out.size > 0) {
          // Their values belong to the batch that the next one replaces.
          return out;
        }
      }
    }
    return out;
  }

  private static int row(VectorBatch batch, int k) {
    return batch.selected < 0 ? k : batch.selection[k];
  }

  private long times(VectorBatch from, int row) {
    long left = from.columns[columns].words[row];
    long right = from.columns[columns + 1].words[row];
    if (node.all()) {
      return node.intersect() ? Math.min(left, right) : Math.max(left - right, 0);
    }
    return left > 0 && node.intersect() == right > 0 ? 1 : 0;
  }

  private void put(VectorBatch from, int row) {
    int to = out.size++;
    for (int c = 0; c < columns; c++) {
      ColumnVector column = from.columns[c];
      if (column.isNull(row)) {
        out.columns[c].setNull(to);
      } else {
        out.columns[c].words[to] = column.words[row];
      }
    }
  }

  @Override
  public void close() {
    input.close();
    out.close();
    rows = null;
  }
}
