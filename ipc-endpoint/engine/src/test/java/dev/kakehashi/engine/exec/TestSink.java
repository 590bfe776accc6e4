package dev.kakehashi.engine.exec;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.protocol.RowBatchReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A reader that holds at most `window` batches until it is told to release them.
public final class TestSink implements ResultSink {
  private final Arena arena = Arena.ofShared();
  private final int window;
  private final int bytes;
  private final Deque<MemorySegment> staged = new ArrayDeque<>();
  private final List<Runnable> waiting = new ArrayList<>();
  private int lent;

  public TestSink(int window, int bytes) {
    this.window = window;
    this.bytes = bytes;
  }

  @Override
  public synchronized @Nullable Buffer acquire(int minBytes) {
    if (lent >= window) {
      return null;
    }
    lent++;
    MemorySegment memory = arena.allocate(bytes, 8);
    return new Buffer() {
      @Override
      public MemorySegment memory() {
        return memory;
      }

      @Override
      public void stage(int batchBytes, int rowCount) {
        synchronized (TestSink.this) {
          staged.add(memory.asSlice(0, batchBytes));
          TestSink.this.notifyAll();
        }
      }

      @Override
      public void discard() {
        release();
      }
    };
  }

  private void release() {
    List<Runnable> wake;
    synchronized (this) {
      lent--;
      wake = List.copyOf(waiting);
      waiting.clear();
    }
    wake.forEach(Runnable::run);
  }

  @Override
  public void whenWritable(Runnable wake) {
    synchronized (this) {
      if (lent >= window) {
        waiting.add(wake);
        return;
      }
    }
    wake.run();
  }

  @Override
  public int maxBatchBytes() {
    return bytes;
  }

  /// Takes the staged batches one by one, each released after it was read.
  public List<List<@Nullable Long>> drainLongs() {
    List<List<@Nullable Long>> rows = new ArrayList<>();
    while (true) {
      MemorySegment batch;
      synchronized (this) {
        batch = staged.poll();
      }
      if (batch == null) {
        return rows;
      }
      RowBatchReader reader = new RowBatchReader().wrap(batch);
      for (int r = 0; r < reader.rowCount(); r++) {
        List<@Nullable Long> row = new ArrayList<>();
        for (int c = 0; c < reader.columnCount(); c++) {
          row.add(reader.isNull(r, c) ? null : reader.getWord(r, c));
        }
        rows.add(row);
      }
      release();
    }
  }

  /// Waits until something is staged; false if nothing is after the time.
  public synchronized boolean awaitStaged(long timeoutMillis) throws InterruptedException {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    while (staged.isEmpty()) {
      long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
      if (leftMillis <= 0) {
        return false;
      }
      wait(leftMillis);
    }
    return true;
  }
}
