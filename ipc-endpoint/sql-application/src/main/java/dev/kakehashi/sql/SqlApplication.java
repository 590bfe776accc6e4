package dev.kakehashi.sql;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.AcquireBuffersDecoder;
import dev.kakehashi.protocol.messages.BeginDecoder;
import dev.kakehashi.protocol.messages.BeginTransactionDecoder;
import dev.kakehashi.protocol.messages.CancelDecoder;
import dev.kakehashi.protocol.messages.CancelTransactionDecoder;
import dev.kakehashi.protocol.messages.CloseStatementDecoder;
import dev.kakehashi.protocol.messages.CommitDecoder;
import dev.kakehashi.protocol.messages.CommitPreparedDecoder;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.PingDecoder;
import dev.kakehashi.protocol.messages.PrepareDecoder;
import dev.kakehashi.protocol.messages.PrepareTransactionDecoder;
import dev.kakehashi.protocol.messages.QueryOutcomeDecoder;
import dev.kakehashi.protocol.messages.ReleaseBuffersDecoder;
import dev.kakehashi.protocol.messages.ReleaseSavepointDecoder;
import dev.kakehashi.protocol.messages.RollbackDecoder;
import dev.kakehashi.protocol.messages.RollbackPreparedDecoder;
import dev.kakehashi.protocol.messages.RollbackToSavepointDecoder;
import dev.kakehashi.protocol.messages.SavepointDecoder;
import dev.kakehashi.protocol.messages.SetApplicationNameDecoder;
import dev.kakehashi.protocol.messages.SetRoleDecoder;
import dev.kakehashi.scheduler.Admission;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Option;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.endpoint.RequestHandler;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import dev.kakehashi.transport.endpoint.TransportEndpoint;
import java.util.Objects;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// Handler of the transport's requests: sessions, prepared statements, buffers; transactions and executions are its helpers'.
///
/// Order: the poller brings the requests of a session in the order of its queue. While one of its statements is being prepared, or an execution waits
/// for its admission, what follows waits in that order (Prepare and the first Execute may be sent together); Cancel and Ping overtake. Statements and ends of one transaction keep the order of the calls in the engine, whatever session they came through.
public final class SqlApplication implements RequestHandler {
  private final TransportEndpoint endpoint;
  private final Transactions transactions;
  private final Executions executions;
  private final Cancellations cancellations;
  private final RequestLimits limits;
  private final TwoPhaseCommits twoPhase;
  private final int slots;
  private final int maxStatements;
  private final int maxBatchBytes;

  // Flyweights of the poller.
  private final PingDecoder ping = new PingDecoder();
  private final CommitDecoder commit = new CommitDecoder();
  private final RollbackDecoder rollback = new RollbackDecoder();
  private final ExecuteDecoder execute = new ExecuteDecoder();

  /// @param maxTransactions open at a time, 1..65536
  /// @param maxLeaseNanos longest lease that a client may ask for
  /// @param limits how much a session may start
  public SqlApplication(
      TransportEndpoint endpoint,
      Engine engine,
      TransactionRegistry registry,
      int maxTransactions,
      long maxLeaseNanos,
      RequestLimits limits) {
    this.endpoint = endpoint;
    this.limits = limits;
    this.slots = endpoint.config().mailbox().slots();
    this.maxStatements = endpoint.config().sessions().maxStatements();
    this.maxBatchBytes = endpoint.config().buffers().maxBatchBytes();
    this.transactions =
        new Transactions(
            engine,
            registry,
            endpoint::execute,
            maxTransactions,
            endpoint.config().sessions().lease().toNanos(),
            maxLeaseNanos);
    this.executions = new Executions(engine, transactions);
    this.cancellations = new Cancellations(transactions);
    this.twoPhase = new TwoPhaseCommits(engine, registry, transactions);
    engine.blockingExecutor(new LentPoller(endpoint));
    engine.clientSessions(new ClientSessions(endpoint));
  }

