package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.type.value.Values;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import java.util.Arrays;

/// min and max of an ordered type, or of arrays of any type, where a group may have one value of a type without order. The last one of
/// equal values is kept, but of char(n) the first, as PostgreSQL does.
///
/// By-reference values are kept in slots of an own heap; a slot is used again when the next value fits. A slot that is too small is
/// replaced by one of twice the size, so that the heap stays proportional to the greatest values.
final class Extreme extends GroupedAccumulator implements MergeableGroups {
  private static final int MIN_SLOT_BYTES = 16;
  private final int oid;
  private final ColumnKind kind;
  private final boolean max;
  private final boolean ordered;
  private final VarHeap heap = new VarHeap();
  private long[] words = {};
  private boolean[] present = {};
  private int[] slotBytes = {};

  Extreme(int oid, boolean max) {
    this.oid = oid;
    this.kind = Types.kind(oid);
    this.max = max;
    this.ordered = Types.hasOrder(oid);
  }

  @Override
  void grow(int capacity) {
    words = Arrays.copyOf(words, capacity);
    present = Arrays.copyOf(present, capacity);
    if (kind.byReference()) {
      slotBytes = Arrays.copyOf(slotBytes, capacity);
    }
  }

  @Override
  void add(int group, long word) {
    if (present[group]) {
      if (kind == ColumnKind.INTEGER) {
        long before = words[group];
        words[group] = max ? Math.max(before, word) : Math.min(before, word);
        return;
      }
      if (!ordered) {
        Types.requireOrder(oid);
      }
      int order = Ordering.compare(kind, words[group], word);
      if (max ? order > 0 : order < 0) {
        return;
      }
      if (order == 0 && kind == ColumnKind.BPCHAR) {
        return;
      }
    }
    present[group] = true;
    if (kind.byReference()) {
      keep(group, word);
    } else {
      words[group] = word;
    }
  }

  private void keep(int group, long word) {
    int bytes =
        kind == ColumnKind.UUID || kind == ColumnKind.INTERVAL
            ? MIN_SLOT_BYTES
            : Varlena.totalBytes(word);
    if (slotBytes[group] < bytes) {
      int slot = Math.max(bytes, Math.max(MIN_SLOT_BYTES, 2 * slotBytes[group]));
      words[group] = heap.allocate(slot);
      slotBytes[group] = slot;
    }
    RawMemory.copy(word, words[group], bytes);
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    Extreme theirs = (Extreme) other;
    for (int i = 0; i < count; i++) {
      if (theirs.present[i]) {
        add(groups[i], theirs.words[i]);
      }
    }
  }

  @Override
  public void clear(int group) {
    present[group] = false;
  }

  @Override
  public void merge(int group, int from) {
    if (present[from]) {
      add(group, words[from]);
    }
  }

  @Override
  public void result(int group, ColumnVector out, int row, FunctionContext context) {
    if (present[group]) {
      out.words[row] = Values.copy(oid, words[group], context.heap);
    } else {
      out.setNull(row);
    }
  }

  @Override
  public long memoryBytes() {
    return 9L * words.length + 4L * slotBytes.length + heap.capacityBytes();
  }

  @Override
  public void close() {
    heap.close();
  }
}
