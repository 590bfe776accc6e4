package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.number.FloatMath;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;

/// sum of real (each step in single precision, as PostgreSQL does) and of double precision.
final class FloatSum extends GroupedAccumulator {
  private final boolean single;
  private double[] sums = {};
  private boolean[] present = {};

  FloatSum(boolean single) {
    this.single = single;
  }

  @Override
  void grow(int capacity) {
    sums = Arrays.copyOf(sums, capacity);
    present = Arrays.copyOf(present, capacity);
  }

  @Override
  void add(int group, long word) {
    addValue(group, single ? FloatMath.ofWord4(word) : FloatMath.ofWord8(word));
  }

  private void addValue(int group, double value) {
    if (!present[group]) {
      // The first value is taken as it is, so that a sum of -0 is -0.
      present[group] = true;
      sums[group] = value;
    } else if (single) {
      sums[group] = FloatMath.add((float) sums[group], (float) value);
    } else {
      sums[group] = FloatMath.add(sums[group], value);
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    FloatSum theirs = (FloatSum) other;
    for (int i = 0; i < count; i++) {
      if (theirs.present[i]) {
        addValue(groups[i], theirs.sums[i]);
      }
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    if (!present[group]) {
      out.setNull(row);
    } else {
      out.words[row] = single ? FloatMath.word((float) sums[group]) : FloatMath.word(sums[group]);
    }
  }

  @Override
  public long memoryBytes() {
    return 9L * sums.length;
  }
}
