package dev.kakehashi.scheduler;

import org.jspecify.annotations.Nullable;

/// A unit of work that never waits.
@FunctionalInterface
public interface Task {
  /// Runs to its end on one worker; returns the successor to run on the same worker, or null.
  @Nullable Task run(TaskContext context) throws Exception;
}
