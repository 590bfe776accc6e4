package dev.kakehashi.engine.api.queue;

import org.jspecify.annotations.Nullable;

/// Options of a queue, checked and with their defaults. Immutable.
///
/// @param leaseMillis how long a task is lent, unless the receiver says another time; 1 or more
/// @param retry of tasks that have failed
/// @param limits of all tasks together
/// @param keyLimits of the tasks of each key
/// @param orderByKey whether tasks of one key are handed out in commit order, one in flight; a key's failing head stops that key only
/// @param agingMillis after each such time of waiting a task counts as of the next higher priority; 0: never
/// @param paused nothing is handed out
/// @param push whether tasks are posted
public record QueueOptions(
    long leaseMillis,
    Retry retry,
    StartLimits limits,
    StartLimits keyLimits,
    boolean orderByKey,
    long agingMillis,
    boolean paused,
    Push push) {
  /// When a failed task is handed out again, and when it never is.
  ///
  /// @param maxAttempts times that a task is handed out before it is dead; 0: without limit
  /// @param minBackoffMillis wait after the first failure
  /// @param maxBackoffMillis longest wait between attempts
  /// @param maxDoublings so often the wait is doubled; after that it grows by the last step
  /// @param jitter a wait is longer by a random part of it, up to this; 0 to 1
  /// @param ageLimitMillis a failed task of that age is dead; 0: without limit. With `maxAttempts` both must have passed
  /// @param deadLetter number of the queue that gets dead tasks; 0: they stay in this one, as dead
  public record Retry(
      int maxAttempts,
      long minBackoffMillis,
      long maxBackoffMillis,
      int maxDoublings,
      double jitter,
      long ageLimitMillis,
      long deadLetter) {}

  /// How many tasks start, and run at a time.
  ///
  /// @param rate tasks started per second, on average; negative: without limit, 0: paused
  /// @param bucketSize tasks that may start at once after a quiet time; 1 or more
  /// @param maxConcurrent tasks in flight; 0: without limit
  public record StartLimits(double rate, int bucketSize, int maxConcurrent) {}

  /// Posts over HTTP in place of receives.
  ///
  /// @param target URL that tasks are posted to; null: tasks are received
  /// @param deadlineMillis for one request; at most the lease
  public record Push(@Nullable String target, long deadlineMillis) {}

  /// Options of a queue whose statement says nothing.
  public static final QueueOptions DEFAULT =
      new QueueOptions(
          30_000,
          new Retry(25, 1_000, 3_600_000, 10, 0.1, 0, 0),
          new StartLimits(-1, 100, 0),
          new StartLimits(-1, 1, 0),
          false,
          60_000,
          false,
          new Push(null, 10_000));
}
