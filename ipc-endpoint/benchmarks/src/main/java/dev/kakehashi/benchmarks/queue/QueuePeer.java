package dev.kakehashi.benchmarks.queue;

/// A queue that is measured. Each producer and consumer is used by one thread, and has a connection of its own.
interface QueuePeer extends AutoCloseable {
  String name();

  /// Whether its tasks are in a transactional database and claimed with SKIP LOCKED, so that the goal is against it.
  boolean skipLocked();

  /// Empties the queue, or makes it.
  void reset() throws Exception;

  Producer producer() throws Exception;

  Consumer consumer() throws Exception;

  /// Puts tasks in.
  interface Producer extends AutoCloseable {
    /// Enqueues tasks in one transaction, durably; each carries [System#nanoTime()] as a number.
    void enqueue(int count) throws Exception;

    @Override
    void close();
  }

  /// Takes tasks out.
  interface Consumer extends AutoCloseable {
    /// Takes up to `max` tasks and completes them, durably; waits some 100 ms for a first one.
    ///
    /// @param starts gets the number of each task when it is there, before it is completed
    /// @return how many
    int take(int max, Starts starts) throws Exception;

    @Override
    void close();
  }

  /// Hears of tasks whose handling begins.
  @FunctionalInterface
  interface Starts {
    void started(long enqueuedNanos);
  }

  @Override
  default void close() {}
}
