package dev.kakehashi.scheduler;

/// Where the tasks of a lane run.
public enum Affinity {
  /// On any worker; the one that ran the lane last is preferred while the lane is in use, and nobody waits for it.
  HOME,
  /// On one worker for the lane's whole life: for native code that keeps state with its thread. Opt-in, because nobody
  /// can steal such a task: it waits behind whatever its worker runs (`pinned.run`, `queue.pinned` count the risk). It
  /// holds for the tasks given to the lane and their direct successors (up to `tailLimit` in a row), not for what
  /// they spawn, resubmit or await.
  PINNED
}
