package dev.kakehashi.queue.order;

import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.api.queue.QueueOptions.Retry;

/// When a failed task is handed out again, and when it never is.
public final class Backoff {
  private Backoff() {}

  /// Wait after a failure: doubled a number of times, then longer by the last step each time, at most the greatest.
  ///
  /// @param attempts that have failed, from 1
  public static long millis(QueueOptions options, int attempts) {
    Retry retry = options.retry();
    long min = retry.minBackoffMillis();
    long max = retry.maxBackoffMillis();
    int doublings = Math.min(attempts - 1, retry.maxDoublings());
    double step = (double) min * Math.pow(2, doublings);
    if (step >= max) {
      return max;
    }
    double wait = step + step * Math.max(0L, (long) attempts - 1 - doublings);
    return (long) Math.min((double) max, wait);
  }

  /// The same with the queue's jitter: tasks that have failed together do not come together again.
  ///
  /// @param dice from 0 to 1
  public static long jittered(QueueOptions options, int attempts, double dice) {
    long wait = millis(options, attempts);
    return wait + (long) (wait * options.retry().jitter() * dice);
  }

  /// Whether a task that was handed out `attempts` times, in vain, is dead. If both limits are given both must have passed.
  public static boolean exhausted(
      QueueOptions options, int attempts, long enqueuedMillis, long nowMillis) {
    Retry retry = options.retry();
    boolean tries = retry.maxAttempts() > 0 && attempts >= retry.maxAttempts();
    boolean age =
        retry.ageLimitMillis() > 0 && nowMillis - enqueuedMillis >= retry.ageLimitMillis();
    if (retry.maxAttempts() > 0 && retry.ageLimitMillis() > 0) {
      return tries && age;
    }
    return tries || (age && attempts > 0);
  }
}
