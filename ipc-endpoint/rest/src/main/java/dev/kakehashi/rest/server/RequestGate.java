package dev.kakehashi.rest.server;

import dev.kakehashi.rest.problem.Problem;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// Counts the requests that are being handled, in all and of each user, bounds them, and lets the last ones end when the door closes.
/// Thread-safe.
final class RequestGate {
  private final int maxOfUser;
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicLong refused = new AtomicLong();

  /// Users are authenticated before: there are as many as the endpoint has.
  private final Map<String, AtomicInteger> byUser = new ConcurrentHashMap<>();

  private volatile boolean isStopping;

  RequestGate(int maxOfUser) {
    this.maxOfUser = maxOfUser;
  }

  /// Lets a request in, which [#leave] has to follow.
  ///
  /// @throws Problem 503: the door closes
  void enter() {
    running.incrementAndGet();
    if (isStopping) {
      leave();
      throw Problem.of(503, "stopping", "Stopping", "the endpoint is shutting down")
          .withRetryable(true)
          .withHeader("Retry-After", "5")
          .withHeader("Connection", "close");
    }
  }

  /// The same for a user's request, which [#leave(AtomicInteger)] has to follow.
  ///
  /// @throws Problem 429: he has too many
  AtomicInteger enter(String user) {
    AtomicInteger count = byUser.get(user);
    if (count == null) {
      count = byUser.computeIfAbsent(user, name -> new AtomicInteger());
    }
    if (count.incrementAndGet() > maxOfUser) {
      count.decrementAndGet();
      refused.incrementAndGet();
      throw Problem.of(
              429,
              "too-many-requests",
              "Too many requests",
              "a user has at most " + maxOfUser + " requests at once")
          .withRetryable(true)
          .withHeader("Retry-After", "1");
    }
    return count;
  }

  void leave(AtomicInteger ofUser) {
    ofUser.decrementAndGet();
  }

  void leave() {
    if (running.decrementAndGet() == 0 && isStopping) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  int running() {
    return running.get();
  }

  long refused() {
    return refused.get();
  }

  /// Refuses new requests and waits until none is left.
  ///
  /// @return whether none is left after the time
  boolean stop(long millis) throws InterruptedException {
    isStopping = true;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    synchronized (this) {
      while (running.get() > 0) {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left <= 0) {
          return false;
        }
        wait(left);
      }
    }
    return true;
  }
}
