package dev.kakehashi.scheduler;

import java.util.List;

/// Outcome of a shutdown. `accepted == run + discarded + left` for tasks.
///
/// @param accepted tasks ever accepted
/// @param run tasks that ran, also those that threw
/// @param discarded tasks discarded because their job was canceled or failed
/// @param left tasks neither run nor discarded; 0 unless a worker is stuck or a condition's owner is
/// @param jobsCanceled jobs that did not end within the grace time
/// @param stuckWorkers name and stack of each worker that did not come back from user code
public record ShutdownReport(
    long accepted,
    long run,
    long discarded,
    long left,
    int jobsCanceled,
    List<String> stuckWorkers) {
  /// Copies the list.
  public ShutdownReport {
    stuckWorkers = List.copyOf(stuckWorkers);
  }

  /// Whether every accepted task came to its end and every worker has left.
  public boolean clean() {
    return left == 0 && stuckWorkers.isEmpty();
  }
}
