package dev.kakehashi.engine.api.thread;

/// Threads that an engine may block, lent by whoever calls it. A thread that has just committed flushes the log sooner than one that has to
/// be told.
public interface BlockingExecutor {
  /// Lends no thread.
  BlockingExecutor NONE =
      new BlockingExecutor() {
        @Override
        public boolean tryDefer(Runnable work) {
          return false;
        }

        @Override
        public boolean unblocked() {
          return false;
        }
      };

  /// Runs `work` soon on the calling thread, after the call that it is in; once, however often it is asked for before.
  ///
  /// @return false: the calling thread must not block, or has something else to do; `work` is not run
  boolean tryDefer(Runnable work);

  /// Called by such work on its thread when it has blocked and is about to tell others of it: the lender may use the thread for those as
  /// soon as it returns, and nobody else has to be woken for what they ask next.
  ///
  /// @return true: the rest of the work must not block; what does is to be deferred again
  boolean unblocked();
}
