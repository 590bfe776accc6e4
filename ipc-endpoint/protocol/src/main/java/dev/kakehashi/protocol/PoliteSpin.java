package dev.kakehashi.protocol;

import java.util.function.BooleanSupplier;

/// Waiting awake for what comes within microseconds, without taking the processor from those who bring it.
///
/// First a few looks in a row: an answer of somebody who is awake and idle comes that soon. Then the processor is given away between the looks, so that
/// on a small machine the others get on. That is cheap among threads which do little at a time. Where something computes for long, a yield costs milliseconds,
/// while who sleeps is woken at once: after such a yield nobody yields for a while, and whoever waits goes to sleep after the first looks.
///
/// Used by one thread.
public final class PoliteSpin {
  private static final int LOOKS_PER_CLOCK_READ = 16;
  private static final long YIELD_AFTER_NANOS = 3_000;

  /// A yield that takes longer has let somebody compute.
  private static final long DEAR_NANOS = 200_000;

  private static final long MIN_PAUSE_NANOS = 20_000_000;
  private static final long MAX_PAUSE_NANOS = 1_000_000_000;

  private long pauseNanos = MIN_PAUSE_NANOS;
  private long yieldFrom = System.nanoTime();

  /// Looks until `found` is true (then returns true) or it is time to sleep.
  ///
  /// @param nanos longest time
  @SuppressWarnings("ThreadPriorityCheck") // a hint: nothing depends on it
  public boolean await(BooleanSupplier found, long nanos) {
    long start = System.nanoTime();
    long now = start;
    while (now - start < nanos) {
      for (int i = 0; i < LOOKS_PER_CLOCK_READ; i++) {
        if (found.getAsBoolean()) {
          return true;
        }
        Thread.onSpinWait();
      }
      now = System.nanoTime();
      if (now - start >= YIELD_AFTER_NANOS) {
        if (now - yieldFrom < 0) {
          return false;
        }
        Thread.yield();
        now = yielded(now);
      }
    }
    return found.getAsBoolean();
  }

  private long yielded(long before) {
    long now = System.nanoTime();
    if (now - before > DEAR_NANOS) {
      yieldFrom = now + pauseNanos;
      pauseNanos = Math.min(MAX_PAUSE_NANOS, 2 * pauseNanos);
    } else if (now - yieldFrom > MIN_PAUSE_NANOS) {
      // Cheap for this long says that nobody computes any more. Waiting for as long as the last
      // pause was, up to a second, one
      // stray interruption a second kept everybody asleep for good: 16 us a round trip in place of
      // 3.
      pauseNanos = MIN_PAUSE_NANOS;
    }
    return now;
  }
}
