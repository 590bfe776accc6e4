package dev.kakehashi.requests;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.Roles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.messages.TransactionState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Transactions with handles: begin, use, end, lease, outcome.
///
/// Poller only; callbacks of the engine come from any thread and hand what they have to change here to the poller.
public final class Transactions {
  private static final Logger LOG = LoggerFactory.getLogger(Transactions.class);
  private static final long MIN_TICK_NANOS = 10_000_000L;

  private final Engine engine;
  private final TransactionRegistry registry;
  private final EngineNeeds needs;
  private final Executor poller;
  private final TransactionTable table;
  private final long defaultLeaseNanos;
  private final long maxLeaseNanos;

  /// Read by the poller at each look, replaced by whoever changes settings.
  private volatile IdleLimits idleLimits = IdleLimits.NONE;

  /// Names of transactions that are being prepared, each with the decisions that have come meanwhile.
  private final Map<String, List<Runnable>> preparing = new HashMap<>();

  Transactions(Engine engine, TransactionRegistry registry, Executor poller, RequestLimits limits) {
    this.engine = engine;
    this.needs = new EngineNeeds(engine);
    this.registry = registry;
    this.poller = poller;
    this.table = new TransactionTable(limits.maxTransactions());
    this.defaultLeaseNanos = limits.leaseNanos();
    this.maxLeaseNanos = limits.maxLeaseNanos();
  }

  int count() {
    return table.count();
  }

  /// Any thread. The next look uses them, a second later at most.
  void idleLimits(IdleLimits limits) {
    idleLimits = limits;
  }

  /// @param leaseNanos 0: the default; longer than the longest is the longest
  /// @throws EngineException OUT_OF_SLOTS, ...
  public OpenTransaction begin(ClientRequests session, BeginOptions options, long leaseNanos) {
    long lease =
        leaseNanos == 0
            ? defaultLeaseNanos
            : leaseNanos < 0 ? maxLeaseNanos : Math.min(leaseNanos, maxLeaseNanos);
    needs.begin(options);
    long handle = table.reserve();
    long now = System.nanoTime();
    OpenTransaction transaction =
        new OpenTransaction(
            handle,
            engine.begin(options),
            session.owner(),
            !session.holdsTransactions(),
            lease,
            leaseNanos == 0 ? maxLeaseNanos : lease,
            now);
    transaction.engineTransaction().reference(handle);
    transaction.engineTransaction().owner(session.viewer());
    transaction.engineTransaction().activity(transaction);
    table.put(transaction);
    transaction.use(session, now);
    session.lastTransaction(handle);
    return transaction;
  }

  /// The open transaction that a request of `session` continues.
  ///
  /// @param handle 0: the one that the session began last
  /// @throws EngineException NO_SUCH_TRANSACTION, LEASE_EXPIRED, TRANSACTION_TERMINATED, IDLE_IN_TRANSACTION_TIMEOUT, TRANSACTION_ABORTED
  public OpenTransaction use(ClientRequests session, long handle) {
    return use(session, find(session, handle));
  }

  /// Lets a session that has shown the token of an open transaction of its user continue it: from then on the transaction is the session's
  /// last one.
  ///
  /// @throws EngineException NO_SUCH_TRANSACTION, LEASE_EXPIRED, TRANSACTION_ABORTED
  public OpenTransaction join(ClientRequests session, long handle) {
    OpenTransaction transaction = table.get(handle);
    boolean isOwn = transaction != null && transaction.owner().isSameUser(session.owner());
    OpenTransaction joined = use(session, isOwn ? transaction : null);
    session.lastTransaction(handle);
    return joined;
  }

