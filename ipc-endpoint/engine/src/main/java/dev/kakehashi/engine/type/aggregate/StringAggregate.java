package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// string_agg(value, delimiter) of text and bytea.
///
/// A state is the string with the first delimiter in front, so that merging two is appending; the result leaves it out.
final class StringAggregate extends StateAccumulator<StringAggregate.State> {
  private static final int MIN_BYTES = 32;

  /// A group's string so far.
  static final class State {
    byte[] bytes = new byte[MIN_BYTES];
    int length;
    int firstDelimiterBytes;
    boolean present;

    /// Where `more` more bytes begin.
    int reserve(long more) {
      int at = length;
      long end = at + more;
      if (end > Varlena.MAX_BYTES - Varlena.HEADER_BYTES) {
        throw SqlErrors.lengthTooLarge();
      }
      if (bytes.length < end) {
        bytes = Arrays.copyOf(bytes, (int) Math.max(end, Math.min(2L * at, Varlena.MAX_BYTES)));
      }
      length = (int) end;
      return at;
    }
  }

  @Override
  State newState() {
    return new State();
  }

  @Override
  void add(ColumnVector[] arguments, int row, State state) {
    if (arguments[0].isNull(row)) {
      return;
    }
    long value = arguments[0].words[row];
    long delimiter = arguments[1].isNull(row) ? 0 : arguments[1].words[row];
    int delimiterBytes = delimiter == 0 ? 0 : Varlena.length(delimiter);
    if (!state.present) {
      state.present = true;
      state.firstDelimiterBytes = delimiterBytes;
    }
    int at = state.reserve((long) delimiterBytes + Varlena.length(value));
    if (delimiterBytes > 0) {
      read(Varlena.data(delimiter), state.bytes, at, delimiterBytes);
    }
    read(Varlena.data(value), state.bytes, at + delimiterBytes, Varlena.length(value));
  }

  private static void read(long from, byte[] to, int at, int bytes) {
    MemorySegment.copy(VarHeap.MEMORY, ValueLayout.JAVA_BYTE, from, to, at, bytes);
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    StringAggregate theirs = (StringAggregate) other;
    for (int i = 0; i < count; i++) {
      State more = theirs.states.get(i);
      if (!more.present) {
        continue;
      }
      State state = states.get(groups[i]);
      if (!state.present) {
        state.present = true;
        state.firstDelimiterBytes = more.firstDelimiterBytes;
      }
      int at = state.reserve(more.length);
      System.arraycopy(more.bytes, 0, state.bytes, at, more.length);
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    State state = states.get(group);
    if (!state.present) {
      out.setNull(row);
      return;
    }
    int begin = state.firstDelimiterBytes;
    int length = state.length - begin;
    long value = Varlena.allocate(context.heap, length);
    MemorySegment.copy(
        state.bytes, begin, VarHeap.MEMORY, ValueLayout.JAVA_BYTE, Varlena.data(value), length);
    out.words[row] = value;
  }

  @Override
  public long memoryBytes() {
    long sum = 0;
    for (State state : states) {
      sum += 48 + state.bytes.length;
    }
    return sum;
  }
}
