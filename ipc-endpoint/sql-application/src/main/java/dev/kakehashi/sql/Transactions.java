package dev.kakehashi.sql;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.messages.BeginTransactionDecoder;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.IsolationLevel;
import dev.kakehashi.protocol.messages.TransactionKind;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import dev.kakehashi.transport.os.Credentials;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Transactions with handles: begin, use, end, lease, outcome.
///
/// Poller only; callbacks of the engine come from any thread and hand what they have to change here to the poller.
final class Transactions {
  private static final Logger LOG = LoggerFactory.getLogger(Transactions.class);
  private static final long MIN_TICK_NANOS = 10_000_000L;

  private final Engine engine;
  private final TransactionRegistry registry;
  private final Executor poller;
  private final TransactionTable table;
  private final long defaultLeaseNanos;
  private final long maxLeaseNanos;

  /// Names of transactions that are being prepared, each with the decisions that have come meanwhile.
  private final Map<String, List<Runnable>> preparing = new HashMap<>();

  Transactions(
      Engine engine,
      TransactionRegistry registry,
      Executor poller,
      int maxTransactions,
      long defaultLeaseNanos,
      long maxLeaseNanos) {
    this.engine = engine;
    this.registry = registry;
    this.poller = poller;
    this.table = new TransactionTable(maxTransactions);
    this.defaultLeaseNanos = defaultLeaseNanos;
    this.maxLeaseNanos = maxLeaseNanos;
  }

  static BeginOptions options(TransactionKind kind, IsolationLevel isolation, String label) {
    BeginOptions.Kind engineKind =
        switch (kind) {
          case OCC -> BeginOptions.Kind.OCC;
          case LTX -> BeginOptions.Kind.LTX;
          case RTX -> BeginOptions.Kind.RTX;
          case NULL_VAL -> throw new IllegalArgumentException("no kind of transaction");
        };
    BeginOptions.Isolation engineIsolation =
        switch (isolation) {
          case READ_COMMITTED -> BeginOptions.Isolation.READ_COMMITTED;
          case REPEATABLE_READ -> BeginOptions.Isolation.REPEATABLE_READ;
          case SERIALIZABLE -> BeginOptions.Isolation.SERIALIZABLE;
          case NULL_VAL -> throw new IllegalArgumentException("no isolation level");
        };
    return new BeginOptions(engineKind, engineIsolation, label);
  }

  /// Options of a transaction as its client has sent them.
  static BeginOptions options(BeginTransactionDecoder begin, DirectBuffer frame) {
    long timeoutNanos = begin.timeoutNanos();
    // Older clients do not say it: then it reads as the null value.
    boolean deferrable = begin.deferrable() == 1;
    BeginOptions kind = options(begin.kind(), begin.isolation(), Frames.nextText(begin, frame));
    return new BeginOptions(
        kind.kind(),
        kind.isolation(),
        kind.label(),
        begin.priority(),
        timeoutNanos < 0 ? Long.MAX_VALUE : timeoutNanos,
        new BeginOptions.Areas(
            Frames.nextText(begin, frame),
            Frames.nextText(begin, frame),
            Frames.nextText(begin, frame)),
        deferrable);
  }

  static EngineTransaction.CommitResponse response(CommitResponse response) {
    return switch (response) {
      case STORED -> EngineTransaction.CommitResponse.STORED;
      case AVAILABLE -> EngineTransaction.CommitResponse.AVAILABLE;
      case NULL_VAL -> throw new IllegalArgumentException("no kind of commit response");
    };
  }

  int count() {
    return table.count();
  }

  /// @param leaseNanos 0: the default; longer than the longest is the longest
  OpenTransaction begin(SqlSession session, BeginOptions options, long leaseNanos) {
    long lease =
        leaseNanos == 0
            ? defaultLeaseNanos
            : leaseNanos < 0 ? maxLeaseNanos : Math.min(leaseNanos, maxLeaseNanos);
    long handle = table.reserve();
    long now = System.nanoTime();
    OpenTransaction transaction =
        new OpenTransaction(
            handle,
            engine.begin(options),
            session.endpointSession().uid(),
            lease,
            leaseNanos == 0 ? maxLeaseNanos : lease,
            now);
    transaction.engineTransaction().reference(handle);
    transaction.engineTransaction().owner(session.viewer());
    table.put(transaction);
    transaction.use(session, now);
    session.lastTransaction(handle);
    return transaction;
  }

