package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.RowEncoder;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.TransactionUse;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.problem.Problem;
import dev.kakehashi.rest.problem.Problems;
import dev.kakehashi.rest.route.Exchange;
import dev.kakehashi.rest.route.ExchangeOutput;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/// One statement for one exchange, answered while it runs.
///
/// It goes on by callbacks and holds no thread. A short answer is sent whole by whichever thread the statement ends on; only a long one
/// takes a thread, which waits for the socket and for rows. Whatever throws becomes the answer.
final class SqlCall {
  /// Field with the number of rows that were sent or changed.
  static final String ROWS = "Kakehashi-Rows";

  private final SqlService service;
  private final Exchange exchange;
  private final SqlRequest request;
  private final AnswerFormat format;
  private final TransactionHeader header;
  private final SessionPool.Lease lease;
  private final @Nullable ClaimedRows claims; // null: rows belong to nobody
  private final long beganNanos = System.nanoTime();

  // Written by one callback before the next is asked for.
  private long handle; // of the transaction that is named or begun; 0: none
  private boolean isQueued; // among the requests of that transaction
  private volatile @Nullable StatementRun run;
  private volatile RequestSession.@Nullable Cancelable preparation;
  private volatile boolean gone;
  private volatile boolean late; // written by the thread of time-outs

  private SqlCall(
      SqlService service,
      Exchange exchange,
      SqlRequest request,
      AnswerFormat format,
      TransactionHeader header) {
    this.service = service;
    this.exchange = exchange;
    this.request = request;
    this.format = format;
    this.header = header;
    @Nullable String givenBackBy = request.givenBackBy();
    this.claims =
        givenBackBy == null
            ? null
            : new ClaimedRows(service, exchange.request().user(), givenBackBy);
    this.lease = service.sessions().lease(exchange.request().user());
  }

  /// Begins. Does not block.
  static void start(
      SqlService service, Exchange exchange, SqlRequest request, TransactionHeader header) {
    start(
        service,
        exchange,
        request,
        AnswerFormat.of(exchange.request(), request.isObjects()),
        header);
  }

  /// Begins, with rows in a form that the request does not choose. Does not block.
  static void start(
      SqlService service,
      Exchange exchange,
      SqlRequest request,
      AnswerFormat format,
      TransactionHeader header) {
    SqlCall call = new SqlCall(service, exchange, request, format, header);
    exchange.onEnd(call::end);
    exchange.onFailure(call::cancel);
    exchange.watch(call::cancel);
    if (call.claims != null) {
      exchange.onBroken(call.claims::giveBack);
    }
    call.guarded(call::begin);
  }

  private interface Step {
    void run() throws IOException, InterruptedException;
  }

  /// Runs a step; what it throws is the answer.
  private void guarded(Step step) {
    try {
      claiming(step, false);
    } catch (Throwable e) {
      exchange.fail(e);
    }
  }

  /// Runs a step; what it has claimed is given back if it throws.
  ///
  /// @param mayWait for the end of the statement: the thread is none of the engine's
  private void claiming(Step step, boolean mayWait) throws IOException, InterruptedException {
    try {
      step.run();
    } catch (Throwable e) {
      StatementRun running = run;
      if (claims != null && running != null && (mayWait || running.rows().answer() != null)) {
        claims.giveBackRest(running);
      } else if (claims != null) {
        claims.giveBack();
      }
      throw e;
    }
  }

  /// A claim is not sent to a client who has gone: the kernel would take it, and nobody get it.
  ///
  /// @throws IOException he has
  private void requireClient() throws IOException {
    if (claims != null && exchange.isClientGone()) {
      IOException failure =
          new IOException("the client has gone before he got what he has claimed");
      exchange.abort(failure);
      throw failure;
    }
  }

  private RowEncoder encoder() {
    RowEncoder encoder = format.encoder();
    return claims == null ? encoder : claims.noting(encoder);
  }

  /// The exchange has ended.
  private void end() {
    StatementRun running = run;
    if (running != null) {
      running.close();
    }
    if (isQueued) {
      service.queues().leave(handle);
    }
    lease.close();
  }

  /// The client is gone.
  private void cancel() {
    gone = true;
    RequestSession.Cancelable preparing = preparation;
    if (preparing != null) {
      preparing.cancel();
    }
    StatementRun running = run;
    if (running != null) {
      running.cancel();
    }
  }

