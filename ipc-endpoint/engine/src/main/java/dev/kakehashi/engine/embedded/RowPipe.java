package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Row batches from a statement to a thread that may block. Bounded: a statement whose reader is slow waits. Thread-safe.
final class RowPipe implements ResultSink {
  private static final int BATCH_BYTES = 64 << 10;
  private static final int MOST_BATCHES = 8;
  private static final int MOST_BATCH_BYTES = 64 << 20;

  // All guarded by this.
  private final Deque<Batch> staged = new ArrayDeque<>();
  private final Deque<MemorySegment> free = new ArrayDeque<>();

  /// Buffers that the statement has, and batches that nobody has read.
  private int held;

  private @Nullable Runnable wake;
  private boolean ended;
  private boolean unwanted;
  private @Nullable Long count;
  private @Nullable EngineException failure;

  /// A batch of rows, and the buffer that it lies in.
  record Batch(MemorySegment memory, int bytes) {
    MemorySegment rows() {
      return memory.asSlice(0, bytes);
    }
  }

  // ---- the statement ----

  @Override
  public @Nullable Buffer acquire(int minBytes) {
    MemorySegment memory;
    synchronized (this) {
      if (unwanted) {
        throw new EngineException(ErrorCode.QUERY_CANCELED, "nobody reads the rows any more");
      }
      if (held >= MOST_BATCHES) {
        return null;
      }
      held++;
      MemorySegment known = minBytes <= BATCH_BYTES ? free.poll() : null;
      memory = known != null ? known : Arena.ofAuto().allocate(Math.max(BATCH_BYTES, minBytes), 8);
    }
    return new Buffer() {
      @Override
      public MemorySegment memory() {
        return memory;
      }

      @Override
      public void stage(int batchBytes, int rowCount) {
        synchronized (RowPipe.this) {
          staged.add(new Batch(memory, batchBytes));
          RowPipe.this.notifyAll();
        }
      }

      @Override
      public void discard() {
        released(memory);
      }
    };
  }

  @Override
  public void whenWritable(Runnable news) {
    synchronized (this) {
      if (!unwanted && held >= MOST_BATCHES) {
        wake = news;
        return;
      }
    }
    news.run();
  }

  @Override
  public int maxBatchBytes() {
    return MOST_BATCH_BYTES;
  }

  /// The statement has ended.
  synchronized void ended(@Nullable Long itsCount, @Nullable EngineException itsFailure) {
    ended = true;
    count = itsCount;
    failure = itsFailure;
    notifyAll();
  }

  // ---- the reader ----

  /// The next batch; to be given back by [#release]. Blocks.
  ///
  /// @return null: there are no more
  /// @throws EngineException why the statement has failed
  synchronized @Nullable Batch next() throws InterruptedException {
    while (staged.isEmpty() && !ended) {
      wait();
    }
    Batch batch = staged.poll();
    EngineException failed = failure;
    if (batch == null && failed != null) {
      throw failed;
    }
    return batch;
  }

  /// Waits for the statement's end.
  ///
  /// @return the number of rows that it reports
  /// @throws EngineException why it has failed
  synchronized long await() throws InterruptedException {
    while (!ended) {
      wait();
    }
    EngineException failed = failure;
    if (failed != null) {
      throw failed;
    }
    Long reported = count;
    return reported == null ? 0 : reported;
  }

  /// A batch has been read.
  void release(Batch batch) {
    released(batch.memory());
  }

  private void released(MemorySegment memory) {
    Runnable news;
    synchronized (this) {
      held--;
      if (memory.byteSize() == BATCH_BYTES && free.size() < MOST_BATCHES) {
        free.add(memory);
      }
      news = wake;
      wake = null;
    }
    if (news != null) {
      news.run();
    }
  }

  /// Nobody reads any more.
  void close() {
    List<Batch> left;
    synchronized (this) {
      unwanted = true;
      left = new ArrayList<>(staged);
      staged.clear();
    }
    left.forEach(this::release);
    Runnable news;
    synchronized (this) {
      news = wake;
      wake = null;
    }
    if (news != null) {
      news.run();
    }
  }
}
