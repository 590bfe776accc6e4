package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Checks;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Something that tasks wait for without occupying a thread: see [TaskContext#await(Condition, Task)].
///
/// A *signalled* condition costs nothing while tasks wait; [#signal()] queues them. A *polled* one has a check
/// that the watcher thread evaluates every `watcherInterval` while at least one task waits. The tasks
/// always run on workers. A check that was false `conditionMissLimit` times in a row is *promoted*: its next look is
/// queued like a task, where any worker can take it, so that conditions that take long do not keep the watcher from the
/// others; then the watcher polls it again. Thread-safe. Needs no closing: it lives as long as it is referenced.
///
/// State, guarded by this: the waiters as a list in order of arrival, `epoch` (signals so far) and
/// `seen` (the epoch that waits without ticket have already used up). A waiter is claimed (taken
/// off the list, or refused entry) exactly once, under this lock; only the claimer queues its task.
public final class Condition {
  /// One waiting task.
  static final class Waiter {
    final Condition condition;
    final Task task;
    final Job job;
    private @Nullable Waiter previous;
    private @Nullable Waiter next;
    private boolean linked;
    private boolean claimed;

    @SuppressWarnings("unused") // through its VarHandle, under checks only
    private volatile boolean queued;

    Waiter(Condition condition, Task task, Job job) {
      this.condition = condition;
      this.task = task;
      this.job = job;
    }

    /// Takes the task off the condition and queues it, to be discarded: its job was canceled.
    void withdraw() {
      synchronized (condition) {
        if (claimed) {
          return;
        }
        claimed = true;
        condition.unlink(this);
      }
      job.removeWaiter(this);
      queue(Option.IMMEDIATE);
    }

    private void queue(Option option) {
      if (Checks.ON) {
        Checks.that(QUEUED.compareAndSet(this, false, true), "I8: a waiter is queued once");
      }
      condition.scheduler.submission().publish(task, job, option);
    }
  }

  private static final VarHandle QUEUED;

  static {
    try {
      QUEUED = MethodHandles.lookup().findVarHandle(Waiter.class, "queued", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /// Ticket of a wait without ticket.
  static final long NO_TICKET = -1;

  private final TaskScheduler scheduler;
  private final @Nullable BooleanSupplier check;
  private @Nullable Waiter head;
  private @Nullable Waiter tail;
  private int waiting;
  private long epoch;
  private long seen;
  private boolean watched; // the watcher has this condition on its list, or a worker its check
  private int misses; // polls that found the check false; of whoever polls, one at a time

  Condition(TaskScheduler scheduler, @Nullable BooleanSupplier check) {
    this.scheduler = scheduler;
    this.check = check;
  }

  /// A ticket for [TaskContext#await(Condition, long, Task)]: any later signal will let that wait pass.
  public synchronized long prepare() {
    return epoch;
  }

  /// Queues every task that waits now; if none does, the next wait without ticket passes at once. Never
  /// blocks and never runs a task; cheap enough for a polling thread.
  public void signal() {
    fire(Option.DEFAULT);
  }

  /// Number of tasks waiting now.
  public synchronized int pending() {
    return waiting;
  }

  boolean isPolled() {
    return check != null;
  }

  void fire(Option option) {
    Platform.point(Point.CONDITION);
    Waiter fired;
    synchronized (this) {
      fired = head;
      if (fired == null && Platform.mutated(Mutation.CONDITION_FORGETS_SIGNAL)) {
        return;
      }
      epoch++;
      if (fired == null) {
        return;
      }
      seen = epoch; // the tasks fired here will look after this signal
      for (Waiter w = fired; w != null; w = w.next) {
        if (Platform.mutated(Mutation.CONDITION_FIRES_TWICE)) {
          break; // a cancel may queue it once more
        }
        w.claimed = true;
        w.linked = false;
      }
      head = null;
      tail = null;
      waiting = 0;
    }
    scheduler.count(Counters.CONDITIONS_FIRED, 1, null);
    Platform.point(Point.CONDITION);
    for (Waiter w = fired; w != null; ) {
      Waiter next = w.next;
      w.next = null;
      w.previous = null;
      w.job.removeWaiter(w);
      w.queue(option);
      w = next;
    }
  }

  /// Registers a task whose predecessor has ended; the job's count goes with it. True if the caller
  /// must queue it at once: signalled since the ticket, check already true, or job canceled.
  boolean register(Task task, Job job, long ticket) {
    if (check != null && checkNow(job)) {
      return true;
    }
    Waiter waiter = new Waiter(this, task, job);
    Platform.point(Point.CONDITION);
    try {
      if (!job.addWaiter(waiter)) {
        return true;
      }
      return isPassed(waiter, ticket);
    } catch (Throwable t) { // no memory
      job.fail(t);
      return isTakenBack(waiter);
    }
  }

  private boolean isPassed(Waiter waiter, long ticket) {
    boolean passed;
    boolean watch;
    synchronized (this) {
      if (waiter.claimed) {
        return false; // a cancel came between and has queued it
      }
      passed = ticket == NO_TICKET ? epoch != seen : epoch != ticket;
      if (passed) {
        waiter.claimed = true;
        seen = epoch;
      } else {
        link(waiter);
      }
      watch = !passed && check != null && !watched;
      if (watch) {
        watched = true;
      }
    }
    if (passed) {
      waiter.job.removeWaiter(waiter);
      return true;
    }
    if (watch) {
      watch();
    }
    return false;
  }

  private void watch() {
    boolean watching = false;
    try {
      scheduler.watcher().watch(this);
      watching = true;
    } finally {
      if (!watching) {
        synchronized (this) {
          watched = false;
        }
      }
    }
  }

  private synchronized boolean isTakenBack(Waiter waiter) {
    if (waiter.claimed) {
      return false;
    }
    waiter.claimed = true;
    unlink(waiter);
    return true;
  }

  /// One look of the watcher; false if the watcher must forget this condition, because nobody waits any more or because
  /// its next look is a worker's.
  boolean poll() {
    return poll(scheduler.conditionMissLimit());
  }

  private boolean poll(int missLimit) {
    synchronized (this) {
      if (head == null) {
        watched = false;
        return false;
      }
    }
    boolean ready;
    scheduler.count(Counters.CONDITIONS_CHECKED, 1, null);
    try {
      ready =
          check != null
              && (check.getAsBoolean() || Platform.mutated(Mutation.CONDITION_IGNORES_CHECK));
    } catch (Throwable t) {
      scheduler.uncaught("check of a condition", t);
      failWaiters(t);
      return true;
    }
    if (ready) {
      misses = 0;
      fire(Option.IMMEDIATE);
      return true;
    }
    if (missLimit == 0 || ++misses < missLimit) {
      return true;
    }
    misses = 0;
    scheduler.count(Counters.CONDITIONS_PROMOTED, 1, null);
    scheduler.submission().publishInternal(new PromotedLook(this));
    return false;
  }

  /// A promoted look: it runs on a worker, and hands the condition back to the watcher.
  private record PromotedLook(Condition condition) implements InternalTask {
    @Override
    public void runInternal(Runner runner) {
      boolean around = runner.enterCallback(null);
      try {
        if (condition.poll(0)) {
          condition.scheduler.watcher().watch(condition);
        }
      } finally {
        runner.leaveCallback(around);
      }
    }
  }

  private boolean checkNow(Job job) {
    try {
      return check != null && check.getAsBoolean();
    } catch (Throwable t) {
      job.fail(t);
      return true;
    }
  }

  private void failWaiters(Throwable thrown) {
    java.util.List<Job> jobs = new java.util.ArrayList<>();
    synchronized (this) {
      for (Waiter w = head; w != null; w = w.next) {
        jobs.add(w.job);
      }
    }
    jobs.forEach(job -> job.fail(thrown)); // cancels, which withdraws the waiters
  }

  private void link(Waiter waiter) {
    waiter.linked = true;
    waiter.previous = tail;
    if (tail == null) {
      head = waiter;
    } else {
      tail.next = waiter;
    }
    tail = waiter;
    waiting++;
  }

  private void unlink(Waiter waiter) {
    if (!waiter.linked) {
      return;
    }
    waiter.linked = false;
    if (waiter.previous == null) {
      head = waiter.next;
    } else {
      waiter.previous.next = waiter.next;
    }
    if (waiter.next == null) {
      tail = waiter.previous;
    } else {
      waiter.next.previous = waiter.previous;
    }
    waiter.previous = null;
    waiter.next = null;
    waiting--;
  }
}
