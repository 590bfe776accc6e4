package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerConfig.RejectionPolicy;
import dev.kakehashi.scheduler.platform.Platform;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/// Where work from outside comes in: the inboxes, striped by submitting thread, what happens when one is full, and
/// the overflow for what must not be refused. Thread-safe.
final class Intake {
  // Backstop of a wait for room.
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final Inbox[] inboxes;
  private final OverflowQueue overflow = new OverflowQueue();
  private final Sleepers sleepers;
  private final EventCount room = new EventCount();
  private final RejectionPolicy policy;
  private final long capacity;

  // For busy workers: something is in an inbox, probably. Mostly read; written a few thousand times
  // a second.
  private volatile boolean waiting;

  Intake(SchedulerConfig config, Sleepers sleepers, Job jobless) {
    this.sleepers = sleepers;
    policy = config.rejectionPolicy();
    capacity = config.get(Parameter.INBOX_CAPACITY);
    inboxes = new Inbox[config.workers()];
    Arrays.setAll(
        inboxes,
        i -> new Inbox((int) capacity, jobless, room, config.intValue(Parameter.LATENCY_SAMPLING)));
  }

  Inbox[] inboxes() {
    return inboxes;
  }

  OverflowQueue overflow() {
    return overflow;
  }

  /// Queues an accepted task; never refuses and never blocks. A call that throws has queued nothing.
  void enqueue(Inbox inbox, Task task, @Nullable Job job, boolean immediate) {
    if (!inbox.offer(task, job)) {
      overflow.add(task, job);
    }
    try {
      tell(inbox, immediate);
    } catch (StackOverflowError queued) {
      sleepers.signalMissed = true;
    }
  }

  /// Tells workers about what was queued: a sleeper first, because that takes long, then the busy ones.
  private void tell(Inbox inbox, boolean immediate) {
    sleepers.signal(immediate, inbox);
    if (!waiting) {
      waiting = true;
    }
  }

  /// Whether something may have waited in an inbox since one was last found empty.
  boolean waiting() {
    return waiting;
  }

  /// Called after a look into the inboxes. Takes the flag back when they are empty, and looks once more. A task that was queued before that
  /// is seen here. A thread that queues after it finds the flag taken back and sets it again.
  void looked() {
    if (waiting && areInboxesEmpty()) {
      waiting = false;
      if (!areInboxesEmpty()) {
        waiting = true;
      }
    }
  }

  /// Queues if there is room. A call that throws has queued nothing.
  boolean offer(Inbox inbox, Task task, Job job, boolean immediate) {
    if (!inbox.offer(task, job)) {
      return false;
    }
    try {
      tell(inbox, immediate);
    } catch (StackOverflowError queued) {
      sleepers.signalMissed = true;
    }
    return true;
  }

  /// Queues a task without a job if there is room and the inbox is open.
  boolean offerJobless(Inbox inbox, Task task) {
    if (!inbox.offerJobless(task)) {
      return false;
    }
    try {
      tell(inbox, false);
    } catch (StackOverflowError queued) {
      sleepers.signalMissed = true;
    }
    return true;
  }

  /// The inbox was full: waits, refuses, or returns false if the caller is to run the task itself, as the policy
  /// says. `attempt` tries again and says whether that was the end of it.
  boolean whenFull(String what, java.util.function.BooleanSupplier attempt) {
    switch (policy) {
      case THROW ->
          throw new RejectedExecutionException(
              "could not accept " + what + ": the inbox is full, inboxCapacity=" + capacity);
      case CALLER -> {
        return false;
      }
      case BLOCK -> {
        for (; ; ) {
          long key = room.prepare();
          boolean over;
          try {
            over = attempt.getAsBoolean();
          } catch (RuntimeException e) {
            room.cancel(key);
            throw e;
          }
          if (over) {
            room.cancel(key);
            return true;
          }
          if (Platform.currentThread().isInterrupted()) {
            room.cancel(key);
            throw new RejectedExecutionException("interrupted while waiting for room for " + what);
          }
          room.await(key, RETRY);
        }
      }
    }
    throw new AssertionError(policy);
  }

  /// Refuses tasks without a job from now on; exact: tasks that were queued before are in the inboxes.
  void close() {
    for (Inbox inbox : inboxes) {
      inbox.close();
    }
    room.notifyWaiters();
  }

  boolean isEmpty() {
    return areInboxesEmpty() && overflow.isEmpty();
  }

  private boolean areInboxesEmpty() {
    for (Inbox inbox : inboxes) {
      if (!inbox.isEmpty()) {
        return false;
      }
    }
    return true;
  }
}
