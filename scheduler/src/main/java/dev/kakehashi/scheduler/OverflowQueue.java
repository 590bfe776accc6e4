package dev.kakehashi.scheduler;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// What does not fit into a worker's deque, or into a full inbox when it must not be refused. Apart from the inboxes
/// on purpose: a job that spawns more than it can hold must not stand before short requests from outside.
///
/// A lock suffices: tasks move in and out in batches. `size` is written under the lock and read without, so that an
/// empty queue costs one load; the volatile store is the publication before the look at the idle word.
final class OverflowQueue {
  // Internal tasks have no job, and the deque takes no null.
  private static final Object NO_JOB = new Object();

  private final ArrayDeque<Object> items = new ArrayDeque<>(0); // guarded by this
  private volatile int size;

  void add(Task task, @Nullable Job job) {
    synchronized (this) {
      append(task, job);
      size = items.size() / 2;
    }
  }

  void addAll(@Nullable Object[] batch, int from, int to) {
    synchronized (this) {
      int before = items.size();
      try {
        for (int i = from; i < to; i++) {
          append((Task) batch[2 * i], (Job) batch[2 * i + 1]);
        }
      } catch (OutOfMemoryError e) {
        while (items.size() > before) {
          items.removeLast(); // all or nothing: the caller still has them
        }
        throw e;
      }
      size = items.size() / 2;
    }
  }

  /// Takes up to `max` of the oldest into `batch` as pairs (task, job).
  int drain(@Nullable Object[] batch, int max) {
    if (size == 0) {
      return 0;
    }
    synchronized (this) {
      int n = Math.min(Math.min(max, batch.length / 2), items.size() / 2);
      for (int i = 0; i < n; i++) {
        batch[2 * i] = items.remove();
        Object job = items.remove();
        batch[2 * i + 1] = NO_JOB.equals(job) ? null : job;
      }
      size = items.size() / 2;
      return n;
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  private void append(@Nullable Task task, @Nullable Job job) {
    items.add(java.util.Objects.requireNonNull(task, "task"));
    items.add(job == null ? NO_JOB : job);
  }
}
