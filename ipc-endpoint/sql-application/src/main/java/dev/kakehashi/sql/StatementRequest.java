package dev.kakehashi.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// One running execution: where its rows go, and what happens at its end.
///
/// One object per request: it is the engine's sink and its completion.
final class StatementRequest
    implements ResultSink, BiConsumer<@Nullable Long, @Nullable EngineException> {
  /// What ends a request after its statement has ended.
  interface Completion {
    /// Any thread.
    void completed(StatementRequest request, long rows, @Nullable EngineException failure);
  }

  private final SqlSession session;
  private final ResponseChannel channel;
  private final long requestId;
  private final int slot;
  private final EngineTransaction transaction;
  private final @Nullable OpenTransaction open;
  private final boolean commitAfter;
  private final EngineTransaction.CommitResponse commitResponse;
  private final Completion completion;
  private final @Nullable Runnable whenEnded;
  private final long beganNanos;
  private final Viewer viewer;
  private String sql = ""; // written before the request enters the running ones
  private volatile @Nullable Execution execution;
  private volatile boolean canceled;

  /// @param open transaction with a handle; null: auto-commit
  /// @param whenEnded called once after everything; null: nothing
  StatementRequest(
      SqlSession session,
      ResponseChannel channel,
      long requestId,
      int slot,
      EngineTransaction transaction,
      @Nullable OpenTransaction open,
      boolean commitAfter,
      EngineTransaction.CommitResponse commitResponse,
      Completion completion,
      @Nullable Runnable whenEnded) {
    this.whenEnded = whenEnded;
    this.session = session;
    this.viewer = session.viewer();
    this.channel = channel;
    this.beganNanos = channel.beganNanos();
    this.requestId = requestId;
    this.slot = slot;
    this.transaction = transaction;
    this.open = open;
    this.commitAfter = commitAfter;
    this.commitResponse = commitResponse;
    this.completion = completion;
  }

  long requestId() {
    return requestId;
  }

  ResponseChannel channel() {
    return channel;
  }

  EngineTransaction transaction() {
    return transaction;
  }

  @Nullable OpenTransaction open() {
    return open;
  }

  boolean isAutoCommit() {
    return open == null;
  }

  boolean commitAfter() {
    return commitAfter;
  }

  EngineTransaction.CommitResponse commitResponse() {
    return commitResponse;
  }

  /// When its request arrived, by System.nanoTime(). Any thread.
  long beganNanos() {
    return beganNanos;
  }

  /// When its request arrived, by the clock. Any thread.
  Instant beganAt() {
    return Instant.now().minusNanos(System.nanoTime() - beganNanos);
  }

  /// For whom it runs. Any thread.
  Viewer viewer() {
    return viewer;
  }

  /// Text of the statement. Any thread that has it from the running requests.
  String sql() {
    return sql;
  }

  /// Enters the session's running requests.
  void begins(Statement statement) {
    sql = statement.sql();
    session.running().set(slot, this);
    if (open != null) {
      open.requestBegins(channel);
    }
  }

  void started(Execution started) {
    execution = started;
    if (canceled) {
      started.cancel();
    }
  }

  /// Asks the statement to end with QUERY_CANCELED. Any thread, idempotent.
  void cancel() {
    canceled = true;
    Execution now = execution;
    if (now != null) {
      now.cancel();
    }
    channel.cancel(requestId);
  }

  /// The statement has ended, with its last use of sink and parameters. Called once.
  @Override
  public void accept(@Nullable Long rows, @Nullable EngineException failure) {
    session.running().compareAndSet(slot, this, null);
    completion.completed(this, rows == null ? 0 : rows, failure);
  }

  void succeed(long rows) {
    requestEnds();
    Replies.completed(channel, requestId, open, rows);
    leave();
  }

  void fail(Failure failure) {
    requestEnds();
    Replies.failed(channel, requestId, open, failure);
    leave();
  }

  private void leave() {
    if (whenEnded != null) {
      whenEnded.run();
    }
  }

  private void requestEnds() {
    if (open != null) {
      open.requestEnds(channel);
    }
  }

  @Override
  public ResultSink.@Nullable Buffer acquire(int minBytes) {
    try {
      ResponseChannel.Buffer buffer = channel.acquire(minBytes);
      return buffer == null ? null : new SinkBuffer(buffer);
    } catch (TransportException e) {
      throw new EngineException(e.code(), String.valueOf(e.getMessage()))
          .withDetail(e.failure().detail())
          .withHint(e.failure().hint());
    }
  }

  @Override
  public void whenWritable(Runnable wake) {
    channel.whenWritable(wake);
  }

  @Override
  public int maxBatchBytes() {
    return channel.maxBatchBytes();
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
