package dev.kakehashi.engine.store.log.file;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

/// The pause of a thread before it tries again what has failed. It ends early when the store closes.
public final class RetryPause {
  private static final long NANOS = TimeUnit.SECONDS.toNanos(1);

  private RetryPause() {}

  /// Waits for a second.
  ///
  /// @param lock guards what `stopping` reads; not held
  /// @param changed is signalled when the store closes, and may be at other times
  /// @param stopping whether the store closes; asked under the lock
  /// @return false if it does
  public static boolean await(Lock lock, Condition changed, BooleanSupplier stopping) {
    lock.lock();
    try {
      long left = NANOS;
      while (left > 0 && !stopping.getAsBoolean()) {
        try {
          left = changed.awaitNanos(left);
        } catch (InterruptedException e) {
          // Nobody may stop these threads but close(); what they were asked for they do at once.
          left = 0;
        }
      }
      return !stopping.getAsBoolean();
    } finally {
      lock.unlock();
    }
  }
}
