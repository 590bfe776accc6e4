package dev.kakehashi.scheduler;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// All jobs that have not ended, so that a shutdown can wait for them or cancel them and a dump can list them.
///
/// Striped by submitting thread: a job is linked into one of several lists, each under its own lock, which is
/// uncontended when the same thread submits and ends light jobs. Closing a stripe under its lock makes
/// "accepted before" and "refused after" exact.
final class JobRegistry {
  private static final class Stripe {
    final int index;
    @Nullable Job head;
    long sequence;
    int live;
    boolean closed;

    // Keeps neighbours out of the cache line of the fields above.
    @SuppressWarnings("unused")
    long p1, p2, p3, p4, p5, p6, p7;

    Stripe(int index) {
      this.index = index;
    }
  }

  private final Stripe[] stripes;

  JobRegistry(int concurrency) {
    stripes = new Stripe[Integer.highestOneBit(Math.max(1, concurrency)) << 1];
    for (int i = 0; i < stripes.length; i++) {
      stripes[i] = new Stripe(i);
    }
  }

  /// Gives the job its id and links it; false after [#close].
  boolean add(Job job) {
    Stripe stripe = stripes[(int) Thread.currentThread().threadId() & (stripes.length - 1)];
    synchronized (stripe) {
      if (stripe.closed) {
        return false;
      }
      job.id = ++stripe.sequence * stripes.length + stripe.index;
      job.registryNext = stripe.head;
      if (stripe.head != null) {
        stripe.head.registryPrevious = job;
      }
      stripe.head = job;
      stripe.live++;
      return true;
    }
  }

  void remove(Job job) {
    Stripe stripe = stripes[(int) job.id & (stripes.length - 1)];
    synchronized (stripe) {
      Job previous = job.registryPrevious;
      Job next = job.registryNext;
      if (previous != null) {
        previous.registryNext = next;
      } else {
        stripe.head = next;
      }
      if (next != null) {
        next.registryPrevious = previous;
      }
      job.registryPrevious = null;
      job.registryNext = null;
      stripe.live--;
      if (stripe.closed && stripe.live == 0) {
        stripe.notifyAll();
      }
    }
  }

  void close() {
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        stripe.closed = true;
      }
    }
  }

  /// Waits until no job is left; only after [#close].
  boolean awaitEmpty(java.time.Duration timeout) throws InterruptedException {
    long deadlineNanos = System.nanoTime() + timeout.toNanos();
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        while (stripe.live > 0) {
          long left = deadlineNanos - System.nanoTime();
          if (left <= 0) {
            return false;
          }
          java.util.concurrent.TimeUnit.NANOSECONDS.timedWait(stripe, left);
        }
      }
    }
    return true;
  }

  int size() {
    int sum = 0;
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        sum += stripe.live;
      }
    }
    return sum;
  }

  /// Jobs that have not ended, newest first within a stripe.
  List<Job> live() {
    List<Job> jobs = new ArrayList<>();
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        for (Job job = stripe.head; job != null; job = job.registryNext) {
          jobs.add(job);
        }
      }
    }
    return jobs;
  }
}
