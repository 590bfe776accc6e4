package dev.kakehashi.requests;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The sink of an interface in this process as the output of one execution: it knows who waits, wakes them at a cancel, and counts what is
/// sent. Thread-safe.
final class InProcessResponse implements Response {
  private final InProcessCall call;
  private final InProcessClient client;
  private final ResultSink sink;
  private final long beganNanos = System.nanoTime();

  private volatile boolean canceled; // written under the lock of this

  // Guarded by this.
  private final List<Waiter> waiters = new ArrayList<>(0);
  private long woken;

  /// @param call takes the answer
  InProcessResponse(InProcessCall call, InProcessClient client, ResultSink sink) {
    this.call = call;
    this.client = client;
    this.sink = sink;
  }

  /// A producer that waits for the reader; woken once, by the reader or by a cancel.
  private final class Waiter implements Runnable {
    private final Runnable wake;

    Waiter(Runnable wake) {
      this.wake = wake;
    }

    @Override
    public void run() {
      synchronized (InProcessResponse.this) {
        if (!waiters.remove(this)) {
          return;
        }
        woken++;
      }
      wake.run();
    }
  }

  @Override
  public @Nullable Buffer acquire(int minBytes) {
    if (canceled) {
      throw new EngineException(
          ErrorCode.QUERY_CANCELED, "canceling statement due to user request");
    }
    Buffer buffer = sink.acquire(minBytes);
    if (buffer != null && !isWritable(buffer.memory())) {
      buffer.discard();
      throw new EngineException(
          ErrorCode.INTERNAL_ERROR, "a sink gave memory that the engine cannot write to");
    }
    return buffer == null ? null : new CountedBuffer(buffer, client);
  }

  /// The engine writes to addresses.
  private static boolean isWritable(MemorySegment memory) {
    return memory.isNative() && (memory.address() & 7) == 0 && !memory.isReadOnly();
  }

  private record CountedBuffer(Buffer buffer, InProcessClient client) implements Buffer {
    @Override
    public MemorySegment memory() {
      return buffer.memory();
    }

    @Override
    public void stage(int batchBytes, int rowCount) {
      client.sent(batchBytes, rowCount);
      buffer.stage(batchBytes, rowCount);
    }

    @Override
    public void discard() {
      buffer.discard();
    }
  }

  @Override
  public void whenWritable(Runnable wake) {
    Waiter waiter = new Waiter(wake);
    boolean now;
    synchronized (this) {
      now = canceled;
      if (!now) {
        waiters.add(waiter);
      }
    }
    if (now) {
      wake.run();
    } else {
      client.waited();
      sink.whenWritable(waiter);
    }
  }

  @Override
  public int maxBatchBytes() {
    return sink.maxBatchBytes();
  }

  @Override
  public long beganNanos() {
    return beganNanos;
  }

  @Override
  public void cancel(long requestId) {
    List<Waiter> now;
    synchronized (this) {
      canceled = true;
      now = List.copyOf(waiters);
    }
    now.forEach(Waiter::run);
  }

  @Override
  public synchronized boolean isWaiting() {
    return !waiters.isEmpty();
  }

  /// How often the reader has made room for a producer that waited for it.
  @Override
  public synchronized long consumed() {
    return woken;
  }

  @Override
  public void completed(
      TransactionState state,
      long handle,
      long leaseDeadlineNanos,
      long rows,
      boolean undurableReads) {
    call.completed(state, handle, leaseDeadlineNanos, rows, undurableReads);
  }

  @Override
  public void failed(
      TransactionState state, long handle, long leaseDeadlineNanos, EngineException failure) {
    call.failed(state, handle, leaseDeadlineNanos, failure);
  }
}
