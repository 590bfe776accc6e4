package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.OpenTransaction;
import dev.kakehashi.requests.Response;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import java.lang.foreign.MemorySegment;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;

/// Rows and final frame of one response slot. One object per slot, for all requests that have it one after the other. Thread-safe.
final class SlotResponse implements Response {
  /// Response to requests whose clients want no answer.
  static final SlotResponse NONE = new SlotResponse(null);

  private final @Nullable ResponseChannel channel;

  /// Request that has the slot. Written by the poller before anybody else knows the request; the one final frame is its last use.
  private long requestId;

  private SlotResponse(@Nullable ResponseChannel channel) {
    this.channel = channel;
  }

  /// Response to a request that has arrived. Poller only.
  static SlotResponse of(@Nullable ResponseChannel channel, long requestId) {
    if (channel == null) {
      return NONE;
    }
    SlotResponse response =
        channel.attachment() instanceof SlotResponse known ? known : attached(channel);
    response.requestId = requestId;
    return response;
  }

  private static SlotResponse attached(ResponseChannel channel) {
    SlotResponse response = new SlotResponse(channel);
    channel.attach(response);
    return response;
  }

  /// @throws MalformedFrameException if the client wants no answer
  SlotResponse required() {
    present();
    return this;
  }

  private ResponseChannel present() {
    if (channel == null) {
      throw new MalformedFrameException("request has to have a response slot");
    }
    return channel;
  }

  /// Says which transaction the request has begun, and returns it. Poller only, before it is run.
  OpenTransaction begun(OpenTransaction transaction) {
    present().begun(transaction.handle());
    return transaction;
  }

  @Override
  public void completed(
      TransactionState state,
      long handle,
      long leaseDeadlineNanos,
      long rows,
      boolean undurableReads) {
    Replies.completed(channel, requestId, state, handle, leaseDeadlineNanos, rows, undurableReads);
  }

  @Override
  public void failed(
      TransactionState state, long handle, long leaseDeadlineNanos, EngineException failure) {
    Replies.failed(
        channel, requestId, state, handle, leaseDeadlineNanos, ClientFailures.of(failure));
  }

  /// Answers with a failure that was thrown, in no transaction.
  void failed(Throwable failure) {
    Replies.failed(channel, requestId, TransactionState.NONE, 0, 0, ClientFailures.of(failure));
  }

  /// Refuses a message that cannot be understood, and its session ends.
  void refused(String reason) {
    Replies.refused(channel, requestId, reason);
  }

  void prepared(int statementId, Statement statement) {
    Replies.prepared(channel, requestId, statementId, statement);
  }

  void pong(DirectBuffer payload, int offset, int length) {
    Replies.pong(channel, requestId, payload, offset, length);
  }

  void granted(int bufferBytes, long[] offsets) {
    Replies.granted(present(), requestId, bufferBytes, offsets);
  }

  void token(OpenTransaction transaction, String token) {
    Replies.token(channel, requestId, transaction, token);
  }

  @Override
  public long beganNanos() {
    return present().beganNanos();
  }

  @Override
  public void cancel(long canceledRequestId) {
    present().cancel(canceledRequestId);
  }

  @Override
  public boolean isWaiting() {
    return present().isWaiting();
  }

  @Override
  public long consumed() {
    return present().consumed();
  }

  @Override
  public ResultSink.@Nullable Buffer acquire(int minBytes) {
    try {
      ResponseChannel.Buffer buffer = present().acquire(minBytes);
      return buffer == null ? null : new SinkBuffer(buffer);
    } catch (TransportException e) {
      throw new EngineException(e.code(), String.valueOf(e.getMessage()))
          .withDetail(e.failure().detail())
          .withHint(e.failure().hint());
    }
  }

  @Override
  public void whenWritable(Runnable wake) {
    present().whenWritable(wake);
  }

  @Override
  public int maxBatchBytes() {
    return present().maxBatchBytes();
  }

  private record SinkBuffer(ResponseChannel.Buffer buffer) implements ResultSink.Buffer {
    @Override
    public MemorySegment memory() {
      return buffer.memory();
    }

    @Override
    public void stage(int batchBytes, int rowCount) {
      buffer.stage(batchBytes, rowCount);
    }

    @Override
    public void discard() {
      buffer.discard();
    }
  }
}
