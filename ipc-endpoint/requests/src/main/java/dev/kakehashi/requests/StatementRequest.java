package dev.kakehashi.requests;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import java.time.Instant;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// One running execution, and what happens at its end. One object per request: it is the engine's completion.
final class StatementRequest
    implements BiConsumer<@Nullable Long, @Nullable EngineException>, LongSupplier {
  /// What ends a request after its statement has ended.
  interface Completion {
    /// Any thread.
    void completed(StatementRequest request, long rows, @Nullable EngineException failure);
  }

  private final ClientRequests session;
  private final Response response;
  private final long requestId;
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

  // Links of the session's running requests, guarded by their lock.
  @Nullable StatementRequest older;
  @Nullable StatementRequest newer;

  /// @param open transaction with a handle; null: auto-commit
  /// @param whenEnded called once after everything; null: nothing
  StatementRequest(
      ClientRequests session,
      Response response,
      long requestId,
      EngineTransaction transaction,
      @Nullable OpenTransaction open,
      boolean commitAfter,
      EngineTransaction.CommitResponse commitResponse,
      Completion completion,
      @Nullable Runnable whenEnded) {
    this.whenEnded = whenEnded;
    this.session = session;
    this.viewer = session.viewer();
    this.response = response;
    this.beganNanos = response.beganNanos();
    this.requestId = requestId;
    this.transaction = transaction;
    this.open = open;
    this.commitAfter = commitAfter;
    this.commitResponse = commitResponse;
    this.completion = completion;
  }

  long requestId() {
    return requestId;
  }

  Response response() {
    return response;
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
    session.running().add(this);
    if (open != null) {
      open.requestBegins(response);
    }
  }

  void started(Execution started) {
    execution = started;
    if (canceled) {
      started.cancel();
    }
  }

  /// Rows that it has read so far. Any thread, also after the end.
  @Override
  public long getAsLong() {
    Execution now = execution;
    return now == null ? 0 : now.rowsScanned();
  }

  /// Asks the statement to end with QUERY_CANCELED. Any thread, idempotent.
  void cancel() {
    canceled = true;
    Execution now = execution;
    if (now != null) {
      now.cancel();
    }
    response.cancel(requestId);
  }

  /// The statement has ended, with its last use of sink and parameters. Called once.
  @Override
  public void accept(@Nullable Long rows, @Nullable EngineException failure) {
    session.running().remove(this);
    completion.completed(this, rows == null ? 0 : rows, failure);
  }

  void succeed(long rows) {
    requestEnds();
    response.completed(open, rows);
    leave();
  }

  void fail(EngineException failure) {
    requestEnds();
    response.failed(open, failure);
    leave();
  }

  private void leave() {
    if (whenEnded != null) {
      whenEnded.run();
    }
  }

  private void requestEnds() {
    if (open != null) {
      open.requestEnds(response);
    }
  }
}
