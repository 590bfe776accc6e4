package dev.kakehashi.queue.order;

import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;

/// Consumers of one group, as its order sees them. Guarded by the lock of the queue system.
public interface GroupDelivery {
  /// Whether any consumer waits for tasks.
  boolean areWaiting();

  /// Serves as many waiting consumers as there are tasks.
  void match();

  /// Promises a task that is not durable to a consumer that waits. Its claim follows it in the log, so one flush makes both durable.
  ///
  /// @return false: it is handed out when it is durable, as all others are
  boolean promise(QueueOp.Enqueue enqueue);

  /// A task is durable; if it was promised it is lent, until its claim is durable, too.
  ///
  /// @return false: it was not promised, and goes into the order
  boolean keepPromise(TaskRecord record, long position);

  /// A segment is full of tasks that are this group's, too.
  void warnIfUnread();

  /// The group is gone: its calls end with nothing.
  void end();
}
