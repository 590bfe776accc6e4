package dev.kakehashi.scheduler;

import org.jspecify.annotations.Nullable;

/// Tasks that do not fit into a worker's deque, or into a full inbox when they must not be refused. They are apart from the inboxes on
/// purpose: a job that spawns more than it can hold must not stand before short requests from outside.
///
/// A lock suffices: tasks move in and out in batches. `size` is written under the lock and read without, so that an
/// empty queue costs one load; the volatile store is the publication before the look at the idle word. A call that throws has queued
/// nothing.
final class OverflowQueue {
  private final TaskRing items = new TaskRing(); // guarded by this
  private volatile int size;

  void add(Task task, @Nullable Job job) {
    synchronized (this) {
      items.addLast(task, job);
      size++;
    }
  }

  /// Moves the pairs `from` to `to` of `batch` here.
  void addAll(@Nullable Object[] batch, int from, int to) {
    synchronized (this) {
      items.moveLast(batch, from, to);
      size += to - from;
    }
  }

  /// Takes up to `max` of the oldest into `batch` as pairs (task, job).
  int drain(@Nullable Object[] batch, int max) {
    if (size == 0) {
      return 0;
    }
    synchronized (this) {
      int n = Math.min(Math.min(max, batch.length / 2), items.size());
      for (int i = 0; i < n; i++) {
        batch[2 * i] = items.firstTask();
        batch[2 * i + 1] = items.firstJob();
        items.removeFirst();
      }
      size = items.size();
      return n;
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }
}
