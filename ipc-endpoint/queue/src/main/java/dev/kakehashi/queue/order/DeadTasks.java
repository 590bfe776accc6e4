package dev.kakehashi.queue.order;

import dev.kakehashi.queue.record.QueueOp;
import java.util.List;

/// Tasks that are dead: where they go. Guarded by the lock of the queue system.
public final class DeadTasks {
  private DeadTasks() {}

  /// Changes by which a task is dead: it goes to the queue for dead letters, or stays where it is.
  public static List<QueueOp> death(QueueCenter center, TaskEntry entry, String error) {
    QueueCore queue = entry.group.queue;
    long to = queue.options().retry().deadLetter();
    QueueCore target = to == 0 || to == queue.queueId ? null : center.queues.get(to);
    if (target == null || target.dropped) {
      return List.of(new QueueOp.Dead(queue.queueId, entry.group.groupId, entry.position, error));
    }
    return List.of(
        new QueueOp.Gone(queue.queueId, entry.group.groupId, entry.position, true),
        new QueueOp.Enqueue(to, queue.read(entry.position).copy(error, 0, false)));
  }
}
