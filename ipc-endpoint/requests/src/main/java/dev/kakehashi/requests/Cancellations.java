package dev.kakehashi.requests;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.messages.TransactionState;
import java.util.function.Predicate;

/// Cancels of requests, of transactions and of what clients that are gone have left. Poller only.
public final class Cancellations {
  private final Transactions transactions;
  private final ClientSessions clients;

  Cancellations(Transactions transactions, ClientSessions clients) {
    this.transactions = transactions;
    this.clients = clients;
  }

  /// Cancels a request that runs, that prepares a statement, or that still waits for its statement.
  public void cancel(ClientRequests session, Answer answer, long target) {
    session.cancelRunning(running -> running.requestId() == target);
    session.cancelPreparation(target);
    cancelDeferred(session, deferred -> deferred.requestId() == target);
    answer.completed(null, 0);
  }

  private static void cancelDeferred(
      ClientRequests session, Predicate<DeferredRequest> isCanceled) {
    session
        .deferred()
        .removeIf(deferred -> {
          boolean canceled = deferred.isExecution() && isCanceled.test(deferred);
          if (canceled) {
            deferred.refuse(
                new EngineException(
                    ErrorCode.QUERY_CANCELED, "canceling statement due to user request"));
          }
          return canceled;
        });
  }

  /// Cancels what runs or waits in a transaction, in every session that uses it. Neither the lease nor the state of the transaction
  /// changes.
  public void cancelTransaction(ClientRequests session, Answer answer, long handle) {
    OpenTransaction transaction = transactions.findToCancel(session, handle);
    if (transaction == null) {
      answer.completed(TransactionState.UNKNOWN, handle, 0, 0, false);
      return;
    }
    for (ClientRequests user : transaction.sessions()) {
      user.cancelRunning(running -> running.open() == transaction);
      // To its user the statement that a session prepares is the next of its transaction.
      if (user.shownTransaction() == transaction) {
        user.cancelPreparation();
      }
      cancelDeferred(user, deferred -> deferred.continues(transaction.handle()));
    }
    answer.completed(transaction, 0);
  }

  /// Cancels what runs, is prepared or waits in a session, also what commits by itself. The answer's state is UNKNOWN if there is no such
  /// session, or `session` may not.
  ///
  /// @param id as the table of sessions shows it
  public void cancelSession(ClientRequests session, Answer answer, long id) {
    ClientRequests target = clients.find(id);
    if (target == null || !transactions.mayCancel(session, target.client())) {
      answer.completed(TransactionState.UNKNOWN, 0, 0, 0, false);
      return;
    }
    cancelAll(target);
    cancelDeferred(target, deferred -> true);
    answer.completed(null, 0);
  }

  /// Cancels what runs or is prepared in a session whose client is gone.
  static void cancelAll(ClientRequests session) {
    session.cancelRunning(running -> true);
    session.cancelPreparation();
  }
}
