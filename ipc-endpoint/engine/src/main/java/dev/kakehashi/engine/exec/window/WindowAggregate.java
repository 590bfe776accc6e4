package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.exec.rows.HeapShare;
import dev.kakehashi.engine.exec.rows.IndexedRows;
import dev.kakehashi.engine.exec.rows.MadeValues;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.plan.PlanNode.WindowCall;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.Aggregates;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.aggregate.KeepingAccumulator;
import dev.kakehashi.engine.type.aggregate.SerialAccumulator;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An aggregate over the frame. A frame that only grows is added to; any other one is aggregated anew for each row where it differs.
/// What grows with its rows counts for the statement's memory, and so does the making of a value, as with groups; a frame's input is not put on the disk.
final class WindowAggregate extends WindowFunction {
  /// Rows aggregated between two looks whether the statement is canceled.
  private static final int CHECK_ROWS = 1 << 13;

  private final AggregateFunction function;
  private final FrameRuns frame;
  private final boolean growsOnly;
  private final ColumnVector[] arguments;
  private final MemoryAccount memory;
  private final MadeValues made;
  private final int[] last = new int[6];
  private int lastRuns = -1;
  private @Nullable Accumulator state;
  private int added;
  private int sinceCheck;

  /// Bytes of the state that the statement's account has; only of one that grows with its rows.
  private long accounted;

  WindowAggregate(WindowCall call, FrameRuns frame, MemoryAccount memory) {
    super(call);
    this.memory = memory.user();
    this.made = new MadeValues(this.memory, HeapShare.OF_PROCESS);
    this.frame = frame;
    this.growsOnly = frame.growsOnly();
    this.function =
        call.own() != null
            ? call.own()
            : Objects.requireNonNull(
                Aggregates.resolve(call.name(), call.argumentOids()), call.name());
    this.arguments = new ColumnVector[call.arguments().length];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = new ColumnVector(VectorBatch.CAPACITY);
    }
  }

  @Override
  void begin(WindowPartition partition) {
    restart();
  }

  private Accumulator restart() {
    close();
    Accumulator fresh = function.newAccumulator();
    fresh.resize(1);
    state = fresh;
    added = 0;
    lastRuns = -1;
    return fresh;
  }

  @Override
  void evaluate(
      WindowPartition partition, int position, ColumnVector out, int row, FunctionContext context) {
    frame.move(partition, position);
    Accumulator current = Objects.requireNonNull(state);
    if (growsOnly) {
      int end = frame.runs() == 0 ? 0 : frame.end(0);
      add(partition, added, end, current);
      added = Math.max(added, end);
    } else if (!isLast()) {
      current = restart();
      lastRuns = frame.runs();
      for (int run = 0; run < frame.runs(); run++) {
        last[2 * run] = frame.start(run);
        last[2 * run + 1] = frame.end(run);
        add(partition, frame.start(run), frame.end(run), current);
      }
    }
    if (current instanceof KeepingAccumulator keeping) {
      made.make(keeping, 0, out, row, context);
    } else {
      current.result(0, out, row, context);
    }
  }

  private void account(Accumulator of) {
    if (!(of instanceof SerialAccumulator)) {
      return;
    }
    setAccounted(of.memoryBytes());
    if (of instanceof KeepingAccumulator keeping) {
      made.hold(keeping.heapBytes());
    }
  }

  private void setAccounted(long bytes) {
    long more = bytes - accounted;
    accounted = bytes;
    if (more != 0) {
      memory.add(more);
    }
  }

  private boolean isLast() {
    if (lastRuns != frame.runs()) {
      return false;
    }
    for (int run = 0; run < lastRuns; run++) {
      if (last[2 * run] != frame.start(run) || last[2 * run + 1] != frame.end(run)) {
        return false;
      }
    }
    return true;
  }

  private void add(WindowPartition partition, int from, int end, Accumulator to) {
    IndexedRows rows = partition.rows();
    int position = from;
    while (position < end) {
      for (ColumnVector argument : arguments) {
        argument.clearNulls();
      }
      int count = 0;
      while (position < end && count < VectorBatch.CAPACITY) {
        int row = partition.row(position++);
        if (call.filter() >= 0
            && (rows.isNull(call.filter(), row) || rows.word(call.filter(), row) == 0)) {
          continue;
        }
        for (int i = 0; i < arguments.length; i++) {
          int column = call.arguments()[i];
          if (rows.isNull(column, row)) {
            arguments[i].setNull(count);
          } else {
            arguments[i].words[count] = rows.word(column, row);
          }
        }
        count++;
      }
      to.addAll(arguments, null, count, 0);
      account(to);
      sinceCheck += count;
      if (sinceCheck > CHECK_ROWS) {
        sinceCheck = 0;
        Interrupts.check();
      }
    }
  }

  @Override
  void close() {
    if (state != null) {
      state.close();
      state = null;
      setAccounted(0);
      made.hold(0);
    }
  }
}
