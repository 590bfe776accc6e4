package dev.kakehashi.engine.api.queue;

import java.util.List;

/// A consumer's call for tasks.
///
/// @param groupId of the queue's groups, or [QueueDefinition#NO_GROUP]
/// @param max tasks at most, 1 to [#MAX_TASKS]
/// @param maxBytes payloads at most, but for the first one
/// @param waitNanos how long to wait for a first task; 0: not at all
/// @param leaseMillis 0: the queue's
/// @param completed leases that are completed in the same record as the new ones are made, or at once if there is no task yet; all or none
public record ReceiveRequest(
    long queueId,
    long groupId,
    int max,
    long maxBytes,
    long waitNanos,
    long leaseMillis,
    LeaseHolder holder,
    List<LeaseToken> completed) {
  public static final int MAX_TASKS = 10_000;

  public ReceiveRequest {
    completed = List.copyOf(completed);
  }
}
