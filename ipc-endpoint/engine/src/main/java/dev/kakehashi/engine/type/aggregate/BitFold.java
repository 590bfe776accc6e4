package dev.kakehashi.engine.type.aggregate;

import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.Arrays;

/// bit_and, bit_or and bit_xor of integers.
final class BitFold extends GroupedAccumulator implements MergeableGroups {
  /// Which operation.
  enum Operation {
    AND,
    OR,
    XOR
  }

  private final Operation operation;
  private long[] words = {};
  private boolean[] present = {};

  BitFold(Operation operation) {
    this.operation = operation;
  }

  @Override
  void grow(int capacity) {
    words = Arrays.copyOf(words, capacity);
    present = Arrays.copyOf(present, capacity);
  }

  @Override
  void add(int group, long word) {
    if (!present[group]) {
      present[group] = true;
      words[group] = word;
      return;
    }
    words[group] =
        switch (operation) {
          case AND -> words[group] & word;
          case OR -> words[group] | word;
          case XOR -> words[group] ^ word;
        };
  }

  @Override
  public void merge(Accumulator other, int[] groups, int count) {
    BitFold theirs = (BitFold) other;
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
      out.words[row] = words[group];
    } else {
      out.setNull(row);
    }
  }

  @Override
  public long memoryBytes() {
    return 9L * words.length;
  }
}
