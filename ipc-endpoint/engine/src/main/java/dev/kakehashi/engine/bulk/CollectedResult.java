package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Keeps the rows of an inner statement, which are few. Thread-safe.
final class CollectedResult implements ResultSink {
  private static final int BATCH_BYTES = 64 << 10;

  private final List<MemorySegment> batches = new ArrayList<>();

  @Override
  public @Nullable Buffer acquire(int minBytes) {
    MemorySegment memory = Arena.ofAuto().allocate(Math.max(BATCH_BYTES, minBytes), 8);
    return new Buffer() {
      @Override
      public MemorySegment memory() {
        return memory;
      }

      @Override
      public void stage(int batchBytes, int rowCount) {
        synchronized (CollectedResult.this) {
          batches.add(memory.asSlice(0, batchBytes));
        }
      }

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

  /// Hands out the batches.
  synchronized void forEach(Consumer<RowBatchReader> batch) {
    RowBatchReader reader = new RowBatchReader();
    batches.forEach(memory -> batch.accept(reader.wrap(memory)));
  }
}
