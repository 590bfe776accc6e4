package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.protocol.ErrorCode;

/// Errors for the client of a transaction that loses a conflict about a row.
final class ConflictFailures {
  private ConflictFailures() {}

  /// Failure of a transaction that has to give way to a long one.
  static EngineException givesWay(TransactionEnvironment environment, RowConflict conflict) {
    return environment.describe(
        new EngineException(
                ErrorCode.SERIALIZATION_FAILURE,
                "could not serialize access due to a long transaction",
                conflict)
            .withHint("The transaction might succeed if retried after the end of the other."),
        conflict);
  }

  /// Failure of a serializable transaction whose reads another one has changed since.
  static EngineException readChanged(TransactionEnvironment environment, RowConflict conflict) {
    return environment.describe(
        new EngineException(
                ErrorCode.SERIALIZATION_FAILURE,
                "could not serialize access due to read/write dependencies among transactions",
                conflict)
            .withHint("The transaction might succeed if retried."),
        conflict);
  }

  /// Failure of a transaction that keeps its first snapshot, when another one has changed the row since.
  static EngineException updated(TransactionEnvironment environment, RowConflict conflict) {
    return environment.describe(
        new EngineException(
                ErrorCode.SERIALIZATION_FAILURE,
                "could not serialize access due to concurrent update")
            .withHint("The transaction might succeed if retried."),
        conflict);
  }
}
