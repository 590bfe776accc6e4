package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Checks;
import dev.kakehashi.scheduler.platform.Platform;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// Token-bucket dispatch of one queue of requests: starts what its [RateLimit] allows and keeps the rest, in order of
/// arrival. Made by [TaskScheduler#admission(RateLimit)]; give it to [JobBuilder#admission]. Thread-safe.
///
/// A request needs a permit (`maxConcurrentRequests`) and then a token, so that no token is spent on waiting for a
/// permit; the permits are counted here and not by a [Lane], because a job can have a lane of its own, that of its
/// transaction. A waiting request costs no thread: it starts when a permit comes back, or by a timer at the instant the next token is due.
/// A job that is canceled while it waits ends without either.
///
/// `waiting`, `active` and `timed` are guarded by this; starts happen under the lock, so that they keep the order.
public final class Admission {
  private final TaskScheduler scheduler;
  private final RateLimit limit;
  private final @Nullable TokenBucket bucket;
  private final ArrayDeque<Job> waiting = new ArrayDeque<>(0);
  private int active;
  private boolean timed; // a timer will look

  Admission(TaskScheduler scheduler, RateLimit limit) {
    this.scheduler = scheduler;
    this.limit = limit;
    bucket =
        limit.ratePerSecond() == Double.POSITIVE_INFINITY
            ? null
            : new TokenBucket(limit, Platform.nanoTime());
  }

  /// Limit of this admission.
  public RateLimit limit() {
    return limit;
  }

  /// Jobs that wait, those included that were canceled meanwhile and whose turn has not come.
  public synchronized int waiting() {
    return waiting.size();
  }

  /// Permits in use.
  public synchronized int active() {
    return active;
  }

  /// Admits a request that is no job, if it can start now and nothing waits. A caller that gets true calls [#leave()] once.
  public synchronized boolean tryEnter() {
    Platform.locked(1);
    try {
      return waiting.isEmpty() && mayStart() == 0;
    } finally {
      Platform.locked(-1);
    }
  }

  /// Gives back what [#tryEnter()] took.
  public synchronized void leave() {
    if (active == 0) {
      throw new IllegalStateException("nothing has entered");
    }
    active--;
    startWaiting();
  }

  /// True if the job may start now; otherwise it is kept, and started by [Submission#admitted].
  synchronized boolean enter(Job job) {
    if (waiting.isEmpty()) {
      Platform.locked(1);
      long early = mayStart();
      Platform.locked(-1);
      if (early == 0) {
        return true;
      }
      waiting.add(job);
      lookAfter(early);
    } else {
      waiting.add(job);
    }
    scheduler.count(Counters.RATE_DELAYED, 1, scheduler.submission().currentRunner());
    return false;
  }

  /// 0 and a permit taken; or the time until a token is there; or -1 if a permit is missing.
  private long mayStart() {
    if (active >= limit.maxConcurrentRequests()) {
      return -1;
    }
    long early = bucket == null ? 0 : bucket.tryTake(Platform.nanoTime());
    if (early == 0) {
      active++;
      if (Checks.ON) {
        Checks.that(active <= limit.maxConcurrentRequests(), "I12 requests running at a time");
      }
    }
    return early;
  }

  private void startWaiting() {
    Platform.locked(1);
    try {
      startAllThatMay();
    } finally {
      Platform.locked(-1);
    }
  }

  private void startAllThatMay() {
    for (Job job = waiting.peek(); job != null; job = waiting.peek()) {
      if (job.bootstrapGone()) {
        waiting.remove(); // canceled
        continue;
      }
      long early = mayStart();
      if (early != 0) {
        lookAfter(early);
        return;
      }
      waiting.remove();
      if (!scheduler.submission().admitted(job)) {
        active--; // canceled at the last moment; its token is spent
      }
    }
  }

  private void lookAfter(long earlyNanos) {
    if (earlyNanos > 0 && !timed) {
      timed = true;
      scheduler.watcher().schedule(Duration.ofNanos(earlyNanos), this::timeIsUp);
    }
  }

  private synchronized void timeIsUp() {
    timed = false;
    startWaiting();
  }
}
