package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.numeric.NumericFast;
import dev.kakehashi.engine.type.numeric.Numerics;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;

/// sum and avg of numeric and bigint, as numeric.
final class NumericSum extends GroupedAccumulator implements MergeableGroups {
  private final boolean integers;
  private final boolean average;
  private final NumericSums sums = new NumericSums();
  private long[] counts = {};

  /// @param integers whether the argument is bigint
  NumericSum(boolean integers, boolean average) {
    this.integers = integers;
    this.average = average;
  }

  @Override
  public boolean takesCompact() {
    return true;
  }

  @Override
  void grow(int capacity) {
    sums.grow(capacity);
    counts = Arrays.copyOf(counts, capacity);
  }

  @Override
  void add(int group, long word) {
    counts[group]++;
    if (integers) {
      sums.add(group, word, 0);
    } else {
      sums.add(group, word);
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    NumericSum theirs = (NumericSum) other;
    for (int i = 0; i < count; i++) {
      counts[groups[i]] += theirs.counts[i];
      sums.merge(groups[i], theirs.sums, i);
    }
  }

  @Override
  public void clear(int group) {
    sums.clear(group);
    counts[group] = 0;
  }

  @Override
  public void merge(int group, int from) {
    counts[group] += counts[from];
    sums.merge(group, sums, from);
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    if (counts[group] == 0) {
      out.setNull(row);
      return;
    }
    long sum = sums.result(group, context.heap);
    out.words[row] =
        average
            ? Numerics.divide(sum, NumericFast.encode(context.heap, counts[group], 0), context.heap)
            : sum;
  }

  @Override
  public long memoryBytes() {
    return sums.memoryBytes() + 8L * counts.length;
  }
}
