package dev.kakehashi.protocol;

import java.time.Duration;

/// Operations that owners of threads share. Thread-safe.
public final class Threads {
  private Threads() {}

  /// Waits for the end of a thread that was told to end. An interrupt does not cut the wait short, because what the thread uses is closed
  /// next; it is kept for the caller.
  public static void joinUninterruptibly(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Waits for the end of a thread that was told to end, as the other one, but not for ever.
  ///
  /// @param deadlineNanos by [System#nanoTime()]
  /// @return whether it has ended: what it uses may be closed
  public static boolean joinUninterruptibly(Thread thread, long deadlineNanos) {
    boolean interrupted = false;
    long left = deadlineNanos - System.nanoTime();
    while (thread.isAlive() && left > 0) {
      try {
        boolean ignored = thread.join(Duration.ofNanos(left));
      } catch (InterruptedException e) {
        interrupted = true;
      }
      left = deadlineNanos - System.nanoTime();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }
}
