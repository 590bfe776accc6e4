package dev.kakehashi.engine.exec.window;

import dev.kakehashi.engine.exec.rows.HeapShare;
import dev.kakehashi.engine.exec.rows.MadeValues;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.plan.PlanNode.WindowCall;
import dev.kakehashi.engine.type.Accumulator;
import dev.kakehashi.engine.type.AggregateFunction;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.aggregate.KeepingAccumulator;
import dev.kakehashi.engine.type.aggregate.MergeableGroups;
import dev.kakehashi.engine.type.aggregate.SerialAccumulator;
import dev.kakehashi.engine.type.registry.Aggregates;
import dev.kakehashi.engine.vector.ColumnVector;
import dev.kakehashi.engine.vector.VectorBatch;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An aggregate over the frame. A frame that only grows is added to. Rows of a frame that moves forward are added once, where the
/// aggregate's states can be put together. Any other frame is aggregated anew for each row where it differs. A state that grows with its
/// rows counts for the statement's memory, and so does the making of a value, as with groups. A frame's input is not put on the disk.
final class WindowAggregate extends WindowFunction {
  private final AggregateFunction function;
  private final FrameRuns frame;
  private final boolean growsOnly;
  private final boolean forward;
  private final FrameInput input;
  private final MemoryAccount memory;
  private final MadeValues made;
  private final int[] last = new int[6];
  private int lastRuns = -1;
  private @Nullable Accumulator state;

  /// Over `state`; null: the frame is aggregated as a whole.
  private @Nullable SlidingAggregate sliding;

  private int added;

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
    this.forward = frame.movesForward();
    this.input = new FrameInput(call);
  }

  @Override
  void begin(WindowPartition partition) {
    SlidingAggregate present = sliding;
    if (present != null) {
      present.begin();
      return;
    }
    Accumulator fresh = restart();
    if (forward && !growsOnly && fresh instanceof MergeableGroups mergeable) {
      sliding = new SlidingAggregate(mergeable, input);
    }
  }

  private Accumulator restart() {
    dropState();
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
    SlidingAggregate moving = sliding;
    if (moving != null) {
      boolean isEmpty = frame.runs() == 0;
      moving.evaluate(
          partition, isEmpty ? 0 : frame.start(0), isEmpty ? 0 : frame.end(0), out, row, context);
      setAccounted(current.memoryBytes());
      return;
    }
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
    for (int position = from; position < end; ) {
      int next = Math.min(end, position + VectorBatch.CAPACITY);
      input.add(partition, position, next, to, 0);
      account(to);
      position = next;
    }
  }

  @Override
  void close() {
    dropState();
    input.close();
  }

  private void dropState() {
    if (state != null) {
      state.close();
      state = null;
      sliding = null;
      setAccounted(0);
      made.hold(0);
    }
  }
}
