package dev.kakehashi.engine.api.queue;

import org.jspecify.annotations.Nullable;

/// Options of a queue, checked and with their defaults. Immutable.
///
/// @param leaseMillis how long a task is lent, unless the receiver says another time; 1 or more
/// @param maxAttempts times that a task is handed out before it is dead; 0: without limit
/// @param minBackoffMillis wait after the first failure
/// @param maxBackoffMillis longest wait between attempts
/// @param maxDoublings so often the wait is doubled; after that it grows by the last step
/// @param ageLimitMillis a failed task of that age is dead; 0: without limit. With `maxAttempts` both must have passed
/// @param deadLetter number of the queue that gets dead tasks; 0: they stay in this one, as dead
/// @param rate tasks started per second, on average; negative: without limit, 0: paused
/// @param bucketSize tasks that may start at once after a quiet time; 1 or more
/// @param maxConcurrent tasks in flight; 0: without limit
/// @param keyRate as `rate`, for each key
/// @param keyBucketSize as `bucketSize`, for each key
/// @param keyMaxConcurrent as `maxConcurrent`, for each key
/// @param orderByKey whether tasks of one key are handed out in commit order, one in flight; a key's failing head stops that key only
/// @param agingMillis after each such time of waiting a task counts as of the next higher priority; 0: never
/// @param paused nothing is handed out
/// @param pushTarget URL of HTTP that tasks are posted to; null: tasks are received
/// @param pushDeadlineMillis for one request of a push; at most the lease
/// @param jitter a wait after a failure is longer by a random part of it, up to this; 0 to 1
public record QueueOptions(
    long leaseMillis,
    int maxAttempts,
    long minBackoffMillis,
    long maxBackoffMillis,
    int maxDoublings,
    long ageLimitMillis,
    long deadLetter,
    double rate,
    int bucketSize,
    int maxConcurrent,
    double keyRate,
    int keyBucketSize,
    int keyMaxConcurrent,
    boolean orderByKey,
    long agingMillis,
    boolean paused,
    @Nullable String pushTarget,
    long pushDeadlineMillis,
    double jitter) {
  /// Options of a queue whose statement says nothing.
  public static final QueueOptions DEFAULT =
      new QueueOptions(
          30_000, 25, 1_000, 3_600_000, 10, 0, 0, -1, 100, 0, -1, 1, 0, false, 60_000, false, null,
          10_000, 0.1);
}
