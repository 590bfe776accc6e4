package dev.kakehashi.rest.sql;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.RowEncoder;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.requests.RequestAnswer;
import dev.kakehashi.requests.RequestSession;
import dev.kakehashi.requests.RequestUser;
import dev.kakehashi.requests.TransactionUse;
import dev.kakehashi.rest.header.TransactionHeader;
import dev.kakehashi.rest.job.JobContext;
import dev.kakehashi.rest.job.JobWork;
import dev.kakehashi.rest.job.StoredAnswer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A statement that runs as a job: its rows go to files, or a short answer is kept with the job.
///
/// It runs in a transaction with a handle, also if the request names none: the job keeps the handle before the commit, so that after a
/// crash the outcome says whether it took effect. A statement that commits while it runs has no such transaction, unless the request names
/// one.
final class JobStatement implements JobWork {
  private final SqlService service;
  private final RequestUser user;
  private final SqlRequest request;
  private final AnswerFormat format;
  private final TransactionHeader header;
  private final StatementOrder order;

  private volatile boolean begun;
  private volatile boolean canceled;
  private volatile RequestSession.@Nullable Cancelable running;

  JobStatement(
      SqlService service,
      RequestUser user,
      SqlRequest request,
      StatementOrder order,
      TransactionHeader header) {
    this.service = service;
    this.user = user;
    this.request = request;
    this.format = order.format();
    this.order = order;
    this.header = header;
  }

  @Override
  public long heldBytes() {
    return request.heldBytes();
  }

  /// In a transaction that the request names it is refused.
  @Override
  public @Nullable String load() {
    return header.verb() == TransactionHeader.Verb.AUTO ? order.load() : null;
  }

  @Override
  public void cancel() {
    canceled = true;
    RequestSession.Cancelable now = running;
    if (now != null) {
      now.cancel();
    }
    if (!begun) {
      order.ended().run();
    }
  }

  private void runs(RequestSession.Cancelable now) {
    running = now;
    if (canceled) {
      now.cancel();
    }
  }

  @Override
  public void run(JobContext job) throws IOException {
    begun = true;
    try (SessionPool.Lease lease = service.sessions().lease(user)) {
      run(job, lease);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EngineException(ErrorCode.QUERY_CANCELED, "the job was interrupted", e);
    } finally {
      order.ended().run();
    }
  }

  private void run(JobContext job, SessionPool.Lease lease)
      throws IOException, InterruptedException {
    if (load() != null) {
      // It has committed some of them before it tells how many.
      job.rowsWritten(-1);
      execute(job, lease, new TransactionUse.AutoCommit(header.options(), header.commit()));
      return;
    }
    boolean begins =
        header.verb() == TransactionHeader.Verb.AUTO
            || header.verb() == TransactionHeader.Verb.BEGIN;
    long handle =
        begins
            ? AnswerFuture.succeeded(
                    done -> lease.session().begin(header.options(), header.leaseNanos(), done))
                .handle()
            : service.handle(user, header.handle());
    boolean commits =
        header.verb() != TransactionHeader.Verb.BEGIN
            && header.verb() != TransactionHeader.Verb.CONTINUE;
    boolean succeeded = false;
    try {
      job.recordTransaction(service.requests().token(user, handle));
      execute(job, lease, new TransactionUse.Continue(handle, commits, header.commit()));
      succeeded = true;
    } finally {
      if (!succeeded && begins) {
        AnswerFuture.of(done -> lease.session().rollback(handle, done));
      }
    }
  }

  private void execute(JobContext job, SessionPool.Lease lease, TransactionUse use)
      throws IOException, InterruptedException {
    Statement statement = lease.prepare(request.sql(), request.timeoutNanos(), this::runs);
    ParameterBatch parameters = request.parameters(statement.parameterTypeOids(), service.limits());
    try (StatementRun run =
        new StatementRun(
            lease, statement, service.room(), service.limits().batchBytes(), () -> {})) {
      run.start(parameters, use, request.options());
      job.scans(run::rowsScanned);
      runs(run::cancel);
      write(job, run);
    }
  }

  private void write(JobContext job, StatementRun run) throws IOException, InterruptedException {
    ResultStream rows = run.rows();
    List<Statement.Column> columns = run.statement().columns();
    JobOutput output = new JobOutput(job, format, service);
    @Nullable RowEncoder encoder = null;
    long rowCount = 0;
    for (ResultStream.Chunk chunk = rows.next(); chunk != null; chunk = rows.next()) {
      try {
        if (encoder != null && output.isFull()) {
          encoder.end(output.rows());
          output.next();
          encoder = null;
        }
        if (encoder == null) {
          encoder = format.encoder();
          encoder.begin(columns, output);
        }
        encoder.rows(chunk.batch());
        output.addRows(chunk.rows());
        rowCount += chunk.rows();
        if (load() == null) {
          job.rowsWritten(format.isRows() ? rowCount : 0);
        }
      } finally {
        rows.release(chunk);
      }
    }
    RequestAnswer answer = Objects.requireNonNull(rows.answer());
    EngineException failure = answer.failure();
    if (failure != null) {
      throw failure;
    }
    job.rowsWritten(format.isRows() || load() != null ? answer.rows() : -1);
    if (encoder == null) {
      encoder = format.encoder();
      encoder.begin(columns, output);
      encoder.end(answer.rows());
    } else {
      encoder.end(output.rows());
    }
    output.finish(request.status(answer.rows() > 0), headers(answer));
  }

  private List<StoredAnswer.Header> headers(RequestAnswer answer) {
    List<StoredAnswer.Header> headers = new ArrayList<>(3);
    boolean isOpen = answer.state() == TransactionState.ACTIVE;
    headers.add(
        new StoredAnswer.Header(
            TransactionHeader.NAME,
            isOpen
                ? TransactionFields.of(service.requests(), user, answer, true)
                : TransactionFields.COMMITTED));
    if (format.isRows()) {
      headers.add(new StoredAnswer.Header(SqlCall.ROWS, Long.toString(answer.rows())));
    }
    if (format.isCoded()) {
      headers.add(new StoredAnswer.Header("Content-Encoding", format.coding().token()));
    }
    return headers;
  }
}
