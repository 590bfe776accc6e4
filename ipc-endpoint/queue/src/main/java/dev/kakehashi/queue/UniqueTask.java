package dev.kakehashi.queue;

import org.jspecify.annotations.Nullable;

/// Who has a unique key of a queue. Guarded by the lock of the queue system.
///
/// Its deadline: the end of the window, by the wall clock.
final class UniqueTask extends Deadline {
  final QueueCore queue;
  final String key;
  final long taskId;

  /// Of the task; -1: it has none yet, or was not looked for since the start.
  long position;

  /// Milliseconds since 1970; 0: as long as the task is open.
  final long untilMillis;

  /// The transaction that has not committed; null: it has.
  final @Nullable TransactionChanges owner;

  /// Who has the key if the owner rolls back; null: nobody.
  final @Nullable UniqueTask before;

  UniqueTask(QueueCore queue, String key, long taskId, long position, long untilMillis) {
    this(queue, key, taskId, position, untilMillis, null, null);
  }

  UniqueTask(
      QueueCore queue,
      String key,
      long taskId,
      long position,
      long untilMillis,
      @Nullable TransactionChanges owner,
      @Nullable UniqueTask before) {
    this.queue = queue;
    this.key = key;
    this.taskId = taskId;
    this.position = position;
    this.untilMillis = untilMillis;
    this.owner = owner;
    this.before = before;
  }

  @Override
  void reached() {
    queue.uniqueKeys.forget(this);
  }
}
