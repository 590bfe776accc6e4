package dev.kakehashi.sql;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.EngineSession;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.protocol.messages.CommitResponse;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import dev.kakehashi.transport.os.Credentials;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Prepared transactions: who may decide on them, their second phase, and their outcome in the registry.
///
/// A prepared transaction belongs to an OS user, not to a session. Its owner is the uid in decimal; the endpoint's own OS user may decide on everybody's.
final class TwoPhaseCommits implements PreparedTransaction.Listener {
  private final Engine engine;
  private final TransactionRegistry registry;
  private final Transactions transactions;

  TwoPhaseCommits(Engine engine, TransactionRegistry registry, Transactions transactions) {
    this.engine = engine;
    this.registry = registry;
    this.transactions = transactions;
    registry.recover(engine.recoveredOutcomes());
    // The registry's last word may be older than the log's.
    engine.preparedTransactions().forEach(this::record);
    engine.preparedListener(this);
  }

  EngineSession openSession(EndpointSession session) {
    return engine.openSession(session.userName(), Viewers.principal(session));
  }

  void commit(
      SqlSession session,
      long requestId,
      @Nullable ResponseChannel channel,
      String globalId,
      CommitResponse response) {
    transactions.whenPrepared(
        globalId,
        () ->
            session
                .engineSession()
                .commitPrepared(
                    globalId,
                    Transactions.response(response),
                    answer(requestId, channel, TransactionState.COMMITTED)));
  }

  void rollback(
      SqlSession session, long requestId, @Nullable ResponseChannel channel, String globalId) {
    transactions.whenPrepared(
        globalId,
        () ->
            session
                .engineSession()
                .rollbackPrepared(globalId, answer(requestId, channel, TransactionState.ABORTED)));
  }

  private static Consumer<@Nullable EngineException> answer(
      long requestId, @Nullable ResponseChannel channel, TransactionState state) {
    return failure -> {
      if (failure == null) {
        Replies.completed(channel, requestId, state, 0, 0, 0);
      } else {
        Replies.failed(channel, requestId, null, ClientFailures.of(failure));
      }
    };
  }

  /// Any thread.
  @Override
  public void prepared(PreparedTransaction transaction) {
    if (transaction.reference() != 0) {
      record(transaction);
      transactions.prepared(transaction.reference());
    }
  }

  private void record(PreparedTransaction transaction) {
    if (transaction.reference() != 0) {
      registry.prepared(transaction.reference(), uid(transaction), transaction.id());
    }
  }

  /// Any thread.
  @Override
  public void ended(PreparedTransaction transaction, boolean committed) {
    if (transaction.reference() != 0) {
      registry.ended(transaction.reference(), uid(transaction), transaction.id(), committed);
    }
  }

  private static int uid(PreparedTransaction transaction) {
    return transaction.owner().isEmpty()
        ? Credentials.ownUid()
        : Integer.parseInt(transaction.owner());
  }
}
