package dev.kakehashi.queue;

import dev.kakehashi.engine.api.queue.LeaseToken;
import org.jspecify.annotations.Nullable;

/// A transaction that has not committed ends a task with a unique key. Immutable.
///
/// @param token the lease with which it does so, and without which it cannot; null: it holds the task
record TaskEnd(TransactionChanges owner, @Nullable LeaseToken token) {
  boolean stands(TaskEntry entry) {
    return token == null || entry.isLeasedBy(token);
  }
}
