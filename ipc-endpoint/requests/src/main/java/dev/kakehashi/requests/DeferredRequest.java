package dev.kakehashi.requests;

import dev.kakehashi.engine.api.error.EngineException;
import org.jspecify.annotations.Nullable;

/// A request that waits for its turn within its session. Poller only.
public interface DeferredRequest {
  long requestId();

  /// Whether it executes a statement: an execution may be canceled before it begins.
  boolean isExecution();

  /// Whether it executes a statement in that transaction. Throws nothing.
  boolean continues(long handle);

  /// Runs it. Whatever is wrong with it is its answer: throws nothing.
  ///
  /// @param permit of its admission, to be run once when it has ended, on any thread; null: it needs none, or has to ask for it
  void run(@Nullable Runnable permit);

  /// Answers that it will not run.
  void refuse(EngineException failure);
}