  /// The open transaction that a request of `session` continues.
  ///
  /// @param handle 0: the one that the session began last
  /// @throws EngineException NO_SUCH_TRANSACTION, LEASE_EXPIRED, TRANSACTION_ABORTED
  OpenTransaction use(SqlSession session, long handle) {
    OpenTransaction transaction = find(session, handle);
    if (transaction == null || (transaction.isEnding() && !transaction.isLeaseExpired())) {
      throw new EngineException(ErrorCode.NO_SUCH_TRANSACTION, "there is no such transaction")
          .withDetail("The transaction has ended, or belongs to another user.");
    }
    if (transaction.isLeaseExpired()) {
      throw leaseExpired();
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
    transaction.use(session, System.nanoTime());
    return transaction;
  }

  private static EngineException leaseExpired() {
    return new EngineException(
            ErrorCode.LEASE_EXPIRED, "transaction was rolled back because its lease expired")
        .withHint("Send requests more often, or ask for a longer lease.");
  }

  static long resolve(SqlSession session, long handle) {
    return handle == 0 ? session.lastTransaction() : handle;
  }

  private @Nullable OpenTransaction find(SqlSession session, long handle) {
    OpenTransaction transaction = table.get(resolve(session, handle));
    // Another user's handle is as good as none: it must not even be learnt that it exists.
    return transaction != null && transaction.uid() == session.endpointSession().uid()
        ? transaction
        : null;
  }

  /// The transaction whose statements `session` wants to cancel; null: there is none that runs, or it may not. Who runs the endpoint may cancel everybody's.
  @Nullable OpenTransaction findToCancel(SqlSession session, long handle) {
    OpenTransaction transaction = table.get(handle);
    int uid = session.endpointSession().uid();
    return transaction != null
            && !transaction.isEnding()
            && (transaction.uid() == uid || uid == Credentials.ownUid())
        ? transaction
        : null;
  }

  void commit(
      SqlSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      long handle,
      CommitResponse response) {
    OpenTransaction transaction = find(session, handle);
    if (transaction != null
        && transaction.engineTransaction().state() == EngineTransaction.State.ABORTED
        && transaction.engineTransaction().failure() == null
        && !transaction.isLeaseExpired()) {
      // As in SQL: a commit of an aborted transaction rolls it back, and says so.
      rollback(transaction, () -> Replies.completed(channel, requestId, transaction, 0));
      return;
    }
    TransactionState known = transaction == null ? outcome(session, handle) : null;
    if (known == TransactionState.COMMITTED || known == TransactionState.PREPARED) {
      // A second commit, or one of a transaction that a statement has prepared.
      Replies.completed(channel, requestId, known, resolve(session, handle), 0, 0);
      return;
    }
    OpenTransaction open;
    try {
      open = use(session, handle);
    } catch (EngineException e) {
      if (transaction != null && transaction.isLeaseExpired()) {
        forget(transaction);
      } else if (transaction != null && transaction.engineTransaction().failure() != null) {
        rollback(transaction, () -> {}); // it is over, and its client has been told
      }
      throw e;
    }
    commit(
        open,
        response(response),
        failure -> {
          if (failure == null) {
            Replies.completed(channel, requestId, open, 0);
          } else {
            Replies.failed(channel, requestId, open, ClientFailures.of(failure));
          }
        });
  }

  /// Commits, records the outcome if there is one to ask for, and forgets the handle.
  ///
  /// @param done any thread
  void commit(
      OpenTransaction transaction,
      EngineTransaction.CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    transaction.beginEnd();
    EngineTransaction engineTransaction = transaction.engineTransaction();
    // Statements before this commit may still run and write: asked again at the end.
    boolean registered = engineTransaction.hasWrites();
    if (registered) {
      try {
        registry.committing(transaction.handle(), transaction.uid(), engineTransaction.id());
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
      registry.ended(
          transaction.handle(), transaction.uid(), transaction.engineTransaction().id(), committed);
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
      EngineTransaction.CommitResponse response,
      Consumer<@Nullable EngineException> done) {
    poller.execute(() -> commit(transaction, response, done));
  }

  /// First phase of a two-phase commit. If it fails, the transaction is rolled back.
  void prepare(
      SqlSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      long handle,
      String globalId) {
    OpenTransaction transaction = use(session, handle);
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
                Replies.completed(channel, requestId, transaction, 0);
              } else {
                Replies.failed(channel, requestId, transaction, ClientFailures.of(failure));
                poller.execute(() -> forget(transaction));
              }
            });
  }

