package dev.kakehashi.engine.api.error;

import dev.kakehashi.protocol.ErrorCode;

/// Failures that nobody expects, as errors: a client without an answer would wait for ever. Stateless.
public final class ThrownErrors {
  private ThrownErrors() {}

  /// The error for what a thread has thrown: 54000 if its stack was too short, 53200 if there was no memory, else XX000.
  public static EngineException of(Throwable thrown) {
    return switch (thrown) {
      case StackOverflowError e ->
          new EngineException(ErrorCode.LIMIT_EXCEEDED, "statement is nested too deeply", e)
              .withHint("Split the statement, or use fewer nested expressions.");
      case OutOfMemoryError e -> new EngineException(ErrorCode.OUT_OF_MEMORY, "out of memory", e);
      default -> new EngineException(ErrorCode.INTERNAL_ERROR, "internal error: " + thrown, thrown);
    };
  }
}
