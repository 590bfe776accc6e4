package dev.kakehashi.requests;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.EngineTransaction.CommitResponse;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.messages.TransactionState;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Prepared transactions: who may decide on them, their second phase, and their outcome in the registry.
///
/// A prepared transaction belongs to a principal ([RequestClient#principal()]), not to a session; the one without a name may decide on
/// everybody's. Its outcome is its user's.
public final class TwoPhaseCommits implements PreparedTransaction.Listener {
  private final TransactionRegistry registry;
  private final Transactions transactions;
  private final EngineNeeds needs;

  TwoPhaseCommits(Engine engine, TransactionRegistry registry, Transactions transactions) {
    this.registry = registry;
    this.transactions = transactions;
    this.needs = new EngineNeeds(engine);
    if (engine.followedLog() == null) {
      registry.recover(engine.recoveredOutcomes());
      // The registry's last word may be older than the log's.
      engine.preparedTransactions().forEach(this::record);
    } else {
      // The primary decides, and what is noted here would stay as it is.
      registry.followsOther();
    }
    engine.preparedListener(this);
  }

  public void commit(
      ClientRequests session, Answer answer, String globalId, CommitResponse response) {
    needs.require(Capability.TWO_PHASE);
    transactions.whenPrepared(
        globalId,
        () ->
            session
                .engineSession()
                .commitPrepared(globalId, response, decided(answer, TransactionState.COMMITTED)));
  }

  public void rollback(ClientRequests session, Answer answer, String globalId) {
    needs.require(Capability.TWO_PHASE);
    transactions.whenPrepared(
        globalId,
        () ->
            session
                .engineSession()
                .rollbackPrepared(globalId, decided(answer, TransactionState.ABORTED)));
  }

  private static Consumer<@Nullable EngineException> decided(
      Answer answer, TransactionState state) {
    return failure -> {
      if (failure == null) {
        answer.completed(state, 0, 0, 0, false);
      } else {
        answer.failed(null, failure);
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
      registry.prepared(transaction.reference(), owner(transaction));
    }
  }

  /// Any thread.
  @Override
  public void ended(PreparedTransaction transaction, boolean committed) {
    if (transaction.reference() != 0) {
      registry.ended(transaction.reference(), owner(transaction), committed);
    }
  }

  private static TransactionOwner owner(PreparedTransaction transaction) {
    return TransactionOwner.of(transaction.userName(), RequestClient.NO_UID);
  }
}