  private void begin() {
    switch (header.verb()) {
      case AUTO -> prepare(new TransactionUse.AutoCommit(header.options(), header.commit()));
      case BEGIN ->
          lease
              .session()
              .begin(header.options(), header.leaseNanos(), answer -> guarded(() -> begun(answer)));
      case CONTINUE, END -> {
        handle = service.handle(exchange.request().user(), header.handle());
        isQueued = service.queues().enter(handle);
        if (isQueued) {
          boolean isEnd = header.verb() == TransactionHeader.Verb.END;
          prepare(new TransactionUse.Continue(handle, isEnd, header.commit()));
        } else {
          refuse(
              new EngineException(
                  ErrorCode.OBJECT_IN_USE,
                  "the transaction has " + TransactionQueues.MOST + " requests under way already"));
        }
      }
      case ABORT ->
          throw Problem.badRequest(
              TransactionHeader.NAME + ": abort takes no statement; send an empty body");
    }
  }

  private void begun(RequestAnswer answer) {
    if (answer.failure() != null) {
      failed(answer);
    } else {
      handle = answer.handle();
      prepare(new TransactionUse.Continue(handle, false, header.commit()));
    }
  }

  private void prepare(TransactionUse use) {
    @Nullable String name = request.keptAs();
    @Nullable Statement known = name == null ? lease.known(request.sql()) : lease.knownAs(name);
    if (known != null) {
      execute(known, use);
      return;
    }
    Future<?> deadline = service.afterTimeout(request.timeoutNanos(), this::planningTimedOut);
    preparation =
        lease
            .session()
            .prepare(
                request.sql(),
                SqlService.INFERRED,
                (statement, failure) ->
                    guarded(() -> {
                      deadline.cancel(false);
                      if (failure != null) {
                        refuse(failure);
                      } else {
                        Statement prepared = Objects.requireNonNull(statement);
                        if (name == null) {
                          lease.keep(request.sql(), prepared);
                        } else {
                          lease.keepAs(name, prepared);
                        }
                        execute(prepared, use);
                      }
                    }));
    if (gone) {
      cancel();
    }
    if (late) {
      planningTimedOut();
    }
  }

  /// The time of the request is over while its statement is planned; an execution looks for itself.
  private void planningTimedOut() {
    late = true;
    RequestSession.Cancelable preparing = preparation;
    if (preparing != null) {
      preparing.cancel();
    }
  }

  private void execute(Statement statement, TransactionUse use) {
    SqlLimits limits = service.limits();
    ParameterBatch parameters;
    try {
      parameters = request.parameters(statement.parameterTypeOids(), limits);
    } catch (EngineException e) {
      refuse(e);
      return;
    }
    StatementRun started =
        new StatementRun(
            lease, statement, service.room(), limits.batchBytes(), () -> guarded(this::decided));
    run = started;
    started.start(parameters, use, request.options());
    if (gone) {
      started.cancel();
    }
  }

  /// The request fails before the statement could run; its transaction stays as it is, and the answer says how.
  private void refuse(EngineException failure) {
    if (handle == 0) {
      failed(new RequestAnswer(TransactionState.NONE, 0, 0, 0, failure));
    } else {
      lease
          .session()
          .outcome(
              handle,
              now ->
                  guarded(() ->
                      failed(
                          new RequestAnswer(
                              now.state(), handle, now.leaseDeadlineNanos(), 0, failure))));
    }
  }

  private String transaction(RequestAnswer answer) {
    return TransactionFields.of(service.requests(), exchange.request().user(), answer, handle != 0);
  }

  /// The statement has failed. The owner of a transaction that was named and could not be used gets its outcome.
  private void endedBadly(RequestAnswer answer) {
    @Nullable String name = request.keptAs();
    if (name != null
        && Objects.requireNonNull(answer.failure()).code() == ErrorCode.FEATURE_NOT_SUPPORTED) {
      lease.forget(name); // it may give something else by now
    }
    if (handle != 0 && answer.handle() == 0) {
      refuse(Objects.requireNonNull(answer.failure()));
    } else {
      failed(answer);
    }
  }

  private void failed(RequestAnswer answer) {
    exchange.answer().header(TransactionHeader.NAME, transaction(answer));
    exchange.fail(problem(answer));
  }

  private Problem problem(RequestAnswer answer) {
    EngineException failure = Objects.requireNonNull(answer.failure());
    boolean isTimeout =
        failure.code() == ErrorCode.QUERY_CANCELED
            && request.timeoutNanos() > 0
            && System.nanoTime() - beganNanos >= request.timeoutNanos();
    boolean isUnhandled =
        request.isOfCode() && failure.sqlstate().equals(ErrorCode.RAISE_EXCEPTION.sqlstate());
    Problem problem =
        isTimeout
            ? Problem.timeout(failure)
            : isUnhandled ? Problem.unhandled(failure) : Problems.of(failure);
    problem.withPointer(request.badParameter());
    return handle == 0
        ? problem
        : problem.withTransaction(service.requests().token(exchange.request().user(), handle));
  }

