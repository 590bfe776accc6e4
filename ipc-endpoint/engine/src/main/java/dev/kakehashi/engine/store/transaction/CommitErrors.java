package dev.kakehashi.engine.store.transaction;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Errors of commits that the log could not take: each says whether the transaction is committed, rolled back or still prepared.
final class CommitErrors {
  private CommitErrors() {}

  /// It was refused before anybody saw it, and is rolled back.
  static Throwable notCommitted(Throwable refused) {
    return refused instanceof EngineException reason && reason.code() != ErrorCode.SHUTTING_DOWN
        ? describe(reason.code(), "could not commit", reason, "The transaction was rolled back.")
        : refused;
  }

  /// The decision on a prepared transaction was refused.
  static Throwable stillPrepared(Throwable refused) {
    return refused instanceof EngineException reason && reason.code() != ErrorCode.SHUTTING_DOWN
        ? describe(
            reason.code(),
            "could not end prepared transaction",
            reason,
            "The transaction stays prepared.")
        : refused;
  }

  /// Its changes do not fit into one record.
  static EngineException tooLarge() {
    return new EngineException(
        ErrorCode.LIMIT_EXCEEDED, "transaction has changed more than 2 GB of rows");
  }

  /// Wraps the callback that is told when a commit is durable, or that it is not.
  static Consumer<@Nullable Throwable> inDoubt(Consumer<@Nullable Throwable> done) {
    return failure -> done.accept(failure == null ? null : inDoubt(failure));
  }

  /// Others see the commit, and the log could not be written: it is tried again, and only the end of the process before that takes it back.
  private static EngineException inDoubt(Throwable failure) {
    return describe(
        ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
        "could not make commit durable",
        failure,
        "The transaction is committed and others see it, but it is lost if the endpoint ends before its log can be written.");
  }

  /// The same of the rollback of a prepared transaction.
  static EngineException rollbackInDoubt(Throwable failure) {
    return describe(
        ErrorCode.TRANSACTION_RESOLUTION_UNKNOWN,
        "could not make rollback durable",
        failure,
        "The transaction is rolled back, but it is found prepared again if the endpoint ends before its log can be written.");
  }

  private static EngineException describe(
      ErrorCode code, String what, Throwable reason, String detail) {
    boolean full = reason instanceof EngineException known && known.code() == ErrorCode.DISK_FULL;
    return new EngineException(code, what + ": " + reason.getMessage(), reason)
        .withDetail(detail)
        .withHint(
            full
                ? "Make room on the disk of the data directory."
                : "Look at the disk of the data directory and at the endpoint's log.");
  }
}
