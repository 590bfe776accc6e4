package dev.kakehashi.server;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A sink with room for some batches, as an interface of the endpoint's process has it. Thread-safe.
final class MemorySink implements ResultSink {
  private static final int BATCH_BYTES = 64 << 10;

  // Guarded by this.
  private final ArrayDeque<RowBatchReader> batches = new ArrayDeque<>();
  private final List<Runnable> waiting = new ArrayList<>();
  private final int room;
  private int taken;

  /// @param room batches that it holds
  MemorySink(int room) {
    this.room = room;
  }

  @Override
  public synchronized @Nullable Buffer acquire(int minBytes) {
    if (taken == room) {
      return null;
    }
    taken++;
    MemorySegment memory = Arena.ofAuto().allocate(Math.max(BATCH_BYTES, minBytes), 8);
    return new Buffer() {
      @Override
      public MemorySegment memory() {
        return memory;
      }

      @Override
      public void stage(int batchBytes, int rowCount) {
        synchronized (MemorySink.this) {
          batches.add(new RowBatchReader().wrap(memory.asSlice(0, batchBytes)));
        }
      }

      @Override
      public void discard() {
        give();
      }
    };
  }

  private void give() {
    List<Runnable> woken;
    synchronized (this) {
      taken--;
      woken = List.copyOf(waiting);
      waiting.clear();
    }
    woken.forEach(Runnable::run);
  }

  @Override
  public void whenWritable(Runnable wake) {
    boolean now;
    synchronized (this) {
      now = taken < room;
      if (!now) {
        waiting.add(wake);
      }
    }
    if (now) {
      wake.run();
    }
  }

  @Override
  public int maxBatchBytes() {
    return 1 << 20;
  }

  /// Takes the oldest batch, which makes room; null: there is none now.
  @Nullable RowBatchReader take() {
    RowBatchReader batch;
    synchronized (this) {
      batch = batches.poll();
    }
    if (batch != null) {
      give();
    }
    return batch;
  }

  /// Whether the sink is full and its producer waits.
  synchronized boolean isWaitedFor() {
    return !waiting.isEmpty();
  }
}
