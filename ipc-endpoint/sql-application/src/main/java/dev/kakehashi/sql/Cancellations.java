package dev.kakehashi.sql;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.Frames;
import dev.kakehashi.protocol.MalformedFrameException;
import dev.kakehashi.protocol.messages.CancelDecoder;
import dev.kakehashi.protocol.messages.CancelTransactionDecoder;
import dev.kakehashi.protocol.messages.ExecuteDecoder;
import dev.kakehashi.protocol.messages.TransactionAction;
import dev.kakehashi.protocol.messages.TransactionState;
import dev.kakehashi.transport.endpoint.ResponseChannel;
import java.util.function.Predicate;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/// Cancels of requests, of transactions and of what clients that are gone have left. Poller only.
final class Cancellations {
  private final Transactions transactions;

  Cancellations(Transactions transactions) {
    this.transactions = transactions;
  }

  /// Cancels a request that runs, that prepares a statement, or that still waits for its statement.
  void cancel(
      SqlSession session, long requestId, @Nullable ResponseChannel channel, DirectBuffer frame) {
    long target = Frames.wrap(new CancelDecoder(), frame).targetRequestId();
    cancelRunning(session, running -> running.requestId() == target);
    session.cancelPreparation(target);
    cancelDeferred(session, deferred -> deferred.requestId() == target);
    Replies.completed(channel, requestId, null, 0);
  }

  private static void cancelRunning(SqlSession session, Predicate<StatementRequest> isCanceled) {
    for (int slot = 0; slot < session.running().length(); slot++) {
      StatementRequest running = session.running().get(slot);
      if (running != null && isCanceled.test(running)) {
        running.cancel();
      }
    }
  }

  private static void cancelDeferred(
      SqlSession session, Predicate<SqlSession.Deferred> isCanceled) {
    session
        .deferred()
        .removeIf(deferred -> {
          boolean canceled =
              deferred.templateId() == ExecuteDecoder.TEMPLATE_ID && isCanceled.test(deferred);
          if (canceled) {
            Replies.failed(
                deferred.channel(),
                deferred.requestId(),
                ErrorCode.QUERY_CANCELED,
                "canceling statement due to user request");
          }
          return canceled;
        });
  }

  /// Cancels what runs or waits in a transaction, in every session that uses it. Neither the lease nor the state of the transaction changes.
  void cancelTransaction(
      SqlSession session, long requestId, @Nullable ResponseChannel channel, DirectBuffer frame) {
    long handle = Frames.wrap(new CancelTransactionDecoder(), frame).transactionHandle();
    OpenTransaction transaction = transactions.findToCancel(session, handle);
    if (transaction == null) {
      Replies.completed(channel, requestId, TransactionState.UNKNOWN, handle, 0, 0);
      return;
    }
    for (SqlSession user : transaction.sessions()) {
      cancelRunning(user, running -> running.open() == transaction);
      // To its user the statement that a session prepares is the next of its transaction.
      if (user.shownTransaction() == transaction) {
        user.cancelPreparation();
      }
      cancelDeferred(user, deferred -> continues(user, deferred, transaction));
    }
    Replies.completed(channel, requestId, transaction, 0);
  }

  private static boolean continues(
      SqlSession session, SqlSession.Deferred deferred, OpenTransaction transaction) {
    ExecuteDecoder request = new ExecuteDecoder();
    try {
      Frames.wrap(request, new UnsafeBuffer(deferred.frame()));
    } catch (MalformedFrameException e) {
      return false; // its turn will come, and refuse it
    }
    return request.action() == TransactionAction.CONTINUE
        && Transactions.resolve(session, request.transactionHandle()) == transaction.handle();
  }

  /// Cancels what runs or is prepared in a session whose client is gone.
  static void cancelAll(SqlSession session) {
    cancelRunning(session, running -> true);
    session.cancelPreparation();
  }
}
