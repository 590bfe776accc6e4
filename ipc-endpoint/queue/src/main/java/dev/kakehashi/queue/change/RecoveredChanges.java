package dev.kakehashi.queue.change;

import dev.kakehashi.queue.order.ChangeOwner;
import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.record.QueueOp;
import dev.kakehashi.queue.record.TaskRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// Steps of a transaction that an earlier run prepared: it holds again what it held then. Guarded by the lock of the queue system, before
/// the start.
final class RecoveredChanges {
  private final QueueCenter center;
  private final ChangeOwner owner;
  private final QueueUses uses;

  RecoveredChanges(QueueCenter center, ChangeOwner owner, QueueUses uses) {
    this.center = center;
    this.owner = owner;
    this.uses = uses;
  }

  ChangeStep step(QueueOp op) {
    ChangeStep step = new ChangeStep(op);
    switch (op) {
      case QueueOp.Enqueue it -> enqueue(step, it);
      case QueueOp.OfTask it -> {
        if (it.ends()) {
          step.end(hold(it), owner);
        } else {
          step.held = hold(it);
        }
      }
      case QueueOp.Purge it -> {
        if (!it.deadOnly()) {
          step.sweep(center.queues.get(it.queueId()), -1, owner).written = it;
        }
      }
      case QueueOp.DropGroup it -> step.sweep(center.queues.get(it.queueId()), it.groupId(), owner);
      default -> {}
    }
    return step;
  }

  private void enqueue(ChangeStep step, QueueOp.Enqueue op) {
    QueueCore queue = center.queues.get(op.queueId);
    if (queue == null) {
      return;
    }
    uses.use(queue);
    TaskRecord task = new TaskRecord(ByteBuffer.wrap(op.record), 0);
    String key = task.uniqueKey();
    if (key != null && task.holdsUniqueKey()) {
      step.unique = queue.uniqueKeys.claim(key, task.taskId, task.uniqueUntilMillis(), owner);
    }
  }

  private List<TaskEntry> hold(QueueOp.OfTask op) {
    QueueCore queue = center.queues.get(op.queueId());
    if (queue == null) {
      return List.of();
    }
    List<TaskEntry> held = new ArrayList<>(1);
    for (GroupCore group : queue.groups) {
      if (op.groupId() < 0 || op.groupId() == group.groupId) {
        TaskEntry entry = group.entry(op.position());
        if (entry != null) {
          group.hold(entry, owner);
          held.add(entry);
        }
      }
    }
    return held;
  }
}