  @Override
  public void request(
      EndpointSession endpointSession,
      long requestId,
      @Nullable ResponseChannel channel,
      int templateId,
      DirectBuffer frame) {
    if (templateId == PingDecoder.TEMPLATE_ID) {
      ping(requestId, channel, frame);
      return;
    }
    SqlSession session = session(endpointSession);
    if (templateId == CancelDecoder.TEMPLATE_ID) {
      cancellations.cancel(session, requestId, channel, frame);
    } else if (templateId == CancelTransactionDecoder.TEMPLATE_ID) {
      cancellations.cancelTransaction(session, requestId, channel, frame);
    } else if (session.isBlocked()) {
      byte[] copy = new byte[frame.capacity()];
      frame.getBytes(0, copy);
      session.deferred().add(new SqlSession.Deferred(requestId, channel, templateId, copy));
    } else {
      run(session, requestId, channel, templateId, frame);
    }
  }

  private SqlSession session(EndpointSession endpointSession) {
    if (endpointSession.attachment() instanceof SqlSession session) {
      return session;
    }
    SqlSession session =
        new SqlSession(
            endpointSession, twoPhase.openSession(endpointSession), slots, limits.admission());
    endpointSession.attach(session);
    return session;
  }

  /// Runs one request; whatever fails here, except a malformed frame, is its answer.
  private void run(
      SqlSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      int templateId,
      DirectBuffer frame) {
    try {
      dispatch(session, requestId, channel, templateId, frame);
    } catch (MalformedFrameException | IndexOutOfBoundsException | IllegalArgumentException e) {
      throw e;
    } catch (RuntimeException | Error e) {
      Replies.failed(channel, requestId, null, ClientFailures.of(e));
    }
  }

  private void dispatch(
      SqlSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      int templateId,
      DirectBuffer frame) {
    switch (templateId) {
      case ExecuteDecoder.TEMPLATE_ID ->
          executeWithinLimits(session, requestId, required(channel), frame);
      case CommitDecoder.TEMPLATE_ID -> {
        Frames.wrap(commit, frame);
        transactions.commit(
            session, requestId, channel, commit.transactionHandle(), commit.response());
      }
      case RollbackDecoder.TEMPLATE_ID ->
          transactions.rollback(
              session, requestId, channel, Frames.wrap(rollback, frame).transactionHandle());
      case PrepareDecoder.TEMPLATE_ID -> prepare(session, requestId, channel, frame);
      case CloseStatementDecoder.TEMPLATE_ID -> {
        CloseStatementDecoder close = Frames.wrap(new CloseStatementDecoder(), frame);
        session.statement(statementId(close.statementId()), null);
        Replies.completed(channel, requestId, null, 0);
      }
      case BeginDecoder.TEMPLATE_ID -> begin(session, requestId, channel, frame);
      case BeginTransactionDecoder.TEMPLATE_ID ->
          beginTransaction(session, requestId, channel, frame);
      case PrepareTransactionDecoder.TEMPLATE_ID -> {
        PrepareTransactionDecoder prepare = Frames.wrap(new PrepareTransactionDecoder(), frame);
        transactions.prepare(
            session,
            requestId,
            channel,
            prepare.transactionHandle(),
            Frames.nextText(prepare, frame));
      }
      case CommitPreparedDecoder.TEMPLATE_ID -> {
        CommitPreparedDecoder second = Frames.wrap(new CommitPreparedDecoder(), frame);
        CommitResponse response = second.response();
        twoPhase.commit(session, requestId, channel, Frames.nextText(second, frame), response);
      }
      case RollbackPreparedDecoder.TEMPLATE_ID -> {
        RollbackPreparedDecoder second = Frames.wrap(new RollbackPreparedDecoder(), frame);
        twoPhase.rollback(session, requestId, channel, Frames.nextText(second, frame));
      }
      case SavepointDecoder.TEMPLATE_ID -> {
        SavepointDecoder savepoint = Frames.wrap(new SavepointDecoder(), frame);
        transactions.savepoint(
            session,
            requestId,
            channel,
            savepoint.transactionHandle(),
            (transaction, done) -> transaction.savepoint(level(savepoint.level()), done));
      }
      case ReleaseSavepointDecoder.TEMPLATE_ID -> {
        ReleaseSavepointDecoder release = Frames.wrap(new ReleaseSavepointDecoder(), frame);
        transactions.savepoint(
            session,
            requestId,
            channel,
            release.transactionHandle(),
            (transaction, done) -> transaction.releaseSavepoint(level(release.level()), done));
      }
      case RollbackToSavepointDecoder.TEMPLATE_ID -> {
        RollbackToSavepointDecoder back = Frames.wrap(new RollbackToSavepointDecoder(), frame);
        transactions.savepoint(
            session,
            requestId,
            channel,
            back.transactionHandle(),
            (transaction, done) -> transaction.rollbackToSavepoint(level(back.level()), done));
      }
      case QueryOutcomeDecoder.TEMPLATE_ID ->
          transactions.outcome(
              session,
              requestId,
              channel,
              Frames.wrap(new QueryOutcomeDecoder(), frame).transactionHandle());
      case AcquireBuffersDecoder.TEMPLATE_ID ->
          acquireBuffers(session, requestId, required(channel), frame);
      case ReleaseBuffersDecoder.TEMPLATE_ID -> {
        session.endpointSession().releaseInbound();
        Replies.completed(channel, requestId, null, 0);
      }
      case SetApplicationNameDecoder.TEMPLATE_ID -> {
        SetApplicationNameDecoder name = Frames.wrap(new SetApplicationNameDecoder(), frame);
        session.endpointSession().applicationName(Frames.nextText(name, frame));
        Replies.completed(channel, requestId, null, 0);
      }
      case SetRoleDecoder.TEMPLATE_ID -> {
        SetRoleDecoder role = Frames.wrap(new SetRoleDecoder(), frame);
        boolean monitors = role.monitors() == 1;
        session.viewer(
            Viewers.withRole(session.endpointSession(), Frames.nextText(role, frame), monitors));
        Replies.completed(channel, requestId, null, 0);
      }
      default -> throw new MalformedFrameException("message " + templateId + " is no request");
    }
  }