  private OpenTransaction use(ClientRequests session, @Nullable OpenTransaction transaction) {
    EngineException termination = transaction == null ? null : transaction.termination();
    if (termination != null) {
      throw termination;
    }
    if (transaction == null || transaction.isEnding()) {
      throw noSuchTransaction();
    }
    EngineException failure = transaction.engineTransaction().failure();
    if (failure != null) {
      throw failure;
    }
    if (transaction.engineTransaction().state() == EngineTransaction.State.ABORTED) {
      throw new EngineException(
          ErrorCode.TRANSACTION_ABORTED,
          "current transaction is aborted, commands ignored until end of transaction block");
    }
    if (transaction.isOthersThan(session)) {
      needs.require(Capability.SHARED_TRANSACTIONS);
    }
    transaction.use(session, System.nanoTime());
    return transaction;
  }

  /// Nobody learns whether there is one that is not his.
  public static EngineException noSuchTransaction() {
    return new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "there is no such transaction")
        .withDetail("The transaction has ended, or belongs to another user.");
  }

  private static EngineException leaseExpired() {
    return new EngineException(
            ErrorCode.LEASE_EXPIRED, "transaction was rolled back because its lease expired")
        .withHint("Send requests more often, or ask for a longer lease.");
  }

  private static EngineException idleForTooLong(long timeoutNanos) {
    return new EngineException(
            ErrorCode.IDLE_IN_TRANSACTION_TIMEOUT,
            "transaction was rolled back due to idle-in-transaction timeout")
        .withDetail("The time-out was " + timeoutNanos / 1_000_000 + " ms.")
        .withHint(
            "End transactions sooner, or raise \"idle_in_transaction_timeout\" of the endpoint.");
  }

  /// Failure for the client of a transaction that an administrator has ended.
  private static EngineException terminated() {
    return new EngineException(
        ErrorCode.TRANSACTION_TERMINATED,
        "transaction was rolled back due to administrator command");
  }

  public static long resolve(ClientRequests session, long handle) {
    return handle == 0 ? session.lastTransaction() : handle;
  }

  private @Nullable OpenTransaction find(ClientRequests session, long handle) {
    OpenTransaction transaction = table.get(resolve(session, handle));
    // Another user's handle counts as none: nobody may learn that it exists.
    return transaction != null && transaction.admits(session) ? transaction : null;
  }

  /// The transaction whose statements `session` wants to cancel; null: there is none that runs, or it may not. The user that runs the
  /// endpoint may cancel all of them, and a role those that its rights allow (`pg_signal_backend`).
  @Nullable OpenTransaction findToCancel(ClientRequests session, long handle) {
    OpenTransaction transaction = table.get(handle);
    return transaction != null
            && !transaction.isEnding()
            && (transaction.admits(session)
                || session.client().mayCancelAll()
                || mayCancel(session, transaction))
        ? transaction
        : null;
  }

  /// Whether `session` may cancel what another client runs: its own user's, everybody's who runs the endpoint, and what a role's rights
  /// allow.
  boolean mayCancel(ClientRequests session, RequestClient other) {
    RequestClient client = session.client();
    Roles roles = engine.roles();
    return client.mayCancelAll()
        || (client.principal().equals(other.principal())
            && client.userName().equals(other.userName()))
        || (roles.areUsed() && roles.mayCancel(client.userName(), other.userName()));
  }

  private boolean mayCancel(ClientRequests session, OpenTransaction transaction) {
    Roles roles = engine.roles();
    return roles.areUsed()
        && roles.mayCancel(session.client().userName(), transaction.owner().userName());
  }

  public void commit(ClientRequests session, Answer answer, long handle, CommitResponse response) {
    OpenTransaction transaction = find(session, handle);
    // First: one that another has rolled back is aborted, too, as long as it is not forgotten.
    if (transaction != null && isEndedByAnother(transaction)) {
      transaction.whenForgotten(() -> answerSecondCommit(session, answer, transaction.handle()));
      return;
    }
    if (transaction != null
        && transaction.engineTransaction().state() == EngineTransaction.State.ABORTED
        && transaction.engineTransaction().failure() == null
        && !transaction.isTerminated()) {
      // As in SQL: a commit of an aborted transaction rolls it back, and says so.
      rollback(transaction, () -> answer.completed(transaction, 0));
      return;
    }
    TransactionState known = transaction == null ? outcome(session, handle) : null;
    if (known == TransactionState.COMMITTED || known == TransactionState.PREPARED) {
      // A second commit, or one of a transaction that a statement has prepared.
      answer.completed(known, resolve(session, handle), 0, 0, false);
      return;
    }
    OpenTransaction open;
    try {
      open = use(session, handle);
    } catch (EngineException e) {
      if (transaction != null && transaction.isTerminated()) {
        forget(transaction);
      } else if (transaction != null && transaction.engineTransaction().failure() != null) {
        rollback(transaction, () -> {}); // it is over, and its client has been told
      }
      throw e;
    }
    commit(
        open,
        response,
        failure -> {
          if (failure == null) {
            answer.completed(open, 0);
          } else {
            answer.failed(open, failure);
          }
        });
  }

  /// Whether its end has been asked for before, and is not known yet. A later request for an end has to wait for it: the state does not
  /// tell what it will be.
  private static boolean isEndedByAnother(OpenTransaction transaction) {
    return transaction.isEnding() && !transaction.isTerminated();
  }

  private void answerSecondCommit(ClientRequests session, Answer answer, long handle) {
    TransactionState known = outcome(session, handle);
    if (known == TransactionState.COMMITTED || known == TransactionState.PREPARED) {
      answer.completed(known, handle, 0, 0, false);
    } else {
      answer.failed(null, noSuchTransaction());
    }
  }

  /// Commits, records the outcome if there is one to ask for, and forgets the handle.
  ///
  /// @param done any thread
  void commit(
      OpenTransaction transaction,
      CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    transaction.beginEnd();
    EngineTransaction engineTransaction = transaction.engineTransaction();
    // Statements before this commit may still run and write: asked again at the end.
    boolean registered = engineTransaction.hasWrites() || transaction.isKnownToOthers();
    if (registered) {
      try {
        registry.committing(transaction.handle(), transaction.owner());
      } catch (RuntimeException | Error unrecorded) {
        // Nobody could learn how it ended: so it does not begin to.
        LOG.error("a commit cannot be recorded", unrecorded);
        rollback(
            transaction,
            () ->
                done.accept(
                    new EngineException(
                        ErrorCode.IO_ERROR, "could not record the commit: " + unrecorded)));
        return;
      }
    }
    engineTransaction.commit(
        response,
        failure -> {
          if (failure != null && failure.code() == ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN) {
            // The registry says so, too, until it is known.
            engine.whenAllDurable(() -> recordEnd(transaction, true));
          } else if (registered || engineTransaction.hasWrites()) {
            recordEnd(transaction, failure == null);
          }
          done.accept(failure);
          poller.execute(() -> forget(transaction));
        });
  }

  private void recordEnd(OpenTransaction transaction, boolean committed) {
    try {
      registry.ended(transaction.handle(), transaction.owner(), committed);
    } catch (RuntimeException | Error unrecorded) {
      // It has ended as it has, and the client waits for the answer.
      LOG.error(
          "the outcome of transaction {} cannot be recorded",
          Long.toUnsignedString(transaction.handle()),
          unrecorded);
    }
  }

  /// Commits a transaction that a request has just run in; the caller is on any thread.
  void commitFromCallback(
      OpenTransaction transaction,
      CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    poller.execute(() -> commit(transaction, response, done));
  }

  /// First phase of a two-phase commit. If it fails, the transaction is rolled back.
  public void prepare(ClientRequests session, Answer answer, long handle, String globalId) {
    OpenTransaction transaction = use(session, handle);
    needs.require(Capability.TWO_PHASE);
    transaction.beginEnd();
    List<Runnable> decisions = new ArrayList<>(0);
    boolean named = preparing.putIfAbsent(globalId, decisions) == null;
    session
        .engineSession()
        .prepare(
            transaction.engineTransaction(),
            globalId,
            failure -> {
              if (named) {
                poller.execute(() -> {
                  preparing.remove(globalId);
                  decisions.forEach(Runnable::run);
                });
              }
              if (failure == null) {
                answer.completed(transaction, 0);
              } else {
                answer.failed(transaction, failure);
                poller.execute(() -> forget(transaction));
              }
            });
  }

  /// Runs a decision on a prepared transaction. If its preparation has not ended, the decision runs after it: a client that gives the
  /// preparation up sends the decision right behind it.
  void whenPrepared(String globalId, Runnable decision) {
    List<Runnable> decisions = preparing.get(globalId);
    if (decisions == null) {
      decision.run();
    } else {
      decisions.add(decision);
    }
  }

  /// A transaction is prepared, by a message or by a statement: it is nobody's any more, has no lease, and is known to the registry. Any
  /// thread.
  void prepared(long handle) {
    poller.execute(() -> {
      OpenTransaction transaction = table.get(handle);
      if (transaction != null) {
        forget(transaction);
      }
    });
  }

  public void rollback(ClientRequests session, Answer answer, long handle) {
    OpenTransaction transaction = find(session, handle);
    if (transaction == null) {
      TransactionState known =
          resolve(session, handle) == 0 ? TransactionState.NONE : outcome(session, handle);
      answer.completed(known, resolve(session, handle), 0, 0, false);
      return;
    }
    if (isEndedByAnother(transaction)) {
      long ended = transaction.handle();
      transaction.whenForgotten(
          () -> answer.completed(outcome(session, ended), ended, 0, 0, false));
      return;
    }
    rollback(transaction, () -> answer.completed(transaction, 0));
  }

  private void rollback(OpenTransaction transaction, Runnable done) {
    transaction.beginEnd();
    transaction
        .engineTransaction()
        .rollback(() -> {
          done.run();
          poller.execute(() -> forget(transaction));
        });
  }

  private void forget(OpenTransaction transaction) {
    table.remove(transaction);
    transaction.forget();
  }

  /// Establishes a savepoint of the session's own count; see [SharedSavepoints].
  ///
  /// @param level 1 is the outermost
  public void savepoint(ClientRequests session, Answer answer, long handle, int level) {
    OpenTransaction transaction = use(session, handle);
    needs.require(Capability.SAVEPOINTS);
    transaction
        .engineTransaction()
        .savepoint(transaction.savepoints().set(session, level), ended(transaction, answer));
  }

  /// Merges a savepoint of the session and those above into what is below.
  public void releaseSavepoint(ClientRequests session, Answer answer, long handle, int level) {
    OpenTransaction transaction = use(session, handle);
    int released = transaction.savepoints().release(session, level);
    if (released == 0) {
      answer.completed(transaction, 0);
    } else {
      transaction.engineTransaction().releaseSavepoint(released, ended(transaction, answer));
    }
  }

  /// Undoes what was done since a savepoint of the session, which stays; those above go.
  public void rollbackToSavepoint(ClientRequests session, Answer answer, long handle, int level) {
    OpenTransaction transaction = use(session, handle);
    int target = transaction.savepoints().rollbackTo(session, level);
    transaction.engineTransaction().rollbackToSavepoint(target, ended(transaction, answer));
  }

  private static Consumer<@Nullable EngineException> ended(
      OpenTransaction transaction, Answer answer) {
    return failure -> {
      if (failure == null) {
        answer.completed(transaction, 0);
      } else {
        answer.failed(transaction, failure);
      }
    };
  }

  public void outcome(ClientRequests session, Answer answer, long handle) {
    OpenTransaction transaction = find(session, handle);
    if (transaction != null) {
      answer.completed(transaction, 0);
    } else {
      answer.completed(outcome(session, handle), handle, 0, 0, false);
    }
  }

  private TransactionState outcome(ClientRequests session, long handle) {
    long resolved = resolve(session, handle);
    return table.get(resolved) != null
        ? TransactionState.UNKNOWN // another user's
        : registry.state(resolved, session.owner(), table.newest());
  }

  /// Rolls back what no other session uses.
  void sessionClosed(ClientRequests session) {
    for (OpenTransaction transaction : List.copyOf(session.transactions())) {
      if (transaction.leave(session)) {
        if (transaction.beginEnd()) {
          rollback(transaction, () -> {});
        } else if (transaction.isTerminated()) {
          forget(transaction);
        }
      }
    }
    session.transactions().clear();
  }

  /// Rolls back a transaction of anybody, as far as `session` may: as with cancels. Its client is told with its next request. The answer's
  /// state is UNKNOWN if there is none, or `session` may not.
  public void terminate(ClientRequests session, Answer answer, long handle) {
    OpenTransaction transaction = findToCancel(session, handle);
    if (transaction == null) {
      answer.completed(TransactionState.UNKNOWN, handle, 0, 0, false);
      return;
    }
    LOG.info(
        "{} ends transaction {} of {}",
        session.client().userName(),
        Long.toUnsignedString(handle),
        transaction.owner().userName());
    terminate(
        transaction,
        terminated(),
        System.nanoTime(),
        () -> answer.completed(TransactionState.ABORTED, handle, 0, 0, false));
  }

  /// The user of an open transaction; null: there is none.
  @Nullable String userOf(long handle) {
    OpenTransaction transaction = table.get(handle);
    return transaction == null ? null : transaction.owner().userName();
  }

  /// The handle stays until the client has been told, or is gone, see [OpenTransaction#isToldLongAgo].
  private static void terminate(
      OpenTransaction transaction, EngineException reason, long nowNanos, Runnable done) {
    transaction.terminated(reason, nowNanos);
    transaction.engineTransaction().rollback(done);
    // A producer that waits for a reader does not look at its transaction.
    for (ClientRequests user : transaction.sessions()) {
      user.cancelRunning(running -> running.open() == transaction);
    }
  }

  /// Rolls back transactions whose lease is over, or that have been idle for too long.
  ///
  /// @return when to look again, in nanoseconds from now
  long checkLeases(long nowNanos) {
    long next = Long.MAX_VALUE;
    IdleLimits idle = idleLimits;
    for (OpenTransaction transaction : table.all()) {
      if (transaction.isEnding()) {
        if (transaction.isToldLongAgo(nowNanos)) {
          forget(transaction);
        }
        continue;
      }
      EngineException failure = transaction.engineTransaction().failure();
      if (failure != null && !transaction.isAtWork()) {
        // The engine ends it: its handle need not wait for its lease.
        terminate(transaction, failure, nowNanos, () -> {});
        continue;
      }
      long idleNanos = nowNanos - transaction.lookForIdleness(nowNanos);
      long idleTimeoutNanos = idle.of(transaction.owner().userName());
      if (transaction.checkLease(nowNanos)) {
        LOG.info("lease of transaction {} expired", Long.toUnsignedString(transaction.handle()));
        terminate(transaction, leaseExpired(), nowNanos, () -> {});
      } else if (idleTimeoutNanos != 0 && idleNanos >= idleTimeoutNanos) {
        LOG.info(
            "transaction {} of {} was idle for too long",
            Long.toUnsignedString(transaction.handle()),
            transaction.owner().userName());
        terminate(transaction, idleForTooLong(idleTimeoutNanos), nowNanos, () -> {});
      } else {
        next = Math.min(next, transaction.leaseDeadlineNanos() - nowNanos);
        if (idleTimeoutNanos != 0) {
          next = Math.min(next, idleTimeoutNanos - idleNanos);
        }
      }
    }
    return Math.max(MIN_TICK_NANOS, next);
  }

  /// Failure of a request in a transaction that the endpoint has perhaps ended meanwhile.
  static EngineException failure(OpenTransaction transaction, EngineException failure) {
    EngineException termination = transaction.termination();
    return termination == null ? failure : termination;
  }
}