  /// Runs a decision on a prepared transaction, when it is prepared if it is on its way there: who gives the preparation up sends the decision right behind it.
  void whenPrepared(String globalId, Runnable decision) {
    List<Runnable> decisions = preparing.get(globalId);
    if (decisions == null) {
      decision.run();
    } else {
      decisions.add(decision);
    }
  }

  /// A transaction is prepared, by a message or by a statement: it is nobody's any more, has no lease, and is known to the registry. Any thread.
  void prepared(long handle) {
    poller.execute(() -> {
      OpenTransaction transaction = table.get(handle);
      if (transaction != null) {
        forget(transaction);
      }
    });
  }

  void rollback(
      SqlSession session, long requestId, @Nullable ResponseChannel channel, long handle) {
    OpenTransaction transaction = find(session, handle);
    if (transaction == null) {
      TransactionState known =
          resolve(session, handle) == 0 ? TransactionState.NONE : outcome(session, handle);
      Replies.completed(channel, requestId, known, resolve(session, handle), 0, 0);
      return;
    }
    rollback(transaction, () -> Replies.completed(channel, requestId, transaction, 0));
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
    transaction.forget();
    table.remove(transaction);
  }

  void savepoint(
      SqlSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      long handle,
      BiConsumer<EngineTransaction, Consumer<@Nullable EngineException>> action) {
    OpenTransaction transaction = use(session, handle);
    action.accept(
        transaction.engineTransaction(),
        failure -> {
          if (failure == null) {
            Replies.completed(channel, requestId, transaction, 0);
          } else {
            Replies.failed(channel, requestId, transaction, ClientFailures.of(failure));
          }
        });
  }

  void outcome(SqlSession session, long requestId, @Nullable ResponseChannel channel, long handle) {
    OpenTransaction transaction = find(session, handle);
    if (transaction != null) {
      Replies.completed(channel, requestId, transaction, 0);
    } else {
      Replies.completed(channel, requestId, outcome(session, handle), handle, 0, 0);
    }
  }

  private TransactionState outcome(SqlSession session, long handle) {
    long resolved = resolve(session, handle);
    return table.get(resolved) != null
        ? TransactionState.UNKNOWN // another user's
        : registry.state(resolved, session.endpointSession().uid(), table.newest());
  }

  /// Rolls back what no other session uses.
  void sessionClosed(SqlSession session) {
    for (OpenTransaction transaction : List.copyOf(session.transactions())) {
      if (transaction.leave(session)) {
        if (transaction.beginEnd()) {
          rollback(transaction, () -> {});
        } else if (transaction.isLeaseExpired()) {
          forget(transaction);
        }
      }
    }
    session.transactions().clear();
  }

  /// Rolls back transactions whose lease is over. Their handles stay until the client has been told, or is gone.
  ///
  /// @return when to look again, in nanoseconds from now
  long checkLeases(long nowNanos) {
    long next = Long.MAX_VALUE;
    for (OpenTransaction transaction : table.all()) {
      if (transaction.isEnding()) {
        continue;
      }
      if (transaction.checkLease(nowNanos)) {
        LOG.info("lease of transaction {} expired", Long.toUnsignedString(transaction.handle()));
        transaction.beginEnd();
        transaction.engineTransaction().rollback(() -> {});
      } else {
        next = Math.min(next, transaction.leaseDeadlineNanos() - nowNanos);
      }
    }
    return Math.max(MIN_TICK_NANOS, next);
  }

  /// Failure of a request in a transaction whose lease expired meanwhile.
  static Failure failure(@Nullable OpenTransaction transaction, EngineException failure) {
    return transaction != null && transaction.isLeaseExpired()
        ? ClientFailures.of(leaseExpired())
        : ClientFailures.of(failure);
  }
}
