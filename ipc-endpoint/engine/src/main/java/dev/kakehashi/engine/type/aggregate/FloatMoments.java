package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;

/// avg, variance and standard deviation of real and double precision: count, sum and sum of squared differences
/// (Youngs and Cramer 1971, as PostgreSQL does).
final class FloatMoments extends GroupedAccumulator {
  private final boolean single;
  private final Moment moment;
  private double[] counts = {};
  private double[] sums = {};
  private double[] squares = {};

  FloatMoments(boolean single, Moment moment) {
    this.single = single;
    this.moment = moment;
  }

  @Override
  void grow(int capacity) {
    counts = Arrays.copyOf(counts, capacity);
    sums = Arrays.copyOf(sums, capacity);
    squares = Arrays.copyOf(squares, capacity);
  }

  @Override
  void add(int group, long word) {
    double value = single ? FloatMath.ofWord4(word) : FloatMath.ofWord8(word);
    double before = sums[group];
    double count = ++counts[group];
    double sum = before + value;
    sums[group] = sum;
    if (count > 1) {
      double difference = value * count - sum;
      double square = squares[group] + difference * difference / (count * (count - 1));
      if (Double.isInfinite(sum) || Double.isInfinite(square)) {
        if (!Double.isInfinite(before) && !Double.isInfinite(value)) {
          throw SqlErrors.floatOverflow();
        }
        square = Double.NaN;
      }
      squares[group] = square;
    } else if (Double.isNaN(value) || Double.isInfinite(value)) {
      squares[group] = Double.NaN;
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    FloatMoments theirs = (FloatMoments) other;
    for (int i = 0; i < count; i++) {
      mergeGroup(groups[i], theirs.counts[i], theirs.sums[i], theirs.squares[i]);
    }
  }

  private void mergeGroup(int group, double count, double sum, double square) {
    if (count == 0) {
      return;
    }
    if (counts[group] == 0) {
      counts[group] = count;
      sums[group] = sum;
      squares[group] = square;
      return;
    }
    double difference = sums[group] / counts[group] - sum / count;
    double all = counts[group] + count;
    double both = FloatMath.add(sums[group], sum);
    double total = squares[group] + square + counts[group] * count * difference * difference / all;
    if (Double.isInfinite(total)
        && !Double.isInfinite(squares[group])
        && !Double.isInfinite(square)) {
      throw SqlErrors.floatOverflow();
    }
    counts[group] = all;
    sums[group] = both;
    squares[group] = total;
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    double count = counts[group];
    if (count < (moment.isSample() ? 2 : 1)) {
      out.setNull(row);
      return;
    }
    double result =
        switch (moment) {
          case AVERAGE -> sums[group] / count;
          case VARIANCE_SAMPLE -> squares[group] / (count - 1);
          case VARIANCE_POPULATION -> squares[group] / count;
          case DEVIATION_SAMPLE -> Math.sqrt(squares[group] / (count - 1));
          case DEVIATION_POPULATION -> Math.sqrt(squares[group] / count);
        };
    out.words[row] = FloatMath.word(result);
  }

  @Override
  public long memoryBytes() {
    return 24L * counts.length;
  }
}