  private void executeWithinLimits(
      SqlSession session, long requestId, ResponseChannel channel, DirectBuffer frame) {
    Admission admission = session.admission();
    if (admission == null) {
      execute(session, requestId, channel, frame, null);
    } else if (admission.tryEnter()) {
      execute(session, requestId, channel, frame, admission::leave);
    } else {
      limits
          .scheduler()
          .job("request of " + session.endpointSession().userName() + " waits for its turn")
          .admission(admission)
          .submit(new Turn(session));
      byte[] copy = new byte[frame.capacity()];
      frame.getBytes(0, copy);
      session.limited(true);
      session
          .deferred()
          .addFirst(new SqlSession.Deferred(requestId, channel, ExecuteDecoder.TEMPLATE_ID, copy));
    }
  }

  /// @param whenEnded called once after the end of the statement, on any thread
  private void execute(
      SqlSession session,
      long requestId,
      ResponseChannel channel,
      DirectBuffer frame,
      @Nullable Runnable whenEnded) {
    boolean begun = false;
    try {
      begun =
          executions.execute(
              session, requestId, channel, Frames.wrap(execute, frame), frame, whenEnded);
    } finally {
      if (!begun && whenEnded != null) {
        whenEnded.run();
      }
    }
  }

  /// Stands in the scheduler for an execution that has to wait; its job keeps the permit until the execution has ended.
  private final class Turn implements Task {
    private final SqlSession session;

    Turn(SqlSession session) {
      this.session = session;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      Job.Hold permit = context.job().hold(Option.DIRECT);
      endpoint.execute(() -> admitted(session, permit::close));
      return null;
    }

    @Override
    public void discarded(Job job) {
      endpoint.execute(() -> admitted(session, () -> {})); // the engine refuses it: it shuts down
    }
  }

