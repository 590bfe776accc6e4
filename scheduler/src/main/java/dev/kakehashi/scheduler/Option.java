package dev.kakehashi.scheduler;

/// Where a submission goes.
public enum Option {
  /// The inbox of the submitting thread, served in order of arrival by any worker.
  DEFAULT,
  /// As [#DEFAULT], and a sleeping worker is woken even if another one is already looking for work.
  IMMEDIATE,
  /// The newest end of the submitting worker's deque; as [#DEFAULT] on other threads.
  LOCAL,
  /// The old end of the submitting worker's deque, behind all it has; as [#DEFAULT] on other threads.
  YIELDING,
  /// Serially on the submitting thread, with the tasks it spawns, if the job's lane is free; otherwise, and on
  /// threads that already run a task, as [#DEFAULT].
  CALLER,
  /// For [Job#hold(Option)]: the thread that releases the hold may run the teardown.
  DIRECT
}
