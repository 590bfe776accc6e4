package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.array.ArrayTypes;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.time.IntervalMath;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.number.FloatText;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// percentile_cont, percentile_disc and mode: the rows of a group come in order, and one group after another. Percentiles of an array of
/// fractions are an array of the same form.
///
/// The number of values is known before they come, so that only those are kept that a percentile needs. A mode keeps the last value and the
/// most frequent one so far.
final class OrderedSet implements SerialAccumulator {
  /// Which function it is.
  enum Mode {
    PERCENTILE_CONT,
    PERCENTILE_DISC,
    MODE
  }

  /// Most bytes that a heap keeps when it is cleared.
  private static final int SMALL_HEAP_BYTES = 64 << 10;

  private final Mode mode;
  private final int oid;
  private final ColumnKind kind;
  private final boolean many;

  /// Values that are to come, and that have come.
  private long expected;

  private long seen;

  /// The first row says what the fraction is.
  private boolean begun;

  private double fraction;
  private @Nullable ArrayValue fractions;

  /// Positions of the values that are needed, ascending, and those of them that have come.
  private long[] positions = {};

  private long[] found = {};
  private int foundCount;

  /// Heap of the values that are kept; for mode, of the most frequent value.
  private VarHeap heap = new VarHeap();

  /// Heap of mode's last value, unless it is the most frequent one.
  private VarHeap lastHeap = new VarHeap();

  /// Values of mode: the last one, the most frequent one, how often they have come, and whether they are the same.
  private long last;

  private long lastCount;
  private long best;
  private long bestCount;
  private boolean lastIsBest;

  /// @param oid type of the values
  /// @param many whether the fraction is an array of them
  OrderedSet(Mode mode, int oid, boolean many) {
    this.mode = mode;
    this.many = many;
    this.oid = oid;
    this.kind = Types.kind(oid);
  }

  @Override
  public void resize(int groupCount) {
    if (groupCount > 1) {
      throw new IllegalStateException("ordered input comes group by group");
    }
  }

  @Override
  public void expect(long rows) {
    expected = rows;
  }

  @Override
  public void add(ColumnVector[] arguments, int @Nullable [] rows, int[] groups, int count) {
    addAll(arguments, rows, count, 0);
  }

  @Override
  public void addAll(ColumnVector[] arguments, int @Nullable [] rows, int count, int group) {
    ColumnVector values = arguments[arguments.length - 1];
    for (int i = 0; i < count; i++) {
      int row = rows == null ? i : rows[i];
      if (!begun) {
        begun = true;
        begin(arguments, row);
      }
      if (values.isNull(row)) {
        continue;
      }
      if (mode == Mode.MODE) {
        count(values.words[row]);
      } else if (foundCount < positions.length && seen++ == positions[foundCount]) {
        found[foundCount++] = Values.copy(oid, values.words[row], heap);
      }
    }
  }

  /// Takes the fraction from the first row.
  private void begin(ColumnVector[] arguments, int row) {
    if (mode == Mode.MODE || arguments[0].isNull(row)) {
      return;
    }
    if (!many) {
      fraction = Double.longBitsToDouble(arguments[0].words[row]);
      check(fraction);
      want(new double[] {fraction});
      return;
    }
    ArrayValue array = ArrayTypes.array(arguments[0].words[row]);
    fractions = array;
    double[] wanted =
        array.elements().stream()
            .filter(element -> element != null)
            .mapToDouble(FloatText::parse8)
            .toArray();
    // PostgreSQL looks at the fractions of an array only if there are values.
    for (int i = 0; i < wanted.length && expected > 0; i++) {
      check(wanted[i]);
    }
    want(wanted);
  }

  private void want(double[] wanted) {
    if (expected == 0) {
      return;
    }
    long[] all = new long[2 * wanted.length];
    for (int i = 0; i < wanted.length; i++) {
      all[2 * i] = first(wanted[i]);
      all[2 * i + 1] = second(wanted[i]);
    }
    positions = Arrays.stream(all).sorted().distinct().toArray();
    found = new long[positions.length];
  }

  /// Position of the value at the fraction, or before it.
  private long first(double at) {
    return mode == Mode.PERCENTILE_DISC
        ? (long) Math.max(0, Math.ceil(at * expected) - 1)
        : (long) Math.floor(at * (expected - 1));
  }

  /// Position of the value at the fraction, or behind it.
  private long second(double at) {
    return mode == Mode.PERCENTILE_DISC ? first(at) : (long) Math.ceil(at * (expected - 1));
  }

  private void count(long word) {
    if (lastCount == 0 || Ordering.compare(kind, last, word) != 0) {
      lastHeap.reset();
      last = Values.copy(oid, word, lastHeap);
      lastCount = 0;
      lastIsBest = false;
    }
    if (++lastCount > bestCount) {
      bestCount = lastCount;
      best = last;
      if (!lastIsBest) {
        lastIsBest = true;
        VarHeap free = heap;
        heap = lastHeap;
        lastHeap = free;
      }
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    throw new IllegalStateException("ordered input is not aggregated in parts");
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    ArrayValue array = fractions;
    if (mode == Mode.MODE ? bestCount == 0 : positions.length == 0 && array == null) {
      out.setNull(row);
    } else if (mode == Mode.MODE) {
      out.words[row] = Values.copy(oid, best, context.heap);
    } else if (array == null) {
      out.words[row] = percentile(fraction, context.heap);
    } else if (expected == 0) {
      out.setNull(row);
    } else {
      ArrayValue percentiles =
          array.map(one ->
              Values.toText(oid, percentile(FloatText.parse8(one), context.heap), context.zone));
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

  private long value(long position) {
    int at = Arrays.binarySearch(positions, 0, foundCount, position);
    if (at < 0) {
      throw new IllegalStateException("fewer values than expected");
    }
    return found[at];
  }

  private long percentile(double at, VarHeap results) {
    long low = value(first(at));
    long high = value(second(at));
    if (first(at) == second(at)) {
      return Values.copy(oid, low, results);
    }
    double rest = at * (expected - 1) - first(at);
    if (oid == TypeOid.INTERVAL) {
      long difference = IntervalMath.subtract(high, low, results);
      return IntervalMath.add(IntervalMath.multiply(difference, rest, results), low, results);
    }
    double from = Double.longBitsToDouble(low);
    return Double.doubleToRawLongBits(from + rest * (Double.longBitsToDouble(high) - from));
  }

  @Override
  public void clear() {
    expected = 0;
    seen = 0;
    begun = false;
    fractions = null;
    positions = new long[0];
    found = positions;
    foundCount = 0;
    lastCount = 0;
    bestCount = 0;
    lastIsBest = false;
    clear(heap);
    clear(lastHeap);
  }

  private static void clear(VarHeap values) {
    if (values.capacityBytes() > SMALL_HEAP_BYTES) {
      values.close();
    } else {
      values.reset();
    }
  }

  @Override
  public long memoryBytes() {
    return heap.capacityBytes() + lastHeap.capacityBytes() + 16L * positions.length;
  }

  @Override
  public void close() {
    heap.close();
    lastHeap.close();
  }
}
