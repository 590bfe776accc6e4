package dev.kakehashi.protocol;

/// What owners of threads share. Thread-safe.
public final class Threads {
  private Threads() {}

  /// Waits for the end of a thread that was told to end. An interrupt does not cut the wait short, because what the thread uses is closed next; it is
  /// kept for the caller.
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
}
