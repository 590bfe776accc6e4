package dev.kakehashi.queue;

import dev.kakehashi.queue.TaskEntry.Phase;
import org.jspecify.annotations.Nullable;

/// A transaction that has not committed ends many tasks of a queue: PURGE, or the end of a group. Guarded by the lock of the queue system.
final class QueueSweep {
  final TransactionChanges owner;

  /// Negative: all groups, but what is lent or held.
  private final long groupId;

  /// What is written, once the transaction is prepared.
  QueueOp.@Nullable Purge written;

  QueueSweep(TransactionChanges owner, long groupId) {
    this.owner = owner;
    this.groupId = groupId;
  }

  /// Whether it ends a task that is open in a group.
  boolean ends(GroupCore group, long position) {
    if (groupId >= 0) {
      return groupId == group.groupId;
    }
    QueueOp.Purge purge = written;
    if (purge == null) {
      TaskEntry entry = group.entries.get(position);
      return entry == null || (entry.phase != Phase.LEASED && entry.phase != Phase.HELD);
    }
    for (int at = 0; at < purge.sparedGroups().length; at++) {
      if (purge.sparedGroups()[at] == group.groupId && purge.sparedPositions()[at] == position) {
        return false;
      }
    }
    return true;
  }
}
