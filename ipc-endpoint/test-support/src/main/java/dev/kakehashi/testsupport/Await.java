package dev.kakehashi.testsupport;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Waits for what nobody announces: the state of another thread, or of another process.
///
/// The limit only ends a test that hangs. It is long, so that no test fails because the machine is busy.
public final class Await {
  /// Long enough for a machine whose processors have twenty times their work.
  public static final Duration LIMIT = Duration.ofMinutes(3);

  // A pause is an eighth of the time that has passed: what comes at once is seen at once, and long
  // waits cost little.
  private static final long SHORTEST_PAUSE_NANOS = 50_000;
  private static final long LONGEST_PAUSE_NANOS = 10_000_000;

  private Await() {}

  /// Looks until a condition holds: at first often, after some time a hundred times a second.
  ///
  /// @param what is waited for, for the message
  /// @throws AssertionError when it does not hold after [#LIMIT], or when the thread is interrupted
  public static void until(String what, BooleanSupplier condition) {
    until(what, LIMIT, condition);
  }

  /// The same with a limit of its own.
  public static void until(String what, Duration limit, BooleanSupplier condition) {
    if (!holdsWithin(what, limit, condition)) {
      throw new AssertionError("%s: not within %s".formatted(what, limit));
    }
  }

  /// Looks until a value is the expected one; the message has the last one that was seen.
  ///
  /// @throws AssertionError when it is not after [#LIMIT], or when the thread is interrupted
  public static <T> void untilEquals(String what, @Nullable T expected, Supplier<T> value) {
    Object[] seen = new Object[1];
    boolean came =
        holdsWithin(
            what,
            LIMIT,
            () -> {
              seen[0] = value.get();
              return Objects.equals(expected, seen[0]);
            });
    if (!came) {
      throw new AssertionError(
          "%s: not %s within %s, but %s".formatted(what, expected, LIMIT, seen[0]));
    }
  }

  private static boolean holdsWithin(String what, Duration limit, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      long passedNanos = System.nanoTime() - start;
      if (passedNanos > limit.toNanos()) {
        return false;
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new AssertionError("interrupted while waiting for: " + what);
      }
      LockSupport.parkNanos(Math.clamp(passedNanos / 8, SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
    }
    return true;
  }
}
