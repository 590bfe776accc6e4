package dev.kakehashi.queue.order;

import dev.kakehashi.queue.order.UniqueTaskKeys.UniqueTask;

/// A transaction that has not ended, as holder of unique keys and of queues that it drops; equal to itself alone. Guarded by the lock of
/// the queue system.
public interface ChangeOwner {
  /// Whether it ends a task of its own by a later PURGE.
  boolean sweepsLater(UniqueTask own);
}
