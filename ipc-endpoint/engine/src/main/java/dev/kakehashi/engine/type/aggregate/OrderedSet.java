package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.store.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Ordering;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Values;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.number.FloatText;
import dev.kakehashi.engine.type.time.IntervalMath;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// percentile_cont, percentile_disc and mode: their rows come in order. Of an array of fractions the percentiles are an array of the same form.
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
    @Nullable ArrayValue fractions;

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
  private final boolean many;
  private final VarHeap heap = new VarHeap();

  /// @param oid type of the values
  /// @param many whether the fraction is an array of them
  OrderedSet(Mode mode, int oid, boolean many) {
    this.mode = mode;
    this.many = many;
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
    if (arguments.length > 1 && state.fractionNull && !arguments[0].isNull(row)) {
      if (many) {
        state.fractions = ArrayTypes.array(arguments[0].words[row]);
      } else {
        state.fraction = Double.longBitsToDouble(arguments[0].words[row]);
      }
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
    if (mode != Mode.MODE && !many && !state.fractionNull) {
      check(state.fraction);
    }
    if (state.size == 0 || (mode != Mode.MODE && state.fractionNull)) {
      out.setNull(row);
      return;
    }
    ArrayValue fractions = state.fractions;
    if (mode == Mode.MODE) {
      out.words[row] = Values.copy(oid, state.words[state.best], context.heap);
    } else if (fractions == null) {
      out.words[row] = percentile(state, state.fraction, context.heap);
    } else {
      for (String fraction : fractions.elements()) {
        if (fraction != null) {
          check(FloatText.parse8(fraction));
        }
      }
      ArrayValue percentiles =
          fractions.map(fraction ->
              Values.toText(
                  oid, percentile(state, FloatText.parse8(fraction), context.heap), context.zone));
      out.words[row] = ArrayTypes.word(percentiles, context);
    }
  }

  private static void check(double fraction) {
    if (!(fraction >= 0 && fraction <= 1)) {
      throw new EngineException(
          ErrorCode.NUMERIC_VALUE_OUT_OF_RANGE,
          "percentile value " + fraction + " is not between 0 and 1");
    }
  }

  private long percentile(State state, double fraction, VarHeap results) {
    if (mode == Mode.PERCENTILE_DISC) {
      int at = (int) Math.max(0, Math.ceil(fraction * state.size) - 1);
      return Values.copy(oid, state.words[at], results);
    }
    double exact = fraction * (state.size - 1);
    int first = (int) Math.floor(exact);
    int second = (int) Math.ceil(exact);
    long low = state.words[first];
    long high = state.words[second];
    if (first == second) {
      return Values.copy(oid, low, results);
    }
    if (oid == TypeOid.INTERVAL) {
      long difference = IntervalMath.subtract(high, low, results);
      return IntervalMath.add(
          IntervalMath.multiply(difference, exact - first, results), low, results);
    }
    double from = Double.longBitsToDouble(low);
    return Double.doubleToRawLongBits(
        from + (exact - first) * (Double.longBitsToDouble(high) - from));
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
