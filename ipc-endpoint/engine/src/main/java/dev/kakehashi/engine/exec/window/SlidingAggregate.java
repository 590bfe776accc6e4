package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.aggregate.MergeableGroups;
import dev.kakehashi.engine.vector.ColumnVector;

/// The aggregate of a frame both of whose ends move forward only, with the same work for each row however long the frame is.
///
/// The frame is two parts. The back part grows: one state has all its rows. The front part shrinks: for each of its rows there is the state
/// of that row and of those behind it. When the front part is used up the back one takes its place, so that each row is added twice in all.
/// To take little memory the front part keeps the states of its blocks, and those of the rows of one block. Confined to one task.
final class SlidingAggregate {
  private static final int BLOCK = 64;
  private static final int RESULT = 0;
  private static final int BACK = 1;
  private static final int ROWS = 2;
  private static final int BLOCKS = ROWS + BLOCK;

  private final MergeableGroups states;
  private final FrameInput input;

  /// The front part is `[start, middle)`, the back part `[middle, end)`.
  private int start;

  private int middle;
  private int end;

  /// Where the first block of the front part begins.
  private int firstBlock;

  /// The block whose rows have states; -1: none.
  private int block;

  /// @param states the caller's, empty
  SlidingAggregate(MergeableGroups states, FrameInput input) {
    this.states = states;
    this.input = input;
    states.resize(BLOCKS);
  }

  /// Begins a partition.
  void begin() {
    restart(0);
  }

  private void restart(int at) {
    start = at;
    middle = at;
    end = at;
    block = -1;
    states.clear(BACK);
  }

  /// Sets row `row` of `out` to the aggregate of `[from, to)`; neither is less than before in the partition, but for empty frames.
  void evaluate(
      WindowPartition partition,
      int from,
      int to,
      ColumnVector out,
      int row,
      FunctionContext context) {
    states.clear(RESULT);
    if (from < to) {
      move(partition, from, to);
      if (start < middle) {
        states.merge(RESULT, ROWS + (start - firstBlock) % BLOCK);
      }
      states.merge(RESULT, BACK);
    }
    states.result(RESULT, out, row, context);
  }

  private void move(WindowPartition partition, int from, int to) {
    if (from >= end || from < start || to < end) {
      restart(from);
    }
    input.add(partition, end, to, states, BACK);
    end = to;
    start = from;
    if (start >= middle) {
      turn(partition);
    }
    int wanted = start < middle ? (start - firstBlock) / BLOCK : -1;
    if (wanted >= 0 && wanted != block) {
      addRows(partition, wanted);
    }
  }

  /// Makes the front part of all rows.
  private void turn(WindowPartition partition) {
    firstBlock = start;
    middle = end;
    block = -1;
    int blocks = (end - start + BLOCK - 1) / BLOCK;
    states.resize(BLOCKS + blocks);
    // The first one is not asked for as a whole.
    for (int number = blocks - 1; number > 0; number--) {
      int group = BLOCKS + number;
      states.clear(group);
      int first = firstBlock + number * BLOCK;
      input.add(partition, first, Math.min(first + BLOCK, middle), states, group);
      if (number + 1 < blocks) {
        states.merge(group, group + 1);
      }
    }
    states.clear(BACK);
  }

  private void addRows(WindowPartition partition, int number) {
    block = number;
    int first = firstBlock + number * BLOCK;
    int last = Math.min(first + BLOCK, middle);
    int count = last - first;
    for (int i = 0; i < count; i++) {
      states.clear(ROWS + i);
    }
    input.addApart(partition, first, last, states, ROWS);
    if (last < middle) {
      states.merge(ROWS + count - 1, BLOCKS + number + 1);
    }
    for (int i = count - 2; i >= 0; i--) {
      states.merge(ROWS + i, ROWS + i + 1);
    }
  }
}
