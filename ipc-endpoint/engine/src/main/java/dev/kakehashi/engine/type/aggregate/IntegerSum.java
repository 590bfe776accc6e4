package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.numeric.NumericFast;
import dev.kakehashi.engine.type.numeric.Numerics;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// sum and avg of smallint and integer: a 64-bit sum, which 2^32 rows cannot overflow.
final class IntegerSum extends GroupedAccumulator implements MergeableGroups {
  private final boolean average;
  private long[] sums = {};
  private long[] counts = {};

  IntegerSum(boolean average) {
    this.average = average;
  }

  @Override
  void grow(int capacity) {
    sums = Arrays.copyOf(sums, capacity);
    counts = Arrays.copyOf(counts, capacity);
  }

  @Override
  void add(int group, long word) {
    sums[group] += word;
    counts[group]++;
  }

  @Override
  public void add(ColumnVector[] arguments, int @Nullable [] rows, int[] groups, int count) {
    ColumnVector column = arguments[0];
    if (column.hasNulls) {
      super.add(arguments, rows, groups, count);
      return;
    }
    long[] words = column.words;
    for (int i = 0; i < count; i++) {
      int group = groups[i];
      sums[group] += words[rows == null ? i : rows[i]];
      counts[group]++;
    }
  }

  @Override
  public void addAll(ColumnVector[] arguments, int @Nullable [] rows, int count, int group) {
    ColumnVector column = arguments[0];
    if (column.hasNulls) {
      super.addAll(arguments, rows, count, group);
      return;
    }
    long[] words = column.words;
    long sum = 0;
    if (rows == null) {
      for (int i = 0; i < count; i++) {
        sum += words[i];
      }
    } else {
      for (int i = 0; i < count; i++) {
        sum += words[rows[i]];
      }
    }
    sums[group] += sum;
    counts[group] += count;
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    IntegerSum theirs = (IntegerSum) other;
    for (int i = 0; i < count; i++) {
      sums[groups[i]] += theirs.sums[i];
      counts[groups[i]] += theirs.counts[i];
    }
  }

  @Override
  public void clear(int group) {
    sums[group] = 0;
    counts[group] = 0;
  }

  @Override
  public void merge(int group, int from) {
    sums[group] += sums[from];
    counts[group] += counts[from];
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    if (counts[group] == 0) {
      out.setNull(row);
    } else if (average) {
      long sum = NumericFast.encode(context.heap, sums[group], 0);
      long count = NumericFast.encode(context.heap, counts[group], 0);
      out.words[row] = Numerics.divide(sum, count, context.heap);
    } else {
      out.words[row] = sums[group];
    }
  }

  @Override
  public long memoryBytes() {
    return 16L * sums.length;
  }
}
