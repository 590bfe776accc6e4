package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import org.jspecify.annotations.Nullable;

/// An accumulator of one argument that ignores nulls.
abstract class GroupedAccumulator implements Accumulator {
  private static final int MIN_CAPACITY = 16;
  private int capacity;

  @Override
  public final void resize(int groupCount) {
    if (groupCount > capacity) {
      capacity = Math.max(groupCount, Math.max(MIN_CAPACITY, capacity + (capacity >> 1)));
      grow(capacity);
    }
  }

  /// Makes room for groups `0 .. capacity-1`.
  abstract void grow(int capacity);

  abstract void add(int group, long word);

  @Override
  public void add(ColumnVector[] arguments, int @Nullable [] rows, int[] groups, int count) {
    ColumnVector column = arguments[0];
    long[] words = column.words;
    if (rows == null && !column.hasNulls) {
      for (int i = 0; i < count; i++) {
        add(groups[i], words[i]);
      }
      return;
    }
    for (int i = 0; i < count; i++) {
      int row = rows == null ? i : rows[i];
      if (!column.isNull(row)) {
        add(groups[i], words[row]);
      }
    }
  }

  @Override
  public void addAll(ColumnVector[] arguments, int @Nullable [] rows, int count, int group) {
    ColumnVector column = arguments[0];
    long[] words = column.words;
    for (int i = 0; i < count; i++) {
      int row = rows == null ? i : rows[i];
      if (!column.isNull(row)) {
        add(group, words[row]);
      }
    }
  }

  @Override
  public void close() {}
}
