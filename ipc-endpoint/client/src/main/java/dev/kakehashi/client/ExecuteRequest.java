package dev.kakehashi.client;

import dev.kakehashi.protocol.messages.TransactionAction;
import java.time.Duration;

/// How a statement is executed.
///
/// @param handle with CONTINUE
/// @param options with BEGIN and AUTO_COMMIT
/// @param timeout zero: none
record ExecuteRequest(
    TransactionAction action, long handle, TransactionOptions options, Duration timeout) {
  static ExecuteRequest autoCommit(TransactionOptions options) {
    return new ExecuteRequest(TransactionAction.AUTO_COMMIT, 0, options, Duration.ZERO);
  }

  static ExecuteRequest inTransaction(long handle) {
    return new ExecuteRequest(
        TransactionAction.CONTINUE, handle, TransactionOptions.DEFAULT, Duration.ZERO);
  }
}
