package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.exec.rows.IndexedRows;
import dev.kakehashi.engine.exec.rows.MemoryAccount;

/// The rows of a partition whose value in one column is not null, for IGNORE NULLS. Each question costs the same, however many nulls are
/// between them. Confined to one task.
final class NonNullRows {
  private final int column;
  private final MemoryAccount memory;

  /// `before[i]`: how many of the positions before `i` have a value; one entry more than there are rows.
  private int[] before = new int[0];

  /// Positions that have a value, in order.
  private int[] positions = new int[0];

  /// @param memory of the task
  NonNullRows(int column, MemoryAccount memory) {
    this.column = column;
    this.memory = memory;
  }

  /// Looks at the rows of a partition.
  void begin(WindowPartition partition) {
    int size = partition.size();
    if (positions.length < size) {
      int length = Math.max(size, Math.max(64, 2 * positions.length));
      close();
      memory.add(bytes(length));
      positions = new int[length];
      before = new int[length + 1];
    }
    IndexedRows rows = partition.rows();
    int found = 0;
    for (int position = 0; position < size; position++) {
      memory.checkCanceled(position);
      before[position] = found;
      if (!rows.isNull(column, partition.row(position))) {
        positions[found++] = position;
      }
    }
    before[size] = found;
  }

  private static long bytes(int length) {
    return 4L * (2L * length + 1);
  }

  /// Rows with a value in `[start, end)`.
  int count(int start, int end) {
    return before[end] - before[start];
  }

  /// Position of row `number`, from 0, of those with a value from `start` on.
  int position(int start, long number) {
    return positions[(int) (before[start] + number)];
  }

  /// Frees what it holds.
  void close() {
    if (positions.length > 0) {
      memory.add(-bytes(positions.length));
      positions = new int[0];
      before = new int[0];
    }
  }
}
