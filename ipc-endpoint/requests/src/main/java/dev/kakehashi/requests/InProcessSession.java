package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.ResultSink;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A session of an interface in this process. Each call is a command of the poller. Thread-safe.
final class InProcessSession implements RequestSession {
  private final InProcessRequests door;
  private final RequestCore core;
  private final InProcessClient client;
  private final ClientRequests requests;
  private final AtomicLong lastRequestId = new AtomicLong();
  private final AtomicBoolean closed = new AtomicBoolean();

  InProcessSession(InProcessRequests door, RequestCore core, InProcessClient client) {
    this.door = door;
    this.core = core;
    this.client = client;
    this.requests = core.open(client, false);
  }

  InProcessClient client() {
    return client;
  }

  /// Poller only, but for what says otherwise.
  ClientRequests requests() {
    return requests;
  }

  @Override
  public long id() {
    return client.id();
  }

  @Override
  public RequestUser user() {
    return client.user();
  }

  static EngineException closedFailure() {
    return new EngineException(ErrorCode.QUERY_CANCELED, "the session is closed");
  }

  /// A handle that means what it says: the session's last transaction has to be named, too.
  static long named(long handle) {
    if (handle == 0) {
      throw Transactions.noSuchTransaction();
    }
    return handle;
  }

  private InProcessCall submit(InProcessCall call) {
    door.begins();
    if (closed.get()) {
      call.refuse(closedFailure());
    } else if (call.isShort()) {
      door.poller().runOrExecute(call);
    } else {
      door.poller().execute(call);
    }
    return call;
  }

  private InProcessCall submit(InProcessCall.Action action, Consumer<RequestAnswer> done) {
    return submit(new InProcessCall(this, lastRequestId.incrementAndGet(), 0, action, done));
  }

  /// A call has its answer. Any thread.
  void answered(long nanos) {
    door.requestTimes().add(nanos);
    client.answered();
    door.ended();
  }

  void cancelRunning(long requestId) {
    door.poller().execute(() -> core.cancellations().cancel(requests, Answer.NONE, requestId));
  }

  @Override
  public Cancelable prepare(
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    Preparation preparation = new Preparation(core, sql, parameterTypeOids.clone());
    InProcessCall call =
        new InProcessCall(
            this,
            lastRequestId.incrementAndGet(),
            sql.length(),
            preparation,
            answer -> done.accept(preparation.statement, answer.failure()));
    return submit(call)::cancel;
  }

  /// Prepares a statement and keeps it for the answer. Poller only.
  private static final class Preparation implements InProcessCall.Action {
    private final RequestCore core;
    private final String sql;
    private final int[] parameterTypeOids;
    private @Nullable Statement statement;

    Preparation(RequestCore core, String sql, int[] parameterTypeOids) {
      this.core = core;
      this.sql = sql;
      this.parameterTypeOids = parameterTypeOids;
    }

    @Override
    public void run(ClientRequests session, InProcessCall call) {
      core.prepare(
          session,
          call.requestId(),
          sql,
          parameterTypeOids,
          (prepared, failure) -> {
            statement = prepared;
            if (failure == null) {
              call.completed(TransactionState.NONE, 0, 0, 0, false);
            } else {
              call.failed(null, failure);
            }
          });
    }
  }

  @Override
  public Running execute(
      Statement statement,
      ParameterBatch parameters,
      TransactionUse use,
      ExecuteOptions options,
      ResultSink sink,
      Consumer<RequestAnswer> done) {
    InProcessExecution call =
        new InProcessExecution(
            core,
            this,
            lastRequestId.incrementAndGet(),
            statement,
            parameters,
            use,
            options,
            sink,
            done);
    submit(call);
    return new Running() {
      @Override
      public void cancel() {
        call.cancel();
      }

      @Override
      public long rowsScanned() {
        return call.rowsScanned();
      }
    };
  }

  @Override
  public void begin(BeginOptions options, long leaseNanos, Consumer<RequestAnswer> done) {
    submit(
        (session, call) ->
            call.completed(core.transactions().begin(session, options, leaseNanos), 0),
        done);
  }

  @Override
  public void commit(long handle, CommitResponse response, Consumer<RequestAnswer> done) {
    submit(
        (session, call) -> core.transactions().commit(session, call, named(handle), response),
        done);
  }

  @Override
  public void rollback(long handle, Consumer<RequestAnswer> done) {
    submit((session, call) -> core.transactions().rollback(session, call, named(handle)), done);
  }

  @Override
  public void terminate(long handle, Consumer<RequestAnswer> done) {
    overtake((session, self) -> core.transactions().terminate(session, self, handle), done);
  }

  @Override
  public void terminate(String token, Consumer<RequestAnswer> done) {
    overtake((session, self) -> core.terminate(session, self, token), done);
  }

  @Override
  public void renew(long handle, Consumer<RequestAnswer> done) {
    submit(
        (session, call) -> call.completed(core.transactions().use(session, named(handle)), 0),
        done);
  }

  @Override
  public void outcome(long handle, Consumer<RequestAnswer> done) {
    submit((session, call) -> core.transactions().outcome(session, call, named(handle)), done);
  }

  @Override
  public void cancelTransaction(long handle, Consumer<RequestAnswer> done) {
    overtake(
        (session, self) -> core.cancellations().cancelTransaction(session, self, handle), done);
  }

  @Override
  public void cancelSession(long id, Consumer<RequestAnswer> done) {
    overtake((session, self) -> core.cancellations().cancelSession(session, self, id), done);
  }

  private void overtake(InProcessCall.Action action, Consumer<RequestAnswer> done) {
    InProcessCall call = new InProcessCall(this, lastRequestId.incrementAndGet(), 0, action, done);
    door.begins();
    // It overtakes what waits in the session.
    door.poller().runOrExecute(() -> call.run(null));
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      door.closed(this);
      door.poller().runOrExecute(() -> core.close(requests));
    }
  }
}
