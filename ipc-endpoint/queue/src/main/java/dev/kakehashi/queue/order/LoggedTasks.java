package dev.kakehashi.queue.order;

import dev.kakehashi.queue.order.TaskEntry.Phase;
import dev.kakehashi.queue.record.GroupTasks;
import dev.kakehashi.queue.record.QueueOp;
import java.util.List;

/// Applies the changes of the log to the tasks of one group, in replay and while the queue runs. Guarded by the lock of the queue system.
final class LoggedTasks implements GroupTasks {
  private final GroupCore group;

  LoggedTasks(GroupCore group) {
    this.group = group;
  }

  @Override
  public void claimed(long position, int attempts) {
    TaskEntry entry = group.entry(position);
    if (entry == null) {
      return;
    }
    entry.loggedAttempts = attempts;
    if (!group.center.isStarted()) {
      entry.attempts = attempts;
      entry.lent = true;
      group.leave(entry);
      entry.phase = Phase.READY;
    }
  }

  @Override
  public void done(long position) {
    TaskEntry entry = group.entry(position);
    if (entry != null) {
      group.done++;
      group.finish(entry);
    }
  }

  @Override
  public void gone(long position, boolean isDeadLetter) {
    TaskEntry entry = group.entry(position);
    if (entry != null) {
      group.canceled++;
      group.deadLetters += isDeadLetter ? 1 : 0;
      group.finish(entry);
    }
  }

  @Override
  public void failed(QueueOp.Failed op) {
    TaskEntry entry = group.entry(op.position());
    if (entry == null) {
      return;
    }
    group.know(entry);
    group.leave(entry);
    entry.heldBy = null;
    entry.ends = List.of();
    entry.lent = false;
    entry.attempts = op.attempts();
    entry.loggedAttempts = op.attempts();
    entry.lastError = op.error().isEmpty() ? null : op.error();
    entry.runAtMillis = op.runAtMillis();
    if (!group.center.isStarted()) {
      group.delayByWall(entry);
    } else if (op.waitMillis() <= 0) {
      group.ready(entry);
    } else {
      group.delayed(entry);
      group.center.clock.arm(entry, op.waitMillis() * 1_000_000);
    }
    group.offerKey(entry.chain);
    group.center.toMatch(group);
  }

  @Override
  public void released(long position, int attempts) {
    TaskEntry entry = group.entry(position);
    if (entry == null) {
      return;
    }
    group.leave(entry);
    entry.heldBy = null;
    entry.lent = false;
    entry.attempts = attempts;
    entry.loggedAttempts = attempts;
    group.ready(entry);
    group.center.toMatch(group);
  }

  @Override
  public void died(long position, String error) {
    TaskEntry entry = group.entry(position);
    if (entry == null || entry.phase == Phase.DEAD) {
      return;
    }
    group.know(entry);
    group.leave(entry);
    group.delays.left(entry);
    entry.heldBy = null;
    entry.ends = List.of();
    entry.phase = Phase.DEAD;
    entry.lastError = error.isEmpty() ? null : error;
    entry.loggedAttempts = entry.attempts;
    group.dead++;
    if (entry.unique) {
      group.queue.uniqueKeys.ended(position);
    }
    group.offerKey(entry.chain);
    group.center.toMatch(group);
  }
}
