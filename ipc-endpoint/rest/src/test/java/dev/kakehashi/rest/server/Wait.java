package dev.kakehashi.rest.server;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Waits for what another thread brings about.
public final class Wait {
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private Wait() {}

  /// @throws AssertionError it does not come
  public static void until(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new AssertionError("it does not come");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }
}
