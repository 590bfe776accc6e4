package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.numeric.NumericFast;
import dev.kakehashi.engine.type.numeric.NumericForm;
import dev.kakehashi.engine.type.numeric.NumericMath;
import dev.kakehashi.engine.type.numeric.Numerics;
import dev.kakehashi.engine.vector.ColumnVector;
import java.math.BigDecimal;
import java.util.Arrays;

/// Variance and standard deviation of integers and numeric, as numeric: `(n * sum(x^2) - sum(x)^2) / (n * (n-1))`, exact but for the last
/// division and root.
final class NumericMoments extends GroupedAccumulator implements MergeableGroups {
  private final boolean integers;
  private final Moment moment;
  private final NumericSums sums = new NumericSums();
  private final NumericSums squares = new NumericSums();
  private long[] counts = {};

  /// @param integers whether the argument is an integer type
  NumericMoments(boolean integers, Moment moment) {
    this.integers = integers;
    this.moment = moment;
  }

  @Override
  void grow(int capacity) {
    sums.grow(capacity);
    squares.grow(capacity);
    counts = Arrays.copyOf(counts, capacity);
  }

  @Override
  void add(int group, long word) {
    counts[group]++;
    if (integers) {
      sums.add(group, word, 0);
      squares.addSquare(group, word, 0);
      return;
    }
    sums.add(group, word);
    long unscaled = NumericFast.unscaled(word);
    if (unscaled != NumericFast.NOT_FAST) {
      squares.addSquare(group, unscaled, NumericFast.scale(word));
    } else if (!NumericForm.isSpecial(word)) {
      squares.addSquare(group, NumericForm.toBigDecimal(word));
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    NumericMoments theirs = (NumericMoments) other;
    for (int i = 0; i < count; i++) {
      counts[groups[i]] += theirs.counts[i];
      sums.merge(groups[i], theirs.sums, i);
      squares.merge(groups[i], theirs.squares, i);
    }
  }

  @Override
  public void clear(int group) {
    sums.clear(group);
    squares.clear(group);
    counts[group] = 0;
  }

  @Override
  public void merge(int group, int from) {
    counts[group] += counts[from];
    sums.merge(group, sums, from);
    squares.merge(group, squares, from);
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    long count = counts[group];
    if (count < (moment.isSample() ? 2 : 1)) {
      out.setNull(row);
      return;
    }
    if (sums.isSpecial(group)) {
      out.words[row] = NumericForm.nan(context.heap);
      return;
    }
    BigDecimal sum = sums.sum(group);
    BigDecimal n = BigDecimal.valueOf(count);
    BigDecimal numerator = n.multiply(squares.sum(group)).subtract(sum.multiply(sum));
    if (numerator.signum() <= 0) {
      out.words[row] = NumericFast.encode(context.heap, 0, 0);
      return;
    }
    BigDecimal divisor = n.multiply(BigDecimal.valueOf(moment.isSample() ? count - 1 : count));
    long variance = Numerics.divide(numerator, divisor, context.heap);
    out.words[row] =
        moment.isDeviation()
            ? NumericMath.sqrt(variance, NumericFast.scale(variance), context.heap)
            : variance;
  }

  @Override
  public long memoryBytes() {
    return sums.memoryBytes() + squares.memoryBytes() + 8L * counts.length;
  }
}
