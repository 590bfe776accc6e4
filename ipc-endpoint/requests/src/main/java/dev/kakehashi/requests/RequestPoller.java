package dev.kakehashi.requests;

import dev.kakehashi.engine.api.thread.BlockingExecutor;
import java.util.concurrent.Executor;

/// The thread that handles requests, one at a time for all interfaces: what it alone touches needs no lock. Commands run in the order of
/// the calls. Thread-safe.
public interface RequestPoller extends Executor, BlockingExecutor {
  /// Runs `command` in the order of the calls, as [#execute(Runnable)] does, but on the calling thread before this returns if nobody
  /// handles requests just now. That saves waking somebody.
  void runOrExecute(Runnable command);
}