  /// The first deferred request may start, if it is still an execution: it may have been canceled meanwhile.
  private void admitted(SqlSession session, Runnable permit) {
    session.limited(false);
    SqlSession.Deferred first = session.deferred().peek();
    if (first == null || first.templateId() != ExecuteDecoder.TEMPLATE_ID || session.isClosed()) {
      permit.run();
    } else {
      session.deferred().remove();
      runDeferred(
          session,
          first,
          frame -> {
            try {
              execute(session, first.requestId(), required(first.channel()), frame, permit);
            } catch (MalformedFrameException
                | IndexOutOfBoundsException
                | IllegalArgumentException e) {
              throw e;
            } catch (RuntimeException | Error e) {
              Replies.failed(first.channel(), first.requestId(), null, ClientFailures.of(e));
            }
          });
    }
    runDeferred(session);
  }

  private static ResponseChannel required(@Nullable ResponseChannel channel) {
    if (channel == null) {
      throw new MalformedFrameException("request has to have a response slot");
    }
    return channel;
  }

  private static int level(long level) {
    if (level < 1 || level > Integer.MAX_VALUE) {
      throw new EngineException(
          ErrorCode.NO_SUCH_SAVEPOINT, "savepoint level " + level + " does not exist");
    }
    return (int) level;
  }

  private int statementId(long id) {
    if (id >= maxStatements) {
      throw new EngineException(
              ErrorCode.LIMIT_EXCEEDED,
              "statement " + id + " exceeds the " + maxStatements + " statements of a session")
          .withHint("Raise \"max_statements\" of the endpoint.");
    }
    return (int) id;
  }

  private void ping(long requestId, @Nullable ResponseChannel channel, DirectBuffer frame) {
    Frames.wrap(ping, frame);
    int length = Frames.nextLength(ping, frame);
    int offset = Frames.skipBytes(ping, length);
    Replies.pong(channel, requestId, frame, offset, length);
  }

  private void begin(
      SqlSession session, long requestId, @Nullable ResponseChannel channel, DirectBuffer frame) {
    BeginDecoder begin = Frames.wrap(new BeginDecoder(), frame);
    begin(
        session,
        requestId,
        channel,
        Transactions.options(begin.kind(), begin.isolation(), Frames.nextText(begin, frame)),
        begin.leaseNanos());
  }

  private void beginTransaction(
      SqlSession session, long requestId, @Nullable ResponseChannel channel, DirectBuffer frame) {
    BeginTransactionDecoder begin = Frames.wrap(new BeginTransactionDecoder(), frame);
    BeginOptions options = Transactions.options(begin, frame);
    begin(session, requestId, channel, options, begin.leaseNanos());
  }

  private void begin(
      SqlSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      BeginOptions options,
      long leaseNanos) {
    OpenTransaction transaction = transactions.begin(session, options, leaseNanos);
    Replies.completed(channel, requestId, transaction, 0);
  }

  private void prepare(
      SqlSession session, long requestId, @Nullable ResponseChannel channel, DirectBuffer frame) {
    PrepareDecoder prepare = Frames.wrap(new PrepareDecoder(), frame);
    int id = statementId(prepare.statementId());
    long inboundOffset = prepare.sqlOffset();
    long inboundBytes = prepare.sqlBytes();
    PrepareDecoder.ParameterTypesDecoder group = prepare.parameterTypes();
    int[] types = new int[group.count()];
    for (int i = 0; i < types.length; i++) {
      types[i] = (int) group.next().typeOid();
    }
    String sql = Frames.nextText(prepare, frame);
    // Frames of earlier versions, which are replayed, have them all inline.
    if (inboundBytes > 0 && inboundBytes != PrepareDecoder.sqlBytesNullValue()) {
      sql = Frames.text(session.endpointSession().inboundBytes(inboundOffset, inboundBytes));
    }
    session.prepares(requestId);
    long poller = Thread.currentThread().threadId();
    boolean[] returned = new boolean[1]; // poller only
    try {
      session.preparedBy(
          session
              .engineSession()
              .prepare(
                  sql,
                  types,
                  (statement, failure) -> {
                    if (Thread.currentThread().threadId() == poller && !returned[0]) {
                      prepared(session, requestId, channel, id, statement, failure);
                    } else {
                      endpoint.execute(() -> {
                        prepared(session, requestId, channel, id, statement, failure);
                        runDeferred(session);
                      });
                    }
                  }));
    } catch (RuntimeException | Error e) {
      session.prepared();
      throw e;
    } finally {
      returned[0] = true;
    }
  }

