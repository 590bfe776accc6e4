package dev.kakehashi.scheduler;

/// Receives what no job can be blamed for: exceptions of callbacks, hooks, condition checks and
/// [Task#discarded]. Called on the thread where it happened, concurrently; must not throw.
@FunctionalInterface
public interface UncaughtHandler {
  /// Takes one throwable; `where` names the callback in words for a log line.
  void uncaught(String where, Throwable thrown);
}
