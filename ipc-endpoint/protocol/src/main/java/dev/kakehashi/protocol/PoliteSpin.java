package dev.kakehashi.protocol;

import java.util.function.BooleanSupplier;

/// Waiting awake for what comes within microseconds, without taking the processor from those who bring it.
///
/// First a few looks in a row: an answer of somebody who is awake and idle comes that soon. Then the processor is given away between the
/// looks, so that on a small machine the others get on. That is cheap among threads which do little at a time. Where something computes for
/// long, a yield costs milliseconds, while who sleeps is woken at once: after such a yield nobody yields for a while, and whoever waits
/// goes to sleep after the first looks.
///
/// Used by one thread.
public final class PoliteSpin {
  private static final int LOOKS_PER_CLOCK_READ = 16;
  private static final long YIELD_AFTER_NANOS = 3_000;

  private final YieldPause pause = new YieldPause(System.nanoTime());

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
        if (!pause.isOver(now)) {
          return false;
        }
        long before = now;
        Thread.yield();
        now = System.nanoTime();
        pause.yielded(before, now);
      }
    }
    return found.getAsBoolean();
  }
}
