package dev.kakehashi.queue.change;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.queue.order.ChangeOwner;
import dev.kakehashi.queue.order.QueueCore;
import java.util.ArrayList;
import java.util.List;

/// Queues to which one transaction adds tasks: none of them is dropped meanwhile, and none gets tasks that another transaction drops.
/// Guarded by the lock of the queue system, but for [#end].
final class QueueUses {
  private final ChangeOwner owner;
  private final List<QueueCore> used = new ArrayList<>(1);

  QueueUses(ChangeOwner owner) {
    this.owner = owner;
  }

  /// @throws EngineException OBJECT_IN_USE if another transaction drops it
  void use(QueueCore queue) {
    if (queue.droppedBy != null && !owner.equals(queue.droppedBy)) {
      throw inUse("drops it");
    }
    if (!used.contains(queue)) {
      used.add(queue);
      queue.users.incrementAndGet();
    }
  }

  /// @throws EngineException OBJECT_IN_USE if another transaction uses or drops it
  void drop(QueueCore queue) {
    if (queue.droppedBy != null && !owner.equals(queue.droppedBy)) {
      throw inUse("drops it");
    }
    if (queue.users.get() > (used.contains(queue) ? 1 : 0)) {
      throw inUse("has added tasks to it");
    }
    queue.droppedBy = owner;
  }

  private static EngineException inUse(String what) {
    return new EngineException(
            ErrorCode.OBJECT_IN_USE,
            "the queue is being used: a transaction that has not ended " + what)
        .withHint("Try again when it has ended.");
  }

  /// The transaction has ended. Any thread, without the lock; later calls have no effect.
  void end() {
    for (QueueCore each : used) {
      each.users.decrementAndGet();
    }
    used.clear();
  }
}
