package dev.kakehashi.engine.api;

/// Threads that an engine may block, lent by whoever calls it. A thread that has just committed flushes the log sooner than one that has to be told.
@FunctionalInterface
public interface BlockingExecutor {
  /// Runs `work` soon on the calling thread, after the call that it is in; once, however often it is asked for before.
  ///
  /// @return false: the calling thread must not block, or has something else to do; `work` is not run
  boolean tryDefer(Runnable work);
}
