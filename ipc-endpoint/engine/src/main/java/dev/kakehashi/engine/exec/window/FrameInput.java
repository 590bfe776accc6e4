package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.exec.rows.IndexedRows;
import dev.kakehashi.engine.exec.rows.MaterializedRows;
import dev.kakehashi.engine.plan.PlanNode.WindowCall;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;

/// Reads the arguments of an aggregate from a partition's rows, and gives them to an accumulator. Confined to one task.
final class FrameInput {
  /// Rows aggregated between two looks whether the statement is canceled.
  private static final int CHECK_ROWS = 1 << 13;

  /// Values are copied up to so many bytes, and one more.
  private static final long MAX_BYTES = 1 << 20;

  private final WindowCall call;
  private final ColumnVector[] arguments;

  /// Index of the group of each row read.
  private final int[] groups = new int[VectorBatch.CAPACITY];

  /// Values that would be gone when later rows are read.
  private final VarHeap heap = new VarHeap();

  /// After the rows that were read last.
  private int next;

  private int sinceCheck;

  FrameInput(WindowCall call) {
    this.call = call;
    this.arguments = new ColumnVector[call.arguments().length];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = new ColumnVector(VectorBatch.CAPACITY);
    }
  }

  /// Adds rows to one group.
  void add(WindowPartition partition, int from, int end, Accumulator to, int group) {
    for (int position = from; position < end; position = next) {
      int count = read(partition, position, end, 0);
      to.addAll(arguments, null, count, group);
    }
  }

  /// Adds each row to a group of its own, from `firstGroup` on.
  void addApart(WindowPartition partition, int from, int end, Accumulator to, int firstGroup) {
    for (int position = from; position < end; position = next) {
      int count = read(partition, position, end, firstGroup + position - from);
      to.add(arguments, null, groups, count);
    }
  }

  /// Reads as many rows as fit; how many count.
  private int read(WindowPartition partition, int from, int end, int firstGroup) {
    IndexedRows rows = partition.rows();
    boolean copies = partition.isTransient();
    for (ColumnVector argument : arguments) {
      argument.clearNulls();
    }
    heap.reset();
    int count = 0;
    int position = from;
    while (position < end && count < VectorBatch.CAPACITY && heap.usedBytes() < MAX_BYTES) {
      int row = partition.row(position++);
      if (call.filter() >= 0
          && (rows.isNull(call.filter(), row) || rows.word(call.filter(), row) == 0)) {
        continue;
      }
      for (int i = 0; i < arguments.length; i++) {
        int column = call.arguments()[i];
        if (rows.isNull(column, row)) {
          arguments[i].setNull(count);
        } else {
          long word = rows.word(column, row);
          arguments[i].words[count] =
              copies ? MaterializedRows.copied(heap, rows.kind(column), word) : word;
        }
      }
      groups[count++] = firstGroup + position - 1 - from;
    }
    next = position;
    sinceCheck += position - from;
    if (sinceCheck > CHECK_ROWS) {
      sinceCheck = 0;
      Interrupts.check();
    }
    return count;
  }

  void close() {
    heap.close();
  }
}