  /// The answer is known to be short, or long.
  private void decided() throws IOException, InterruptedException {
    StatementRun running = Objects.requireNonNull(run);
    @Nullable RequestAnswer answer = running.rows().answer();
    if (answer == null) {
      Step rest = format.encoder() instanceof WholeAnswer ? this::collect : this::stream;
      exchange.block(_ -> claiming(rest, true));
    } else if (answer.failure() != null) {
      endedBadly(answer);
    } else {
      sendShort(running, answer);
    }
  }

  private void sendShort(StatementRun running, RequestAnswer answer)
      throws IOException, InterruptedException {
    @Nullable Problem withoutRows = request.withoutRows();
    if (answer.rows() == 0 && withoutRows != null) {
      throw withoutRows;
    }
    exchange.answer().header(TransactionHeader.NAME, transaction(answer));
    if (format.isRows()) {
      exchange.answer().header(ROWS, Long.toString(answer.rows()));
    }
    int status = request.status(answer.rows() > 0);
    if (status == 204) {
      exchange.answer().send(status);
      return;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    OutputStream coded = service.coded(format, bytes);
    RowEncoder encoder = encoder();
    encoder.begin(running.statement().columns(), coded);
    // The statement has ended: this waits for nothing.
    write(running.rows(), encoder);
    encoder.end(answer.rows());
    coded.close();
    describe();
    requireClient();
    exchange.answer().send(status(encoder, status), format.contentType(), bytes.toByteArray());
  }

  /// Writes all rows, as they come.
  private static void write(ResultStream rows, RowEncoder encoder)
      throws IOException, InterruptedException {
    for (ResultStream.Chunk chunk = rows.next(); chunk != null; chunk = rows.next()) {
      try {
        encoder.rows(chunk.batch());
      } finally {
        rows.release(chunk);
      }
    }
  }

  private void describe() {
    exchange.answer().header("Vary", "Accept, Accept-Encoding");
    if (format.isCoded()) {
      exchange.answer().header("Content-Encoding", format.coding().token());
    }
  }

  private static int status(RowEncoder encoder, int usual) {
    return encoder instanceof WholeAnswer whole ? whole.status(usual) : usual;
  }

  /// Sends a long answer when all of it is there. On a thread of its own.
  private void collect() throws IOException, InterruptedException {
    StatementRun running = Objects.requireNonNull(run);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
    OutputStream coded = service.coded(format, bytes);
    RowEncoder encoder = encoder();
    encoder.begin(running.statement().columns(), coded);
    ResultStream rows = running.rows();
    write(rows, encoder);
    RequestAnswer answer = Objects.requireNonNull(rows.answer());
    if (answer.failure() != null) {
      endedBadly(answer);
      return;
    }
    encoder.end(answer.rows());
    coded.close();
    exchange.answer().header(TransactionHeader.NAME, transaction(answer));
    describe();
    exchange
        .answer()
        .send(status(encoder, request.status(true)), format.contentType(), bytes.toByteArray());
  }

  /// Sends a long answer as its rows come. On a thread of its own.
  private void stream() throws IOException, InterruptedException {
    StatementRun running = Objects.requireNonNull(run);
    describe();
    if (format.isRows()) {
      exchange.answer().announceTrailers(TransactionHeader.NAME, ROWS);
    } else {
      exchange.answer().announceTrailers(TransactionHeader.NAME);
    }
    requireClient();
    ExchangeOutput out = exchange.answer().stream(request.status(true), format.contentType());
    OutputStream coded = service.coded(format, out);
    RowEncoder encoder = encoder();
    encoder.begin(running.statement().columns(), coded);
    ResultStream rows = running.rows();
    write(rows, encoder);
    RequestAnswer answer = Objects.requireNonNull(rows.answer());
    if (answer.failure() != null) {
      Problem problem = problem(answer);
      encoder.fail(problem.toJson());
      coded.flush();
      // No good-looking end: the framing breaks.
      throw problem;
    }
    encoder.end(answer.rows());
    coded.close();
    requireClient();
    out.trailer(TransactionHeader.NAME, transaction(answer));
    if (format.isRows()) {
      out.trailer(ROWS, Long.toString(answer.rows()));
    }
    out.finish();
  }
}
