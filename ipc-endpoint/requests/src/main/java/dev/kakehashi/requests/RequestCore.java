package dev.kakehashi.requests;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.scheduler.Admission;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Option;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Handles the requests of all interfaces: their sessions, transactions, executions and cancels, one of each for all.
///
/// Poller only, unless said otherwise. Interfaces bring the requests of a session in their order. While one of its statements is being
/// prepared, or an execution waits for its admission, what follows waits in that order ([ClientRequests#isBlocked()]); cancels overtake.
/// Statements and ends of one transaction keep the order of the calls in the engine, whatever session and interface they came through.
public final class RequestCore {
  private final Engine engine;
  private final EngineNeeds needs;
  private final RequestPoller poller;
  private final RequestLimits limits;
  private final TransactionTokens tokens;
  private final ClientSessions clients = new ClientSessions();
  private final Transactions transactions;
  private final Executions executions;
  private final Cancellations cancellations;
  private final TwoPhaseCommits twoPhase;

  /// @param poller not used before this returns
  public RequestCore(
      Engine engine,
      TransactionRegistry registry,
      TransactionTokens tokens,
      RequestPoller poller,
      RequestLimits limits) {
    this.engine = engine;
    this.needs = new EngineNeeds(engine);
    this.tokens = tokens;
    this.poller = poller;
    this.limits = limits;
    this.transactions = new Transactions(engine, registry, poller, limits);
    this.executions = new Executions(engine, transactions);
    this.cancellations = new Cancellations(transactions, clients);
    this.twoPhase = new TwoPhaseCommits(engine, registry, transactions);
    engine.blockingExecutor(poller);
    engine.clientSessions(clients);
  }

  /// Any thread.
  public Transactions transactions() {
    return transactions;
  }

  /// Any thread.
  public Executions executions() {
    return executions;
  }

  /// Any thread.
  public Cancellations cancellations() {
    return cancellations;
  }

  /// Any thread.
  public TwoPhaseCommits twoPhase() {
    return twoPhase;
  }

  /// Bounds how long transactions may be idle, from the next second on. Any thread.
  public void idleLimits(IdleLimits idle) {
    transactions.idleLimits(idle);
  }

  /// Rolls back a transaction that its token names, whoever's it is, as far as `session` may, see [Transactions#terminate].
  void terminate(ClientRequests session, Answer answer, String token) {
    OptionalLong handle = tokens.handle(token, transactions::userOf);
    if (handle.isEmpty()) {
      answer.completed(TransactionState.UNKNOWN, 0, 0, 0, false);
    } else {
      transactions.terminate(session, answer, handle.getAsLong());
    }
  }

  /// Adds an interface to the table of sessions. Any thread.
  public void addClients(ClientSource source) {
    clients.add(source);
  }

  /// The requests of a client that has attached.
  ///
  /// @param holdsTransactions whether transactions that it begins end with it, unless another such session uses them; else they live by
  ///     their lease alone
  public ClientRequests open(RequestClient client, boolean holdsTransactions) {
    return new ClientRequests(
        client,
        holdsTransactions,
        engine.openSession(client.userName(), client.principal()),
        limits.admission());
  }

  /// The client is gone: what runs for it is canceled, and what lives by it is rolled back.
  public void close(ClientRequests session) {
    session.closed();
    Cancellations.cancelAll(session);
    transactions.sessionClosed(session);
    if (!session.isPreparing()) {
      session.engineSession().close();
    }
  }

  /// Prepares a statement; what the session sends meanwhile waits.
  ///
  /// @param done called once on the poller, unless this throws
  public void prepare(
      ClientRequests session,
      long requestId,
      String sql,
      int[] parameterTypeOids,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done) {
    needs.statement(sql);
    session.prepares(requestId, sql);
    Thread caller = Thread.currentThread();
    boolean[] returned = new boolean[1]; // this thread's
    try {
      session.preparedBy(
          session
              .engineSession()
              .prepare(
                  sql,
                  parameterTypeOids,
                  (statement, failure) -> {
                    if (Thread.currentThread().equals(caller) && !returned[0]) {
                      prepared(session, done, statement, failure);
                    } else {
                      poller.execute(() -> {
                        prepared(session, done, statement, failure);
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

  private static void prepared(
      ClientRequests session,
      BiConsumer<@Nullable Statement, @Nullable EngineException> done,
      @Nullable Statement statement,
      @Nullable EngineException failure) {
    session.prepared();
    done.accept(statement, failure);
    if (session.isClosed()) {
      session.engineSession().close();
    }
  }

  /// Lets an execution wait for its admission; the session's other requests wait behind it.
  ///
  /// @param admission of the session, which has refused it
  public void awaitAdmission(
      ClientRequests session, Admission admission, DeferredRequest execution) {
    limits
        .scheduler()
        .job("request of " + session.client().userName() + " waits for its turn")
        .admission(admission)
        .submit(new Turn(session));
    session.limited(true);
    session.deferred().addFirst(execution);
  }

  /// Stands in the scheduler for an execution that has to wait; its job keeps the permit until the execution has ended.
  private final class Turn implements Task {
    private final ClientRequests session;

    Turn(ClientRequests session) {
      this.session = session;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      Job.Hold permit = context.job().hold(Option.DIRECT);
      poller.execute(() -> admitted(session, permit::close));
      return null;
    }

    @Override
    public void discarded(Job job) {
      poller.execute(() -> admitted(session, () -> {})); // the engine refuses it: it shuts down
    }
  }

  /// The first deferred request may start, if it is still an execution: it may have been canceled meanwhile.
  private static void admitted(ClientRequests session, Runnable permit) {
    session.limited(false);
    DeferredRequest first = session.deferred().peek();
    if (first == null || !first.isExecution() || session.isClosed()) {
      permit.run();
    } else {
      session.deferred().remove();
      first.run(permit);
    }
    runDeferred(session);
  }

  /// Runs what has waited, up to the next request that makes the others wait.
  private static void runDeferred(ClientRequests session) {
    while (!session.isBlocked()) {
      DeferredRequest request = session.deferred().poll();
      if (request == null) {
        return;
      }
      if (session.isClosed()) {
        request.refuse(new EngineException(ErrorCode.QUERY_CANCELED, "client is gone"));
      } else {
        request.run(null);
      }
    }
  }

  /// The name of a transaction outside of the process. Any thread.
  public String token(ClientRequests session, OpenTransaction transaction) {
    transaction.named();
    return tokens.token(session.client().userName(), transaction.handle());
  }

  /// Lets a session continue the open transaction of its user that a token names.
  ///
  /// @throws EngineException NO_SUCH_TRANSACTION, LEASE_EXPIRED, TRANSACTION_ABORTED
  public OpenTransaction join(ClientRequests session, String token) {
    OptionalLong handle = tokens.handle(session.client().userName(), token);
    if (handle.isEmpty()) {
      throw Transactions.noSuchTransaction();
    }
    return transactions.join(session, handle.getAsLong());
  }

  /// Looks after leases.
  ///
  /// @return when to call again at the latest, in nanoseconds from now
  public long tick(long nowNanos) {
    return transactions.checkLeases(nowNanos);
  }

  /// Transactions with a handle that have not ended. Poller only, or after its end.
  public int openTransactions() {
    return transactions.count();
  }
}
