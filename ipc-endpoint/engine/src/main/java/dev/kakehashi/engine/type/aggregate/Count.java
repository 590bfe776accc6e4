package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// count(*) without arguments, count(any) with one.
final class Count extends GroupedAccumulator implements MergeableGroups {
  private long[] counts = {};

  @Override
  public boolean takesCompact() {
    return true;
  }

  @Override
  void grow(int capacity) {
    counts = Arrays.copyOf(counts, capacity);
  }

  @Override
  void add(int group, long word) {
    counts[group]++;
  }

  @Override
  public void add(ColumnVector[] arguments, int @Nullable [] rows, int[] groups, int count) {
    if (arguments.length > 0 && arguments[0].hasNulls) {
      super.add(arguments, rows, groups, count);
      return;
    }
    long[] sums = counts;
    for (int i = 0; i < count; i++) {
      sums[groups[i]]++;
    }
  }

  @Override
  public void addAll(ColumnVector[] arguments, int @Nullable [] rows, int count, int group) {
    if (arguments.length > 0 && arguments[0].hasNulls) {
      super.addAll(arguments, rows, count, group);
      return;
    }
    counts[group] += count;
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    long[] theirs = ((Count) other).counts;
    for (int i = 0; i < count; i++) {
      counts[groups[i]] += theirs[i];
    }
  }

  @Override
  public void clear(int group) {
    counts[group] = 0;
  }

  @Override
  public void merge(int group, int from) {
    counts[group] += counts[from];
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    out.words[row] = counts[group];
  }

  @Override
  public long memoryBytes() {
    return 8L * counts.length;
  }
}
