package dev.kakehashi.scheduler;

import org.jspecify.annotations.Nullable;

/// A unit of work that runs on one thread to its end and never waits for anything.
///
/// The object itself is what queues hold: the scheduler allocates nothing per task. The same object may be
/// queued again after it has run. A task that has to wait returns [TaskContext#await(Condition, Task)].
@FunctionalInterface
public interface Task {
  /// Runs this task. Whatever it throws fails its job and cancels the job's other tasks.
  ///
  /// Everything that the spawning task wrote before the spawn is visible here.
  ///
  /// @return the successor, which runs next on the same thread without passing through a queue, or null
  @Nullable Task run(TaskContext context) throws Exception;

  /// Called instead of [#run] when the job was canceled or has failed before this task started, so that
  /// what the task owns can be freed. Runs at most once, on any thread; exceptions go to the uncaught handler.
  default void discarded(Job job) {}
}
