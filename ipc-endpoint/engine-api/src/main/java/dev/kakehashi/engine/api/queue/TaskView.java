package dev.kakehashi.engine.api.queue;

import org.jspecify.annotations.Nullable;

/// A task as operators see it.
///
/// @param runAtMillis when it may be handed out; 0: at once
/// @param lease null: it is not lent
public record TaskView(
    long queueId,
    long groupId,
    long taskId,
    long position,
    State state,
    int attempts,
    Order order,
    long enqueuedMillis,
    long runAtMillis,
    @Nullable String lastError,
    @Nullable Lease lease,
    Payload payload) {
  /// Where a task is in its life; what is done or canceled is not shown any more.
  public enum State {
    READY,
    DELAYED,
    LEASED,
    DEAD
  }

  /// Properties of a task that decide which comes next.
  ///
  /// @param fair key of fairness
  public record Order(@Nullable String key, @Nullable String fair, int priority) {}

  /// @param holder consumer that the task is lent to
  public record Lease(String holder, long endMillis) {}
}
