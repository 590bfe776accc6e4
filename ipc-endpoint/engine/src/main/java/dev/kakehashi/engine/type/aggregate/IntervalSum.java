package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.time.IntervalMath;
import dev.kakehashi.engine.type.time.Intervals;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.valuetext.ValueErrors;
import java.util.Arrays;

/// sum and avg of interval.
final class IntervalSum extends GroupedAccumulator {
  private final boolean average;
  private long[] micros = {};
  private int[] days = {};
  private int[] months = {};
  private long[] counts = {};

  IntervalSum(boolean average) {
    this.average = average;
  }

  @Override
  void grow(int capacity) {
    micros = Arrays.copyOf(micros, capacity);
    days = Arrays.copyOf(days, capacity);
    months = Arrays.copyOf(months, capacity);
    counts = Arrays.copyOf(counts, capacity);
  }

  @Override
  void add(int group, long word) {
    add(group, Intervals.months(word), Intervals.days(word), Intervals.micros(word), 1);
  }

  private void add(int group, int addedMonths, int addedDays, long addedMicros, long count) {
    try {
      months[group] = Math.addExact(months[group], addedMonths);
      days[group] = Math.addExact(days[group], addedDays);
      micros[group] = Math.addExact(micros[group], addedMicros);
    } catch (ArithmeticException e) {
      throw ValueErrors.dateTimeOutOfRange("interval");
    }
    counts[group] += count;
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    IntervalSum theirs = (IntervalSum) other;
    for (int i = 0; i < count; i++) {
      add(groups[i], theirs.months[i], theirs.days[i], theirs.micros[i], theirs.counts[i]);
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    if (counts[group] == 0) {
      out.setNull(row);
      return;
    }
    long sum = Intervals.of(context.heap, months[group], days[group], micros[group]);
    out.words[row] = average ? IntervalMath.divide(sum, (double) counts[group], context.heap) : sum;
  }

  @Override
  public long memoryBytes() {
    return 24L * counts.length;
  }
}
