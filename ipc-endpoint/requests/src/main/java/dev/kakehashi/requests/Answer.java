package dev.kakehashi.requests;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.messages.TransactionState;
import org.jspecify.annotations.Nullable;

/// Where the answer of one request goes, as its interface writes it. Called exactly once, from any thread; must not block.
public interface Answer {
  /// Answer to a client that wants none.
  Answer NONE =
      new Answer() {
        @Override
        public void completed(
            TransactionState state,
            long handle,
            long leaseDeadlineNanos,
            long rows,
            boolean undurableReads) {}

        @Override
        public void failed(
            TransactionState state,
            long handle,
            long leaseDeadlineNanos,
            EngineException failure) {}
      };

  /// The request has succeeded.
  ///
  /// @param state of its transaction; NONE: it has none
  /// @param handle 0: none
  /// @param leaseDeadlineNanos by System.nanoTime(); 0: none
  /// @param rows changed or sent
  /// @param undurableReads whether the transaction has read what would not survive power loss yet
  void completed(
      TransactionState state,
      long handle,
      long leaseDeadlineNanos,
      long rows,
      boolean undurableReads);

  /// The request has failed; its transaction is as for [#completed].
  void failed(
      TransactionState state, long handle, long leaseDeadlineNanos, EngineException failure);

  /// Has succeeded, in a transaction or without one.
  default void completed(@Nullable OpenTransaction transaction, long rows) {
    if (transaction == null) {
      completed(TransactionState.NONE, 0, 0, rows, false);
    } else {
      completed(
          transaction.state(),
          transaction.handle(),
          transaction.leaseDeadlineNanos(),
          rows,
          transaction.engineTransaction().hasUndurableReads());
    }
  }

  /// Has failed, in a transaction or without one.
  default void failed(@Nullable OpenTransaction transaction, EngineException failure) {
    if (transaction == null) {
      failed(TransactionState.NONE, 0, 0, failure);
    } else {
      failed(transaction.state(), transaction.handle(), transaction.leaseDeadlineNanos(), failure);
    }
  }
}
