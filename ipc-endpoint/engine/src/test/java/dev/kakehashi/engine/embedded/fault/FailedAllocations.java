package dev.kakehashi.engine.embedded.fault;

import org.jspecify.annotations.Nullable;

/// Which allocations of the store's memory fail. Asked by each of them, see [FailingPool]. Thread-safe.
public final class FailedAllocations {
  private static final Object LOCK = new Object();

  /// All below is guarded by the lock. Allocations so far.
  private static long count;

  /// Number of the one that fails; 0: none.
  private static long failing;

  /// How many of the thread's next ones fail, too.
  private static int more;

  private static @Nullable Thread thread;
  private static StackTraceElement @Nullable [] place;

  private FailedAllocations() {}

  /// Whether the allocation that asks fails.
  public static boolean fails() {
    synchronized (LOCK) {
      count++;
      boolean first = count == failing;
      if (first) {
        thread = Thread.currentThread();
        place = thread.getStackTrace();
        return true;
      }
      if (more > 0 && Thread.currentThread().equals(thread)) {
        more--;
        return true;
      }
      return false;
    }
  }

  /// Begins to count, and lets allocations of one thread fail.
  ///
  /// @param number of the first one that fails; 0: none
  /// @param times how many fail; a change tries again when it has got no memory
  static void arm(long number, int times) {
    synchronized (LOCK) {
      count = 0;
      failing = number;
      more = times - 1;
      thread = null;
      place = null;
    }
  }

  /// Lets none fail any more.
  ///
  /// @return allocations since they were counted
  static long disarm() {
    synchronized (LOCK) {
      failing = 0;
      more = 0;
      return count;
    }
  }

  /// Where one has failed; null: none has.
  static StackTraceElement @Nullable [] place() {
    synchronized (LOCK) {
      return place;
    }
  }
}
