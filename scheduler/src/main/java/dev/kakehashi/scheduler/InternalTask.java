package dev.kakehashi.scheduler;

import org.jspecify.annotations.Nullable;

/// The scheduler's own work in its own queues: queued without a job, neither counted as a task nor discarded.
interface InternalTask extends Task {
  /// Does the work; must not throw.
  void runInternal(Runner runner);

  @Override
  default @Nullable Task run(TaskContext context) {
    throw new AssertionError("an internal task has no context");
  }
}
