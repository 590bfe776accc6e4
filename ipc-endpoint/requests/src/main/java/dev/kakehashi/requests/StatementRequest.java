package dev.kakehashi.requests;

import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.Execution;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import java.time.Instant;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// One execution that a session asks for: in which transaction it runs, and what happens at its end. One object per request: the parameters
/// of [Executions#run] and the engine's completion.
///
/// ```
///  made -> runsIn -> run -> accept -> succeed | fail     close does nothing
///  made -> runsIn -> refuse | an exception               close ends the request
/// ```
///
/// The poller makes, runs and closes it. Its fields are written by the poller before it enters the running ones, whose lock publishes them,
/// and before the engine has it; only `execution` and `canceled` change later.
public final class StatementRequest
    implements BiConsumer<@Nullable Long, @Nullable EngineException>, LongSupplier, AutoCloseable {
  private final Executions executions;
  private final ClientRequests session;
  private final Response response;
  private final long requestId;
  private final long beganNanos;
  private final Viewer viewer;
  private @Nullable OpenTransaction open;
  private boolean commitAfter;
  private CommitResponse commitResponse = CommitResponse.AVAILABLE;
  private @Nullable Runnable whenEnded;

  /// Null: it has not begun.
  private @Nullable EngineTransaction transaction;

  private String sql = "";
  private volatile @Nullable Execution execution;
  private volatile boolean canceled;

  // Links of the session's running requests, guarded by their lock.
  @Nullable StatementRequest older;
  @Nullable StatementRequest newer;

  StatementRequest(
      Executions executions,
      ClientRequests session,
      long requestId,
      Response response,
      @Nullable Runnable whenEnded) {
    this.executions = executions;
    this.session = session;
    this.requestId = requestId;
    this.response = response;
    this.whenEnded = whenEnded;
    this.viewer = session.viewer();
    this.beganNanos = response.beganNanos();
  }

  /// Says in which transaction it runs. Poller only, before it is run or refused.
  ///
  /// @param transaction one with a handle; null: one of its own, which commits with it
  /// @param commits whether an open transaction commits when the statement has succeeded
  /// @param commit response of the commit, if the request has one
  public void runsIn(
      @Nullable OpenTransaction transaction, boolean commits, CommitResponse commit) {
    open = transaction;
    commitAfter = commits;
    commitResponse = commit;
  }

  /// Answers a request that has not been run. Poller only.
  public void refuse(EngineException failure) {
    response.failed(open, failure);
  }

  /// The door is done with it: if it has not been run, it has ended. Poller only.
  @Override
  public void close() {
    if (transaction == null) {
      leave();
    }
  }

  void counted(OpenResults results, int columns) {
    whenEnded = results.admit(columns, whenEnded);
  }

  ClientRequests session() {
    return session;
  }

  long requestId() {
    return requestId;
  }

  Response response() {
    return response;
  }

  /// The one that it has begun in.
  EngineTransaction transaction() {
    return Objects.requireNonNull(transaction);
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

  CommitResponse commitResponse() {
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
  void begins(Statement statement, EngineTransaction in) {
    transaction = in;
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
    executions.completed(this, rows == null ? 0 : rows, failure);
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
