package dev.kakehashi.queue.change;

import dev.kakehashi.queue.order.ChangeOwner;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.order.TaskEntry;
import dev.kakehashi.queue.order.TaskSearch;
import dev.kakehashi.queue.order.UniqueTaskKeys.QueueSweep;
import dev.kakehashi.queue.order.UniqueTaskKeys.TaskEnd;
import dev.kakehashi.queue.order.UniqueTaskKeys.UniqueTask;
import dev.kakehashi.queue.record.QueueOp;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One call of a transaction: what it writes, and what a roll back takes back. Guarded by the lock of the queue system.
class ChangeStep {
  /// Null: a [LeaseEnding] finds out at the commit.
  final @Nullable QueueOp op;

  /// A unique key that it has taken.
  @Nullable UniqueTask unique;

  /// Tasks that it holds, so that nobody gets them before the transaction's end.
  List<TaskEntry> held = List.of();

  /// Its mark on tasks that it ends and that have unique keys.
  @Nullable TaskEnd end;

  private @Nullable QueueSweep sweep;
  private @Nullable QueueCore swept;

  ChangeStep(@Nullable QueueOp op) {
    this.op = op;
  }

  /// Holds tasks that it ends. They may have unique keys: others are told nothing of them until the transaction has ended.
  void end(List<TaskEntry> tasks, ChangeOwner owner) {
    held = tasks;
    for (TaskEntry each : tasks) {
      each.group.know(each);
      if (each.unique) {
        TaskEnd mark = end == null ? new TaskEnd(owner, null) : end;
        end = mark;
        each.addEnd(mark);
      }
    }
  }

  /// It ends many tasks of a queue.
  ///
  /// @param queue null: it is not there, so nobody asks for its keys
  /// @param groupId negative: all groups, but what is lent or held
  QueueSweep sweep(@Nullable QueueCore queue, long groupId, ChangeOwner owner) {
    QueueSweep made = new QueueSweep(owner, groupId);
    sweep = made;
    if (queue != null) {
      swept = queue;
      queue.uniqueKeys.add(made);
    }
    return made;
  }

  /// Adds what is written, and holds what it ends.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException LEASE_LOST
  void write(QueueCenter center, ChangeOwner owner, List<QueueOp> into) {
    if (op instanceof QueueOp.Purge purge) {
      QueueOp.Purge spared = TaskSearch.spared(center, purge);
      into.add(spared);
      if (sweep != null) {
        sweep.written = spared;
      }
    } else if (op != null) {
      into.add(op);
    }
  }

  /// Its changes are applied, and seen by all.
  void applied() {
    if (sweep != null && swept != null) {
      swept.uniqueKeys.remove(sweep);
    }
  }

  /// It is rolled back.
  void undo(ChangeOwner owner) {
    if (unique != null) {
      unique.queue.uniqueKeys.undo(unique);
    }
    if (sweep != null && swept != null) {
      swept.uniqueKeys.remove(sweep);
    }
    if (end != null) {
      removeEnd(end);
    }
    for (TaskEntry each : held) {
      if (owner.equals(each.heldBy)) {
        each.group.unhold(each);
      }
    }
  }

  /// Takes its mark off the tasks.
  void removeEnd(TaskEnd mark) {
    held.forEach(each -> each.removeEnd(mark));
  }
}
