package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;

/// bool_and (every) and bool_or.
final class BooleanFold extends GroupedAccumulator implements MergeableGroups {
  private static final byte EMPTY = 0;
  private static final byte FALSE = 1;
  private static final byte TRUE = 2;
  private final boolean and;
  private byte[] states = {};

  BooleanFold(boolean and) {
    this.and = and;
  }

  @Override
  void grow(int capacity) {
    states = Arrays.copyOf(states, capacity);
  }

  @Override
  void add(int group, long word) {
    byte state = states[group];
    byte value = word != 0 ? TRUE : FALSE;
    if (state == EMPTY || value == (and ? FALSE : TRUE)) {
      states[group] = value;
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    BooleanFold theirs = (BooleanFold) other;
    for (int i = 0; i < count; i++) {
      if (theirs.states[i] != EMPTY) {
        add(groups[i], theirs.states[i] == TRUE ? 1 : 0);
      }
    }
  }

  @Override
  public void clear(int group) {
    states[group] = EMPTY;
  }

  @Override
  public void merge(int group, int from) {
    if (states[from] != EMPTY) {
      add(group, states[from] == TRUE ? 1 : 0);
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    if (states[group] == EMPTY) {
      out.setNull(row);
    } else {
      out.words[row] = states[group] == TRUE ? 1 : 0;
    }
  }

  @Override
  public long memoryBytes() {
    return states.length;
  }
}
