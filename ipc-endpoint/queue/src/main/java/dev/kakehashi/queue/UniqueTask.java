package dev.kakehashi.queue;

import org.jspecify.annotations.Nullable;

/// Who has a unique key of a queue. Guarded by the lock of the queue system.
///
/// Its deadline: the end of the window, by the wall clock.
final class UniqueTask extends Deadline {
  final QueueCore queue;
  final String key;
  final long taskId;

  /// Milliseconds since 1970; 0: as long as the task is open.
  final long untilMillis;

  /// The transaction that has not committed; null: it has.
  @Nullable TransactionChanges owner;

  UniqueTask(
      QueueCore queue,
      String key,
      long taskId,
      long untilMillis,
      @Nullable TransactionChanges owner) {
    this.queue = queue;
    this.key = key;
    this.taskId = taskId;
    this.untilMillis = untilMillis;
    this.owner = owner;
  }

  @Override
  void reached() {
    queue.forget(this);
  }
}
