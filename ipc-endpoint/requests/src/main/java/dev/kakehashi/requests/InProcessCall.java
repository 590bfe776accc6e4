package dev.kakehashi.requests;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.TransactionState;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One call of a session of an interface in this process: a command of the poller, which may have to wait for its turn, and its answer.
class InProcessCall implements Runnable, DeferredRequest, Answer {
  /// Work of a call. Poller only.
  @FunctionalInterface
  interface Action {
    /// Whatever it throws is the answer.
    void run(ClientRequests session, InProcessCall call);
  }

  /// Statements up to this length are no danger to the stack of the calling thread, which may be a sixteenth of the poller's: recursion
  /// goes as deep as their text makes it.
  private static final int SHORT_SQL = 2000;

  private static final Logger LOG = LoggerFactory.getLogger(InProcessCall.class);

  private final InProcessSession session;
  private final long requestId;
  private final int sqlLength;
  private final Action action;
  private final Consumer<RequestAnswer> done;
  private final long beganNanos = System.nanoTime();
  private volatile boolean canceled;

  /// @param sqlLength of its statement; 0: it has none
  InProcessCall(
      InProcessSession session,
      long requestId,
      int sqlLength,
      Action action,
      Consumer<RequestAnswer> done) {
    this.session = session;
    this.sqlLength = sqlLength;
    this.requestId = requestId;
    this.action = action;
    this.done = done;
  }

  /// Whether the calling thread may run it.
  final boolean isShort() {
    return sqlLength <= SHORT_SQL;
  }

  @Override
  public final long requestId() {
    return requestId;
  }

  /// Asks it to end. Any thread, idempotent, also after the end.
  final void cancel() {
    canceled = true; // it may be waiting
    session.cancelRunning(requestId);
  }

  /// Its turn among the commands of the poller.
  @Override
  public final void run() {
    ClientRequests requests = session.requests();
    if (requests.isClosed()) {
      refuse(InProcessSession.closedFailure());
    } else if (requests.isBlocked()) {
      requests.defer(this);
    } else {
      run(null);
    }
  }

  @Override
  public final void run(@Nullable Runnable permit) {
    if (canceled) {
      if (permit != null) {
        permit.run();
      }
      refuse(
          new EngineException(ErrorCode.QUERY_CANCELED, "canceling statement due to user request"));
      return;
    }
    try {
      start(session.requests(), permit);
    } catch (RuntimeException | Error e) {
      refuse(failure(e));
    }
  }

  /// @param permit see [DeferredRequest#run(Runnable)]
  void start(ClientRequests requests, @Nullable Runnable permit) {
    action.run(requests, this);
  }

  private static EngineException failure(Throwable e) {
    return switch (e) {
      case EngineException known -> known;
      // Parameters that are no row batch.
      case MalformedFrameException malformed ->
          new EngineException(
              ErrorCode.MALFORMED_MESSAGE, String.valueOf(malformed.getMessage()), malformed);
      default -> new EngineException(ErrorCode.INTERNAL_ERROR, "internal error: " + e, e);
    };
  }

  @Override
  public boolean isExecution() {
    return false;
  }

  @Override
  public boolean continues(long handle) {
    return false;
  }

  @Override
  public final void refuse(EngineException failure) {
    failed(null, failure);
  }

  @Override
  public final void completed(
      TransactionState state,
      long handle,
      long leaseDeadlineNanos,
      long rows,
      boolean undurableReads) {
    answer(new RequestAnswer(state, handle, leaseDeadlineNanos, rows, null));
  }

  @Override
  public final void failed(
      TransactionState state, long handle, long leaseDeadlineNanos, EngineException failure) {
    if (failure.code() == ErrorCode.INTERNAL_ERROR) {
      LOG.error("internal error", failure);
    }
    answer(new RequestAnswer(state, handle, leaseDeadlineNanos, 0, failure));
  }

  private void answer(RequestAnswer answer) {
    try {
      done.accept(answer);
    } catch (RuntimeException | Error e) {
      LOG.error("an interface could not take an answer", e);
    } finally {
      session.answered(System.nanoTime() - beganNanos);
    }
  }
}