  private void prepared(
      SqlSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      int id,
      @Nullable Statement statement,
      @Nullable EngineException failure) {
    session.prepared();
    session.statement(id, new SqlSession.Prepared(statement, failure));
    if (failure != null) {
      Replies.failed(channel, requestId, null, ClientFailures.of(failure));
    } else {
      Replies.prepared(channel, requestId, id, Objects.requireNonNull(statement));
    }
    if (session.isClosed()) {
      session.engineSession().close();
    }
  }

  /// Runs what has waited, up to the next request that makes the others wait.
  private void runDeferred(SqlSession session) {
    while (!session.isBlocked()) {
      SqlSession.Deferred request = session.deferred().poll();
      if (request == null) {
        return;
      }
      if (session.isClosed()) {
        Replies.failed(
            request.channel(), request.requestId(), ErrorCode.QUERY_CANCELED, "client is gone");
        continue;
      }
      runDeferred(
          session,
          request,
          frame ->
              run(session, request.requestId(), request.channel(), request.templateId(), frame));
    }
  }

  private static void runDeferred(
      SqlSession session, SqlSession.Deferred request, Consumer<DirectBuffer> action) {
    try {
      action.accept(new UnsafeBuffer(request.frame()));
    } catch (MalformedFrameException | IndexOutOfBoundsException | IllegalArgumentException e) {
      String reason = String.valueOf(e.getMessage());
      Replies.failed(
          request.channel(),
          request.requestId(),
          null,
          Failure.of(ErrorCode.MALFORMED_MESSAGE, reason).asFatal());
      session.endpointSession().refuse(reason);
    }
  }

  private void acquireBuffers(
      SqlSession session, long requestId, ResponseChannel channel, DirectBuffer frame) {
    AcquireBuffersDecoder acquire = Frames.wrap(new AcquireBuffersDecoder(), frame);
    int count = acquire.count();
    long bufferBytes = acquire.bufferBytes();
    if (count == 0 || bufferBytes == 0 || bufferBytes > maxBatchBytes) {
      throw new EngineException(
          ErrorCode.LIMIT_EXCEEDED,
          "cannot grant "
              + count
              + " buffers of "
              + bufferBytes
              + " bytes, the longest has "
              + maxBatchBytes);
    }
    long[] offsets = session.endpointSession().grantInbound(count, (int) bufferBytes);
    if (offsets == null) {
      throw new EngineException(
              ErrorCode.OUT_OF_MEMORY,
              "could not grant " + count + " buffers of " + bufferBytes + " bytes")
          .withHint("Use fewer or shorter buffers, or raise \"session_buffers\" of the endpoint.");
    }
    Replies.granted(channel, requestId, (int) bufferBytes, offsets);
  }

  @Override
  public void sessionClosed(EndpointSession endpointSession) {
    if (!(endpointSession.attachment() instanceof SqlSession session)) {
      return;
    }
    session.closed();
    Cancellations.cancelAll(session);
    transactions.sessionClosed(session);
    if (!session.isPreparing()) {
      session.engineSession().close();
    }
  }

  @Override
  public long tick(long nowNanos) {
    return transactions.checkLeases(nowNanos);
  }

  /// Transactions with a handle that have not ended. Poller only, or after the end of the transport.
  @Override
  public int openTransactions() {
    return transactions.count();
  }
}
