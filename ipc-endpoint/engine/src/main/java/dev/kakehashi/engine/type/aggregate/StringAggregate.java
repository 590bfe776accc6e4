package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/// string_agg(value, delimiter) of text and bytea.
///
/// A state is the string with the first delimiter in front, so that merging two is appending; the result leaves it out.
final class StringAggregate extends StateAccumulator<StringAggregate.State>
    implements KeepingAccumulator {
  private static final int MIN_BYTES = 32;

  /// Bytes of a state without its string.
  private static final int STATE_BYTES = 48;

  /// Most bytes of a piece in which a string is given back: pieces after the first have no delimiter.
  private static final int PIECE_BYTES = 8 << 10;

  /// Bytes of all states' strings.
  private long heldBytes;

  /// A group's string so far.
  final class State {
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
        heldBytes -= bytes.length;
        bytes = Arrays.copyOf(bytes, (int) Math.max(end, Math.min(2L * at, Varlena.MAX_BYTES)));
        heldBytes += bytes.length;
      }
      length = (int) end;
      return at;
    }
  }

  @Override
  State newState() {
    heldBytes += MIN_BYTES;
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
      State more = theirs.present(i);
      if (more == null || !more.present) {
        continue;
      }
      State state = state(groups[i]);
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
    State state = present(group);
    if (state == null || !state.present) {
      out.setNull(row);
      return;
    }
    int begin = state.firstDelimiterBytes;
    int length = state.length - begin;
    out.words[row] = varlena(state.bytes, begin, length, context.heap);
  }

  @Override
  public void replay(int group, VectorBatch out, Runnable take) {
    State state = present(group);
    if (state == null || !state.present) {
      return;
    }
    int at = state.firstDelimiterBytes;
    long held = 0;
    do {
      int length = Math.min(state.length - at, PIECE_BYTES);
      int row = out.size++;
      out.columns[0].words[row] = varlena(state.bytes, at, length, out.heap);
      if (at == state.firstDelimiterBytes && at > 0) {
        out.columns[1].words[row] = varlena(state.bytes, 0, at, out.heap);
        held += at;
      } else {
        out.columns[1].setNull(row);
      }
      at += length;
      held += length;
      if (held >= REPLAY_BYTES || out.size == out.capacity) {
        take.run();
        held = 0;
      }
    } while (at < state.length);
  }

  private static long varlena(byte[] bytes, int from, int length, VarHeap heap) {
    long value = Varlena.allocate(heap, length);
    MemorySegment.copy(
        bytes, from, VarHeap.MEMORY, ValueLayout.JAVA_BYTE, Varlena.data(value), length);
    return value;
  }

  @Override
  public void clear() {
    forget();
    heldBytes = 0;
  }

  @Override
  public long heapBytes() {
    return memoryBytes();
  }

  /// The value is copied to native memory.
  @Override
  public long resultBytes(int group) {
    State state = present(group);
    return state == null ? 0 : state.length;
  }

  @Override
  public long memoryBytes() {
    return heldBytes + (long) STATE_BYTES * stateCount();
  }
}
