package dev.kakehashi.queue.deliver;

import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.queue.system.Deadline;
import dev.kakehashi.queue.system.QueueLock;

/// A consumer's call that is under way. Guarded by the lock of the queue system.
///
/// Its deadline: the end of its wait.
public final class Waiter extends Deadline implements QueueSystem.Waiting {
  public final GroupConsumers consumers;
  public final ReceiveRequest request;
  public final QueueSystem.Listener listener;

  /// Whether the listener has been called, or is about to be.
  public boolean ended;

  /// Whether what it completes is not durable yet: until then it does not end for want of tasks.
  public boolean completing;

  /// Record after which a call without a wait ends with nothing: what was committed before it has been looked at then. -1: there is none.
  long until = -1;

  public Waiter(GroupConsumers consumers, ReceiveRequest request, QueueSystem.Listener listener) {
    this.consumers = consumers;
    this.request = request;
    this.listener = listener;
  }

  @Override
  public void reached() {
    consumers.endWait(this);
  }

  @Override
  public void cancel() {
    QueueLock lock = consumers.group.center.lock;
    lock.enter();
    try {
      consumers.endWait(this);
    } finally {
      lock.exit();
    }
  }
}
