package dev.kakehashi.engine.api.queue;

/// Services of the process for its queue system. Thread-safe.
public interface QueueHost extends QueueChanges.Writer {
  /// Milliseconds since 1970: for times that users say. It may jump.
  long wallMillis();

  /// The monotonic clock, nanoseconds: for leases, waits and rates.
  long nanoTime();

  /// Runs something once, not before a time has passed; from any thread, short and without blocking.
  Alarm after(long nanos, Runnable action);

  /// Runs something soon on another thread; it may write files, and must not wait for others.
  void execute(Runnable action);

  /// Something that is to be run later.
  @FunctionalInterface
  interface Alarm {
    /// It need not run any more; no effect if it runs or ran.
    void cancel();
  }
}
