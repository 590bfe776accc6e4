package dev.kakehashi.engine.api.queue;

import org.jspecify.annotations.Nullable;

/// A task as operators see it.
///
/// @param holder of its lease; null: it is not lent
/// @param runAtMillis when it may be handed out; 0: at once
public record TaskView(
    long queueId,
    long groupId,
    long taskId,
    long position,
    State state,
    int attempts,
    @Nullable String key,
    @Nullable String fair,
    int priority,
    long enqueuedMillis,
    long runAtMillis,
    @Nullable String lastError,
    @Nullable String holder,
    long leaseEndMillis,
    Payload payload) {
  /// Where a task is in its life; what is done or canceled is not shown any more.
  public enum State {
    READY,
    DELAYED,
    LEASED,
    DEAD
  }
}
