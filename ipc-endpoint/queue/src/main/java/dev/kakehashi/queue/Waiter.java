package dev.kakehashi.queue;

import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;

/// A consumer's call that is under way. Guarded by the lock of the queue system.
///
/// Its deadline: the end of its wait.
final class Waiter extends Deadline implements QueueSystem.Waiting {
  final GroupCore group;
  final ReceiveRequest request;
  final QueueSystem.Listener listener;

  /// Whether the listener has been called, or is about to be.
  boolean ended;

  /// Whether what it completes is not durable yet: until then it does not end for want of tasks.
  boolean completing;

  /// Record after which a call without a wait ends with nothing: what was committed before it has been looked at then. -1: there is none.
  long until = -1;

  Waiter(GroupCore group, ReceiveRequest request, QueueSystem.Listener listener) {
    this.group = group;
    this.request = request;
    this.listener = listener;
  }

  @Override
  void reached() {
    group.consumers.endWait(this);
  }

  @Override
  public void cancel() {
    group.center.enter();
    try {
      group.consumers.endWait(this);
    } finally {
      group.center.exit();
    }
  }
}
