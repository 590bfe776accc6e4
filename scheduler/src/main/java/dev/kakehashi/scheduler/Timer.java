package dev.kakehashi.scheduler;

/// A task that waits for its time, see [TaskScheduler#after]. Thread-safe.
public interface Timer {
  /// Withdraws the task. Its job ends as canceled and the task is discarded.
  ///
  /// @return false if the task was handed to the workers or withdrawn before
  boolean cancel();
}
