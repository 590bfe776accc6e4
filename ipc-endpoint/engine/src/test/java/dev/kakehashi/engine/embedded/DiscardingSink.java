package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.ResultSink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A reader that is never behind, and keeps nothing. Each writer has memory of its own while it writes.
public final class DiscardingSink implements ResultSink {
  private static final int BATCH_BYTES = 64 << 10;

  @Override
  public @Nullable Buffer acquire(int minBytes) {
    MemorySegment memory = Arena.ofAuto().allocate(Math.max(BATCH_BYTES, minBytes), 8);
    return new Buffer() {
      @Override
      public MemorySegment memory() {
        return memory;
      }

      @Override
      public void stage(int batchBytes, int rowCount) {}

      @Override
      public void discard() {}
    };
  }

  @Override
  public void whenWritable(Runnable wake) {
    wake.run();
  }

  @Override
  public int maxBatchBytes() {
    return 16 << 20;
  }
}
