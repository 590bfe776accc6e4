package dev.kakehashi.testsupport;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A reader of results in this process, with room for a number of batches.
///
/// A batch has room from the moment when its buffer is acquired, until it is discarded, taken or released. Thread-safe.
public final class BatchSink implements ResultSink {
  private static final int BUFFER_BYTES = 64 << 10;
  private static final int MAX_BATCH_BYTES = 16 << 20;

  private final int room;
  private final int bufferBytes;
  private final int maxBatchBytes;

  // Guarded by this.
  private final Deque<RowBatchReader> staged = new ArrayDeque<>();
  private final List<Runnable> waiting = new ArrayList<>();

  /// Buffers that are neither staged nor discarded.
  private int lent;

  /// Batches that are staged, and neither taken nor released.
  private int held;

  /// Buffers of 64 KB and batches of up to 16 MB.
  ///
  /// @param room for so many batches, 1 or more
  public BatchSink(int room) {
    this(room, BUFFER_BYTES, MAX_BATCH_BYTES);
  }

  /// Buffers of one length, which no batch exceeds.
  public BatchSink(int room, int bufferBytes) {
    this(room, bufferBytes, bufferBytes);
  }

  private BatchSink(int room, int bufferBytes, int maxBatchBytes) {
    this.room = room;
    this.bufferBytes = bufferBytes;
    this.maxBatchBytes = maxBatchBytes;
  }

  @Override
  public synchronized @Nullable Buffer acquire(int minBytes) {
    if (isFull()) {
      return null;
    }
    lent++;
    MemorySegment memory = Arena.ofAuto().allocate(Math.max(bufferBytes, minBytes), 8);
    // Memory of earlier use is anything but zero.
    memory.fill((byte) 0xA5);
    return new Buffer() {
      @Override
      public MemorySegment memory() {
        return memory;
      }

      @Override
      public void stage(int batchBytes, int rowCount) {
        // A copy of its length: a result of many short batches need not keep their buffers.
        MemorySegment batch = Arena.ofAuto().allocate(batchBytes, 8);
        batch.copyFrom(memory.asSlice(0, batchBytes));
        synchronized (BatchSink.this) {
          lent--;
          held++;
          staged.add(new RowBatchReader().wrap(batch));
        }
      }

      @Override
      public void discard() {
        give(() -> lent--);
      }
    };
  }

  private boolean isFull() {
    return lent + held >= room;
  }

  private void give(Runnable change) {
    List<Runnable> woken = List.of();
    synchronized (this) {
      change.run();
      if (!isFull()) {
        woken = List.copyOf(waiting);
        waiting.clear();
      }
    }
    woken.forEach(Runnable::run);
  }

  @Override
  public void whenWritable(Runnable wake) {
    synchronized (this) {
      if (isFull()) {
        waiting.add(wake);
        return;
      }
    }
    wake.run();
  }

  @Override
  public int maxBatchBytes() {
    return maxBatchBytes;
  }

  /// Takes the oldest batch, which makes room; null: there is none now.
  public @Nullable RowBatchReader take() {
    RowBatchReader[] batch = new RowBatchReader[1];
    give(() -> {
      batch[0] = staged.poll();
      if (batch[0] != null && held > 0) {
        held--;
      }
    });
    return batch[0];
  }

  /// Makes room for as many batches as are staged, which can still be read and taken.
  public void release() {
    give(() -> held = 0);
  }

  /// Batches that are staged and not taken, oldest first. They take the room that they have.
  public synchronized List<RowBatchReader> batches() {
    return List.copyOf(staged);
  }

  /// Number of writers that wait for room.
  public synchronized int waiters() {
    return waiting.size();
  }
}
