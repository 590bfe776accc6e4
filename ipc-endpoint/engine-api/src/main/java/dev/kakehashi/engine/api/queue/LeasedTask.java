package dev.kakehashi.engine.api.queue;

import org.jspecify.annotations.Nullable;

/// A task that is lent to a consumer.
///
/// @param taskId number that [QueueChanges#enqueue] gave
/// @param enqueuedMillis when its transaction asked for it, milliseconds since 1970
/// @param leaseEndMillis until when it is lent, by the wall clock, for display; time itself is measured by the monotonic clock
/// @param lastError why the attempt before failed; null: there was none, or it said nothing
public record LeasedTask(
    LeaseToken token,
    long taskId,
    Payload payload,
    @Nullable String key,
    @Nullable String fair,
    int priority,
    long enqueuedMillis,
    long leaseEndMillis,
    @Nullable String lastError) {}
