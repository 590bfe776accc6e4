package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Arrays;
import java.util.BitSet;

/// array_agg(), json_agg() and their like: keeps the arguments of all rows, nulls too, and makes something of them at the end. The result
/// of no row is null.
final class CollectedValues extends StateAccumulator<CollectedValues.State>
    implements KeepingAccumulator {
  /// Makes a group's result.
  @FunctionalInterface
  interface Finish {
    /// @return a word in the context's heap
    long apply(State values, FunctionContext context);
  }

  /// Bytes of the JVM's heap that making a result takes.
  ///
  /// @param perValue bytes for each argument of each row
  /// @param perByte for each byte of the arguments' texts: those of all copies that there are at a time
  record Cost(int perValue, int perByte) {}

  /// The arguments of a group's rows, row by row.
  final class State {
    long[] words = new long[FIRST_WORDS];
    final BitSet nulls = new BitSet();
    int size;

    void add(long word, boolean isNull) {
      if (size == words.length) {
        words = Arrays.copyOf(words, 2 * size);
        heldWords += size;
      }
      nulls.set(size, isNull);
      words[size++] = word;
    }
  }

  /// Values between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 10) - 1;

  private static final int FIRST_WORDS = 8;

  /// Bytes of a state without its words.
  private static final int STATE_BYTES = 80;

  /// Most bytes that the heap keeps when it is cleared.
  private static final int SMALL_HEAP_BYTES = 64 << 10;

  /// Bytes of the text of a value that is a word: the most that is usual.
  private static final int WORD_TEXT_BYTES = 24;

  private final int[] oids;
  private final Cost cost;
  private final Finish finish;
  private final VarHeap heap = new VarHeap();

  /// For which all states have room.
  private long heldWords;

  /// @param oids types of the arguments
  CollectedValues(int[] oids, Cost cost, Finish finish) {
    this.oids = oids;
    this.cost = cost;
    this.finish = finish;
  }

  @Override
  State newState() {
    heldWords += FIRST_WORDS;
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
      State more = theirs.present(i);
      if (more == null) {
        continue;
      }
      State state = state(groups[i]);
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
    State state = present(group);
    if (state == null) {
      out.setNull(row);
    } else {
      out.words[row] = finish.apply(state, context);
    }
  }

  @Override
  public void replay(int group, VectorBatch out, Runnable take) {
    State state = present(group);
    if (state == null) {
      return;
    }
    // The values stay where they are.
    for (int k = 0; k < state.size; k += oids.length) {
      int row = out.size++;
      for (int i = 0; i < oids.length; i++) {
        if (state.nulls.get(k + i)) {
          out.columns[i].setNull(row);
        } else {
          out.columns[i].words[row] = state.words[k + i];
        }
      }
      if (out.size == out.capacity) {
        take.run();
      }
    }
  }

  @Override
  public void clear() {
    forget();
    heldWords = 0;
    if (heap.capacityBytes() > SMALL_HEAP_BYTES) {
      heap.close();
    } else {
      heap.reset();
    }
  }

  /// A word and a bit for each value, and those that there is room for.
  @Override
  public long memoryBytes() {
    return heap.capacityBytes() + 8 * heldWords + heldWords / 8 + (long) STATE_BYTES * stateCount();
  }

  @Override
  public long heapBytes() {
    return memoryBytes() - heap.capacityBytes();
  }

  @Override
  public long resultBytes(int group) {
    State state = present(group);
    if (state == null) {
      return 0;
    }
    long texts = 0;
    for (int i = 0; i < oids.length; i++) {
      ColumnKind kind = Types.kind(oids[i]);
      if (!kind.byReference()) {
        texts += (long) state.size / oids.length * WORD_TEXT_BYTES;
        continue;
      }
      for (int k = i; k < state.size; k += oids.length) {
        texts += state.nulls.get(k) ? 0 : Values.byteLength(kind, state.words[k]);
      }
    }
    return (long) state.size * cost.perValue + texts * cost.perByte;
  }

  @Override
  public void close() {
    heap.close();
  }
}
