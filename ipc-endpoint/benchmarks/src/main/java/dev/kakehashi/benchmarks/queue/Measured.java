package dev.kakehashi.benchmarks.queue;

/// A queue whose figures are taken.
interface Measured {
  String name();

  /// Whether its tasks are claimed with SKIP LOCKED, so that the goal is against it.
  boolean skipLocked();

  /// Tasks per second from enqueue to completion, with producers and consumers at work at the same time.
  ///
  /// @param batch tasks in a transaction, on both sides
  double life(int producers, int consumers, int batch, double seconds) throws Exception;

  /// Times from enqueue to the handler's start on an idle queue with one waiting consumer; sorted, in microseconds.
  double[] latencies(int count) throws Exception;
}
