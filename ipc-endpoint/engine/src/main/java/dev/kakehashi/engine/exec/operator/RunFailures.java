package dev.kakehashi.engine.exec.operator;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.error.ThrownErrors;
import dev.kakehashi.engine.store.api.RowConflict;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.SchedulerStoppedException;

/// Errors that tell a statement's client how it ended.
public final class RunFailures {
  private RunFailures() {}

  /// Error of a statement that the scheduler has given up.
  public static EngineException canceled() {
    return new EngineException(
        ErrorCode.QUERY_CANCELED, "canceling statement because the engine gave it up");
  }

  /// The error for whatever a task has thrown, any [Throwable]. A client without an answer would wait for ever, and so would its
  /// transaction.
  public static EngineException report(Throwable thrown) {
    return switch (thrown) {
      case EngineException e -> e;
      case RowConflict e ->
          new EngineException(
              ErrorCode.SERIALIZATION_FAILURE,
              "could not serialize access due to concurrent update");
      case SchedulerStoppedException e ->
          new EngineException(
              ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down", e);
      default -> ThrownErrors.of(thrown);
    };
  }
}
