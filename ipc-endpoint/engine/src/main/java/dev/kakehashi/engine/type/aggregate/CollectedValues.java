package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.Arrays;
import java.util.BitSet;

/// array_agg(), json_agg() and their like: keeps the arguments of all rows, nulls too, and makes something of them at the end. The result of no row is null.
final class CollectedValues extends StateAccumulator<CollectedValues.State> {
  /// Makes a group's result.
  @FunctionalInterface
  interface Finish {
    /// @return a word in the context's heap
    long apply(State values, FunctionContext context);
  }

  /// The arguments of a group's rows, row by row.
  static final class State {
    long[] words = new long[8];
    final BitSet nulls = new BitSet();
    int size;

    void add(long word, boolean isNull) {
      if (size == words.length) {
        words = Arrays.copyOf(words, 2 * size);
      }
      nulls.set(size, isNull);
      words[size++] = word;
    }
  }

  /// Values between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 10) - 1;

  private final int[] oids;
  private final Finish finish;
  private final VarHeap heap = new VarHeap();

  /// @param oids types of the arguments
  CollectedValues(int[] oids, Finish finish) {
    this.oids = oids;
    this.finish = finish;
  }

  @Override
  State newState() {
    return new State();
  }

  @Override
  void add(ColumnVector[] arguments, int row, State state) {
    for (int i = 0; i < oids.length; i++) {
      boolean isNull = arguments[i].isNull(row);
      state.add(isNull ? 0 : Values.copy(oids[i], arguments[i].words[row], heap), isNull);
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    CollectedValues theirs = (CollectedValues) other;
    for (int i = 0; i < count; i++) {
      State more = theirs.states.get(i);
      State state = states.get(groups[i]);
      for (int k = 0; k < more.size; k++) {
        if ((k & CHECK_MASK) == 0) {
          Interrupts.check();
        }
        boolean isNull = more.nulls.get(k);
        int oid = oids[k % oids.length];
        state.add(isNull ? 0 : Values.copy(oid, more.words[k], heap), isNull);
      }
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    State state = states.get(group);
    if (state.size == 0) {
      out.setNull(row);
    } else {
      out.words[row] = finish.apply(state, context);
    }
  }

  @Override
  public long memoryBytes() {
    long sum = heap.capacityBytes();
    for (State state : states) {
      sum += 64 + 8L * state.words.length + state.nulls.size() / 8;
    }
    return sum;
  }

  @Override
  public void close() {
    heap.close();
  }
}
