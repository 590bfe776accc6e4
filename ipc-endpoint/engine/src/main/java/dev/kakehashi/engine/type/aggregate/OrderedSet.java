package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Ordering;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;

/// percentile_cont, percentile_disc and mode: their rows come in order.
final class OrderedSet extends StateAccumulator<OrderedSet.State> {
  /// Which function it is.
  enum Mode {
    PERCENTILE_CONT,
    PERCENTILE_DISC,
    MODE
  }

  static final class State {
    long[] words = new long[8];
    int size;

    /// Of [Mode#MODE], which keeps equal values once: of the last value, of the most frequent one, and which that is.
    int count;

    int bestCount;
    int best;
    double fraction;
    boolean fractionNull = true;

    void add(long word) {
      if (size == words.length) {
        words = Arrays.copyOf(words, 2 * size);
      }
      words[size++] = word;
    }
  }

  private final Mode mode;
  private final int oid;
  private final ColumnKind kind;
  private final VarHeap heap = new VarHeap();

  /// @param oid type of the values
  OrderedSet(Mode mode, int oid) {
    this.mode = mode;
    this.oid = oid;
    this.kind = Types.kind(oid);
  }

  @Override
  State newState() {
    return new State();
  }

  @Override
  void add(ColumnVector[] arguments, int row, State state) {
    ColumnVector values = arguments[arguments.length - 1];
    if (arguments.length > 1 && !arguments[0].isNull(row)) {
      state.fraction = Double.longBitsToDouble(arguments[0].words[row]);
      state.fractionNull = false;
    }
    if (values.isNull(row)) {
      return;
    }
    if (mode == Mode.MODE) {
      count(state, values.words[row]);
    } else {
      state.add(Values.copy(oid, values.words[row], heap));
    }
  }

  private void count(State state, long word) {
    if (state.size == 0 || Ordering.compare(kind, state.words[state.size - 1], word) != 0) {
      state.add(Values.copy(oid, word, heap));
      state.count = 0;
    }
    if (++state.count > state.bestCount) {
      state.bestCount = state.count;
      state.best = state.size - 1;
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    throw new IllegalStateException("ordered input is not aggregated in parts");
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    State state = states.get(group);
    if (mode != Mode.MODE && !state.fractionNull) {
      if (!(state.fraction >= 0 && state.fraction <= 1)) {
        throw new EngineException(
            ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
            "percentile value " + state.fraction + " is not between 0 and 1");
      }
    }
    if (state.size == 0 || (mode != Mode.MODE && state.fractionNull)) {
      out.setNull(row);
      return;
    }
    switch (mode) {
      case MODE -> out.words[row] = Values.copy(oid, state.words[state.best], context.heap);
      case PERCENTILE_DISC -> {
        int at = (int) Math.max(0, Math.ceil(state.fraction * state.size) - 1);
        out.words[row] = Values.copy(oid, state.words[at], context.heap);
      }
      case PERCENTILE_CONT -> out.words[row] = interpolated(state);
    }
  }

  private static long interpolated(State state) {
    double exact = state.fraction * (state.size - 1);
    int first = (int) Math.floor(exact);
    int second = (int) Math.ceil(exact);
    double low = Double.longBitsToDouble(state.words[first]);
    double high = Double.longBitsToDouble(state.words[second]);
    return Double.doubleToRawLongBits(first == second ? low : low + (exact - first) * (high - low));
  }

  @Override
  public long memoryBytes() {
    long sum = heap.capacityBytes();
    for (State state : states) {
      sum += 48 + 8L * state.words.length;
    }
    return sum;
  }

  @Override
  public void close() {
    heap.close();
  }
}
