package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.expr.EvalContext;
import dev.kakehashi.engine.expr.Evaluators;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode.Frame;
import dev.kakehashi.engine.plan.PlanNode.FrameBound;
import dev.kakehashi.engine.plan.PlanNode.FrameBoundKind;
import dev.kakehashi.engine.plan.PlanNode.FrameExclusion;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.engine.vector.VectorBatch;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;

/// The frame of the current row: up to three runs of positions, because rows may be excluded from its middle.
final class FrameRuns {
  private static final int MAX_RUNS = 3;

  private final Frame frame;
  private final EvalContext context;
  private long startOffset;
  private long endOffset;
  private int lastStart;
  private int lastEnd;
  private final int[] starts = new int[MAX_RUNS];
  private final int[] ends = new int[MAX_RUNS];
  private int runs;

  /// An offset of RANGE is negative, which is refused where there are rows.
  private boolean isRefused;

  FrameRuns(Frame frame, EvalContext context) {
    this.frame = frame;
    this.context = context;
  }

  /// Evaluates the offsets, for an execution.
  void open() {
    isRefused = false;
    startOffset = offset(frame.start(), "starting");
    endOffset = offset(frame.end(), "ending");
  }

  private long offset(FrameBound bound, String which) {
    Expr negative = bound.negative();
    if (negative == null) {
      return 0;
    }
    try (VarHeap heap = new VarHeap()) {
      context.functions.heap = heap;
      ColumnVector sign = Evaluators.of(negative, context).evaluate(VectorBatch.oneRow());
      if (sign.isNull(0)) {
        throw new EngineException(
            ErrorCode.NULL_VALUE_NOT_ALLOWED, "frame " + which + " offset must not be null");
      }
      if (sign.words[0] != 0 && bound.offset() == null) {
        isRefused = true;
      } else if (sign.words[0] != 0) {
        throw new EngineException(
            ErrorCode.INVALID_WINDOW_FRAME_SIZE, "frame " + which + " offset must not be negative");
      }
      @Nullable Expr offset = bound.offset();
      return offset == null
          ? 0
          : Evaluators.of(offset, context).evaluate(VectorBatch.oneRow()).words[0];
    }
  }

  /// Whether the frame begins with the partition and nothing is excluded: it only grows from row to row.
  boolean growsOnly() {
    return frame.start().kind() == FrameBoundKind.UNBOUNDED_PRECEDING
        && frame.exclusion() == FrameExclusion.NO_OTHERS;
  }

  /// Whether neither end is before that of the row before, and nothing is excluded.
  boolean movesForward() {
    return frame.exclusion() == FrameExclusion.NO_OTHERS;
  }

  /// Takes the frame of a position, which is the one after the position before, or 0 in a new partition.
  void move(WindowPartition partition, int position) {
    if (isRefused) {
      throw new EngineException(
          ErrorCode.INVALID_WINDOW_FRAME_SIZE,
          "invalid preceding or following size in window function");
    }
    if (position == 0) {
      lastStart = 0;
      lastEnd = 0;
    }
    // A month later is not always later: of two days before the end of a month the second one may
    // be earlier then. PostgreSQL does not go back.
    int start = Math.max(lastStart, partition.frameStart(frame, position, startOffset));
    int end = Math.max(lastEnd, partition.frameEnd(frame, position, endOffset));
    lastStart = start;
    lastEnd = end;
    runs = 0;
    switch (frame.exclusion()) {
      case NO_OTHERS -> add(start, end);
      case CURRENT_ROW -> {
        add(start, Math.min(end, position));
        add(Math.max(start, position + 1), end);
      }
      case GROUP -> {
        add(start, Math.min(end, partition.peersStart(position)));
        add(Math.max(start, partition.peersEnd(position)), end);
      }
      case TIES -> {
        add(start, Math.min(end, partition.peersStart(position)));
        add(Math.max(start, position), Math.min(end, position + 1));
        add(Math.max(start, partition.peersEnd(position)), end);
      }
    }
  }

  private void add(int start, int end) {
    if (start < end) {
      starts[runs] = start;
      ends[runs++] = end;
    }
  }

  int runs() {
    return runs;
  }

  int start(int run) {
    return starts[run];
  }

  int end(int run) {
    return ends[run];
  }

  /// Rows in the frame.
  long count() {
    long count = 0;
    for (int run = 0; run < runs; run++) {
      count += ends[run] - starts[run];
    }
    return count;
  }

  /// Rows in the frame that have a value.
  long count(NonNullRows nonNull) {
    long count = 0;
    for (int run = 0; run < runs; run++) {
      count += nonNull.count(starts[run], ends[run]);
    }
    return count;
  }

  /// Position of row `number`, from 0, of those in the frame that have a value.
  int position(NonNullRows nonNull, long number) {
    long left = number;
    for (int run = 0; run < runs; run++) {
      int count = nonNull.count(starts[run], ends[run]);
      if (left < count) {
        return nonNull.position(starts[run], left);
      }
      left -= count;
    }
    throw new IllegalArgumentException("the frame has no row " + number + " with a value");
  }

  /// Position of row `number` of the frame, from 0.
  int position(long number) {
    long left = number;
    int run = 0;
    while (left >= ends[run] - starts[run]) {
      left -= ends[run] - starts[run];
      run++;
    }
    return (int) (starts[run] + left);
  }
}
