package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import java.util.HashSet;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Extends leases at a third of their time, on a thread and in a session of its own, so that no handler's work delays it. With no task it
/// sleeps without end, and attaches nothing.
///
/// Lock: `lock` guards the tasks; requests are sent without it.
final class Heartbeat implements AutoCloseable {
  private record Beat(QueueTask task, long atNanos) implements Comparable<Beat> {
    @Override
    public int compareTo(Beat other) {
      return Long.compare(atNanos - other.atNanos, 0);
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final PriorityQueue<Beat> beats = new PriorityQueue<>();
  private final Set<QueueTask> tasks = new HashSet<>();
  private final AtomicLong worstLatenessNanos = new AtomicLong();
  private final QueueLink link;
  private final Thread thread;
  private boolean closed; // guarded by the lock

  Heartbeat(TaskQueue queue, String application, CountDownLatch stop) {
    this.link = new QueueLink(queue, application, stop);
    this.thread = Thread.ofPlatform().name("kakehashi-heartbeat").daemon().start(this::run);
  }

  /// Begins to extend a task's lease.
  void add(QueueTask task) {
    lock.lock();
    try {
      tasks.add(task);
      beats.add(new Beat(task, System.nanoTime() + task.leaseNanos() / 3));
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  void remove(QueueTask task) {
    lock.lock();
    try {
      tasks.remove(task);
      beats.removeIf(beat -> beat.task() == task);
    } finally {
      lock.unlock();
    }
  }

  /// How much later than planned an extension was sent at most.
  long worstLatenessNanos() {
    return worstLatenessNanos.get();
  }

  private void run() {
    try (link) {
      for (QueueTask task = next(); task != null; task = next()) {
        extend(task);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Waits for the next task whose lease is to be extended; null: there is no more.
  private @Nullable QueueTask next() throws InterruptedException {
    lock.lock();
    try {
      while (!closed) {
        Beat beat = beats.peek();
        if (beat == null) {
          changed.await();
          continue;
        }
        long left = beat.atNanos() - System.nanoTime();
        if (left > 0) {
          changed.awaitNanos(left);
          continue;
        }
        beats.remove();
        worstLatenessNanos.accumulateAndGet(-left, Math::max);
        return beat.task();
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private void extend(QueueTask task) {
    try {
      link.queue().extend(task, null);
    } catch (EndpointException e) {
      if (e.sqlstate().equals(ErrorCode.LEASE_LOST.sqlstate())) {
        task.markLost();
        return;
      }
      // Tried again: the lease has two more thirds.
    }
    again(task);
  }

  private void again(QueueTask task) {
    lock.lock();
    try {
      if (tasks.contains(task) && !task.lost()) {
        long third = Math.max(task.leaseNanos() / 3, TimeUnit.MILLISECONDS.toNanos(1));
        beats.add(new Beat(task, System.nanoTime() + third));
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
