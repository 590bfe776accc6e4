package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The value of a scalar subquery: null without rows, an error with more than one. Not a function that SQL can name.
final class SingleValue implements Accumulator {
  private final int oid;
  private final boolean byReference;
  private final VarHeap heap = new VarHeap();
  private long[] words = {};
  private boolean[] present = {};
  private boolean[] nulls = {};

  SingleValue(int oid) {
    this.oid = oid;
    ColumnKind kind = Types.kind(oid);
    this.byReference = kind.byReference();
  }

  @Override
  public void resize(int groupCount) {
    if (groupCount > words.length) {
      int capacity = Math.max(groupCount, words.length * 2);
      words = Arrays.copyOf(words, capacity);
      present = Arrays.copyOf(present, capacity);
      nulls = Arrays.copyOf(nulls, capacity);
    }
  }

  private void add(int group, long word, boolean isNull) {
    if (present[group]) {
      throw new EngineException(
          ErrorCode.CARDINALITY_VIOLATION,
          "more than one row returned by a subquery used as an expression");
    }
    present[group] = true;
    nulls[group] = isNull;
    words[group] = byReference && !isNull ? Values.copy(oid, word, heap) : word;
  }

  @Override
  public void add(ColumnVector[] arguments, int @Nullable [] rows, int[] groups, int count) {
    for (int i = 0; i < count; i++) {
      int row = rows == null ? i : rows[i];
      add(groups[i], arguments[0].words[row], arguments[0].isNull(row));
    }
  }

  @Override
  public void addAll(ColumnVector[] arguments, int @Nullable [] rows, int count, int group) {
    for (int i = 0; i < count; i++) {
      int row = rows == null ? i : rows[i];
      add(group, arguments[0].words[row], arguments[0].isNull(row));
    }
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    SingleValue theirs = (SingleValue) other;
    for (int i = 0; i < count; i++) {
      if (theirs.present[i]) {
        add(groups[i], theirs.words[i], theirs.nulls[i]);
      }
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    if (!present[group] || nulls[group]) {
      out.setNull(row);
    } else {
      out.words[row] = byReference ? Values.copy(oid, words[group], context.heap) : words[group];
    }
  }

  @Override
  public long memoryBytes() {
    return 10L * words.length + heap.capacityBytes();
  }

  @Override
  public void close() {
    heap.close();
  }
}
