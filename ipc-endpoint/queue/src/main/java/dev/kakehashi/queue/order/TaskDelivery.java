package dev.kakehashi.queue.order;

import org.jspecify.annotations.Nullable;

/// Delivery as the order of tasks sees it. Guarded by the lock of the queue system.
public interface TaskDelivery {
  /// The consumers of a new group; called by its constructor, which has made nothing else yet.
  GroupDelivery newGroup(GroupCore group);

  /// A lease has ended, however it did.
  void leaseEnded(TaskEntry entry);

  /// Tries to make a task dead that was handed out too often, and is held for that.
  void bury(TaskEntry entry);

  /// Records of the queues' own, to be written without the lock; null: none, or another thread writes.
  @Nullable Runnable nextWrite();
}
