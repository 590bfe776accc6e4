package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.os.ThreadPriority;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.requests.RequestAnswer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The rows of one statement on their way from the engine's tasks to the one thread that reads them.
///
/// Tasks take buffers, at most [#WINDOW] at a time; with none left they end and are woken when the reader has given one back. So a slow
/// reader holds the producer up, and no thread. The first buffer is short. An answer that needs more reserves all of them first in the
/// [AnswerRoom], before the reader has sent anything. So an answer for which there is no room is an error and not half of a result.
///
/// Lock: `lock` guards everything; wakers and the engine are called without it. The reader is one thread at a time.
final class ResultStream implements ResultSink, AutoCloseable {
  /// Buffers of an answer at a time.
  static final int WINDOW = 4;

  private static final long RESERVED_BYTES = (WINDOW - 1L) * AnswerRoom.LONG_BYTES;

  private final AnswerRoom room;
  private final int maxBatchBytes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<Chunk> staged = new ArrayDeque<>(WINDOW);
  private List<Runnable> wakers = List.of();
  private @Nullable RequestAnswer answer;
  private long reservedBytes;
  private int held; // buffers that tasks or the reader have, or that are staged
  private boolean begun; // the first buffer was taken
  private boolean closed;
  private long consumed;
  private @Nullable Runnable decided;

  /// @param maxBatchBytes longest row batch
  /// @param decided called once when the answer is known to be short, because the statement has ended with its rows in the first buffer, or
  ///     to be long, because room for more is reserved; on the thread that decides it, which it must not block
  ResultStream(AnswerRoom room, int maxBatchBytes, Runnable decided) {
    this.room = room;
    this.maxBatchBytes = maxBatchBytes;
    this.decided = decided;
  }

  /// A batch that the reader owns until it gives it back.
  record Chunk(AnswerRoom.Memory memory, int batchBytes, int rows) {
    MemorySegment batch() {
      return memory.segment().asSlice(0, batchBytes);
    }
  }

  private final class StreamBuffer implements Buffer {
    private final AnswerRoom.Memory memory;

    StreamBuffer(AnswerRoom.Memory memory) {
      this.memory = memory;
    }

    @Override
    public MemorySegment memory() {
      return memory.segment();
    }

    @Override
    public void stage(int batchBytes, int rowCount) {
      lock.lock();
      try {
        if (!closed) {
          staged.add(new Chunk(memory, batchBytes, rowCount));
          changed.signal();
          return;
        }
      } finally {
        lock.unlock();
      }
      release(memory);
    }

    @Override
    public void discard() {
      release(memory);
    }
  }

  @Override
  public @Nullable Buffer acquire(int minBytes) {
    @Nullable Runnable listener = null;
    boolean isShort;
    lock.lock();
    try {
      if (closed) {
        throw new EngineException(ErrorCode.QUERY_CANCELED, "client is gone");
      }
      if (held == WINDOW) {
        return null;
      }
      isShort = !begun && minBytes <= AnswerRoom.SHORT_BYTES;
      if (!isShort && reservedBytes == 0) {
        room.enter(RESERVED_BYTES);
        reservedBytes = RESERVED_BYTES;
        listener = takeListener();
      }
      begun = true;
      held++;
    } finally {
      lock.unlock();
    }
    if (listener != null) {
      listener.run();
    }
    return isShort ? new StreamBuffer(room.take(AnswerRoom.SHORT_BYTES)) : longBuffer(minBytes);
  }

  /// A buffer for more than the first rows; one for a row that is longer than usual reserves that, too.
  private Buffer longBuffer(int minBytes) {
    int extra = extra(minBytes);
    boolean reserved = false;
    boolean taken = false;
    try {
      if (extra > 0) {
        room.reserve(extra);
        reserved = true;
      }
      Buffer buffer = new StreamBuffer(room.take(Math.max(minBytes, AnswerRoom.LONG_BYTES)));
      taken = true;
      return buffer;
    } finally {
      if (!taken) {
        if (reserved) {
          room.unreserve(extra);
        }
        lock.lock();
        try {
          held--;
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /// Bytes of a buffer beyond the reservation of its answer.
  private static int extra(long bytes) {
    return (int) Math.max(0, bytes - AnswerRoom.LONG_BYTES);
  }

  @Override
  public void whenWritable(Runnable wake) {
    lock.lock();
    try {
      if (!closed && held == WINDOW) {
        List<Runnable> more = new ArrayList<>(wakers);
        more.add(wake);
        wakers = more;
        return;
      }
    } finally {
      lock.unlock();
    }
    wake.run();
  }

  @Override
  public int maxBatchBytes() {
    return maxBatchBytes;
  }

  /// Whether the producer waits for the reader.
  boolean isWaiting() {
    lock.lock();
    try {
      return !wakers.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /// Buffers that the reader has given back so far.
  long consumed() {
    lock.lock();
    try {
      return consumed;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Runnable takeListener() {
    @Nullable Runnable listener = decided;
    decided = null;
    return listener;
  }

  /// The statement has ended, after its last use of this. Any thread.
  void finished(RequestAnswer ended) {
    @Nullable Runnable listener;
    lock.lock();
    try {
      answer = ended;
      changed.signalAll();
      listener = takeListener();
    } finally {
      lock.unlock();
    }
    if (listener != null) {
      listener.run();
    }
  }

  /// How the statement has ended; null: it has not.
  @Nullable RequestAnswer answer() {
    lock.lock();
    try {
      return answer;
    } finally {
      lock.unlock();
    }
  }

  /// The next batch, to be given back; null: there is none after the end of the statement. Waits.
  @Nullable Chunk next() throws InterruptedException {
    if (Thread.currentThread().isVirtual()) {
      ThreadPriority.letOthersPass();
    }
    lock.lock();
    try {
      while (true) {
        Chunk chunk = staged.poll();
        if (chunk != null) {
          return chunk;
        }
        if (answer != null) {
          return null;
        }
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  /// Gives a batch back.
  void release(Chunk chunk) {
    release(chunk.memory());
  }

  private void release(AnswerRoom.Memory memory) {
    int extra = extra(memory.bytes());
    room.give(memory);
    if (extra > 0) {
      room.unreserve(extra);
    }
    List<Runnable> woken;
    lock.lock();
    try {
      held--;
      consumed++;
      woken = wakers;
      wakers = List.of();
      returnRoom();
    } finally {
      lock.unlock();
    }
    woken.forEach(Runnable::run);
  }

  /// The reader goes: buffers go back, and tasks that want more are refused. Idempotent.
  @Override
  public void close() {
    List<Chunk> left;
    List<Runnable> woken;
    lock.lock();
    try {
      closed = true;
      left = new ArrayList<>(staged);
      staged.clear();
      woken = wakers;
      wakers = List.of();
      returnRoom();
    } finally {
      lock.unlock();
    }
    left.forEach(this::release);
    woken.forEach(Runnable::run);
  }

  /// The room goes back when nobody reads any more and no task has a buffer. Under the lock.
  private void returnRoom() {
    if (closed && held == 0 && reservedBytes > 0) {
      room.leave(reservedBytes);
      reservedBytes = 0;
    }
  }
}
