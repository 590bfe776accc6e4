package dev.kakehashi.engine.exec.rows;

import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.aggregate.KeepingAccumulator;
import dev.kakehashi.engine.vector.ColumnVector;

/// Makes the values of aggregates that keep their input, and counts what lies in the JVM's heap meanwhile. Confined to one task at a time.
public final class MadeValues {
  /// Bytes that making a value may take besides the statement's limit: values of some ten thousand parts are made with any limit.
  private static final long FLOOR_BYTES = 4L << 20;

  private final MemoryAccount memory;
  private final HeapShare share;

  /// Counted for states, until they change.
  private long held;

  public MadeValues(MemoryAccount memory, HeapShare share) {
    this.memory = memory;
    this.share = share;
  }

  /// States have this many bytes in the JVM's heap now; the statement's account has them already.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY
  public void hold(long bytes) {
    long more = bytes - held;
    if (more != 0) {
      share.add(more);
      held = bytes;
    }
  }

  /// Sets row `row` of a column to a group's result.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException OUT_OF_MEMORY, before it is made
  public void make(
      KeepingAccumulator of, int group, ColumnVector out, int row, FunctionContext context) {
    long bytes = of.resultBytes(group);
    long counted = Math.max(bytes - FLOOR_BYTES, 0);
    share.add(bytes);
    try {
      memory.add(counted);
      of.result(group, out, row, context);
    } finally {
      memory.add(-counted);
      share.add(-bytes);
    }
  }
}
