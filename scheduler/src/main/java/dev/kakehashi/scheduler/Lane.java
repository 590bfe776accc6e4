package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Checks;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Bounded concurrency: at most `permits` of its tasks or jobs are active at once, started in order of
/// submission. With one permit, consecutive ones never overlap and each sees what the one before wrote: the lane of a
/// transaction. Nothing waits: what finds no permit stays in the lane's queue. Thread-safe.
///
/// ```
///  state   63        62..48     47..0
///          sealed    active     pending       written by everyone, by CAS or getAndAdd
///  items   task, job, task, job ...           guarded by the deque's own lock
/// ```
///
/// `pending` counts what was accepted and has not ended, `active` the permits given out. A submission puts its
/// item into the queue and counts it under the lock, and takes a permit in the same CAS if one is free and not
/// all that is pending is active. A permit is given back in the same CAS that proves that nothing is left for it
/// (`pending < active`); otherwise it is kept and the lane's task queued again. So no item is left behind, without a
/// lock around draining. Because the CAS chain on `state` orders the return of a permit before
/// the next taking, consecutive items of a lane with one permit are ordered by happens-before.
public final class Lane {
  private static final long SEALED = 1L << 63;
  private static final int ACTIVE_SHIFT = 48;
  private static final long ONE_ACTIVE = 1L << ACTIVE_SHIFT;
  private static final long PENDING_MASK = ONE_ACTIVE - 1;

  /// Most permits a lane can have: the width of the field.
  static final int MAX_PERMITS = (1 << 15) - 1;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Lane.class, "state", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final TaskScheduler scheduler;
  private final int permits;
  private final int pinnedWorker; // -1: none
  private final LaneTask laneTask = new LaneTask(this);
  private volatile long state;
  private volatile int homeWorker = -1; // a hint: racy writes by whichever worker ran the lane last

  // Guarded by this. The task of a bootstrap item is the lane's own, because a canceled job's
  // bootstrap may be gone by then.
  private final TaskRing items = new TaskRing();
  private @Nullable Job last;

  Lane(TaskScheduler scheduler, int permits, Affinity affinity) {
    if (permits < 1 || permits > MAX_PERMITS) {
      throw new IllegalArgumentException(
          "permits of a lane must be between 1 and " + MAX_PERMITS + ", not " + permits);
    }
    if (affinity == Affinity.PINNED && permits != 1) {
      throw new IllegalArgumentException("a pinned lane has one permit, not " + permits);
    }
    this.scheduler = scheduler;
    this.permits = permits;
    pinnedWorker = affinity == Affinity.PINNED ? scheduler.submission().nextPinnedWorker() : -1;
  }

  /// Most active at once.
  public int permits() {
    return permits;
  }

  /// Where its tasks run.
  public Affinity affinity() {
    return pinnedWorker < 0 ? Affinity.HOME : Affinity.PINNED;
  }

  /// Submits an anonymous job of one bootstrap task that takes a permit until it ends.
  ///
  /// @throws IllegalStateException if the lane is sealed
  /// @throws SchedulerStoppedException if the scheduler is shutting down
  public Job submit(Task task) {
    return scheduler.job("lane").lane(this).submit(task);
  }

  /// Accepted and not ended, active ones included.
  public int pending() {
    return (int) Math.min(Integer.MAX_VALUE, state & PENDING_MASK);
  }

  /// Permits in use.
  public int active() {
    return active(state);
  }

  /// Whether [#seal] was called.
  public boolean sealed() {
    return state < 0;
  }

  /// The worker that it is pinned to, or the one that ran the lane last and is preferred next, or -1.
  public int homeWorker() {
    return pinnedWorker < 0 ? homeWorker : pinnedWorker;
  }

  /// Refuses further submissions and runs `last` in a job of its own after all accepted ones have ended: the
  /// deferred end of a transaction. Exactly one call succeeds.
  ///
  /// @return false if the lane was sealed before; `last` is not taken then
  public boolean seal(Task last) {
    Objects.requireNonNull(last, "last");
    Job job;
    boolean empty;
    synchronized (this) {
      if (sealed()) {
        return false;
      }
      job = scheduler.submission().acceptDeferred("seal", last, false);
      this.last = job;
      empty = ((long) STATE.getAndBitwiseOr(this, SEALED)) == 0;
    }
    if (empty) {
      runLast(job);
    }
    return true;
  }

  /// Queues a task of a running job.
  void submit(Task task, Job job, @Nullable Runner runner) {
    if (offer(task, job)) {
      try {
        publish(runner);
      } catch (StackOverflowError e) {
        if (runner == null) {
          throw e;
        }
        runner.owedLane = this;
      }
    }
  }

  /// Publishes the lane for a runner whose stack had no room for it.
  void publishOwed(Runner runner) {
    publish(runner);
  }

  /// Queues a job; its bootstrap task runs when a permit is free.
  void submitJob(Job job, @Nullable Runner runner) {
    if (offer(laneTask, job)) {
      publish(runner);
    }
  }

  private void publish(@Nullable Runner runner) {
    if (pinnedWorker < 0 || Platform.mutated(Mutation.PINNED_ANYWHERE)) {
      scheduler.submission().publishLane(laneTask, homeWorker, runner);
    } else {
      scheduler.submission().publishPinned(laneTask, pinnedWorker, runner);
    }
  }

  /// Takes a permit for a job if one is free and nothing waits for it.
  boolean tryEnter() {
    if (pinnedWorker >= 0) {
      return false; // its permit is for that worker's thread
    }
    long s;
    do {
      s = state;
      if (s < 0 || active(s) >= permits || (s & PENDING_MASK) != active(s)) {
        return false;
      }
    } while (!STATE.compareAndSet(this, s, s + ONE_ACTIVE + 1));
    return true;
  }

  /// `ended` of the permit's items have ended; gives the permit back, or keeps it and goes on.
  void release(int ended, @Nullable Runner runner) {
    Platform.point(Point.LANE_RELEASE);
    if (Platform.mutated(Mutation.LANE_PERMIT_BEFORE_COUNT)) {
      STATE.getAndAdd(this, -ONE_ACTIVE);
      Platform.point(Point.LANE_RELEASE);
      STATE.getAndAdd(this, (long) -ended);
      return;
    }
    long s;
    long next;
    boolean keep;
    do {
      s = state;
      long pending = (s & PENDING_MASK) - ended;
      if (Checks.ON) {
        Checks.that(pending >= 0 && active(s) > 0, "a lane gives back what it has");
      }
      keep = pending >= active(s);
      next = s - ended - (keep ? 0 : ONE_ACTIVE);
    } while (!STATE.compareAndSet(this, s, next));
    if (keep) {
      publish(runner);
    } else if (next == SEALED) {
      Job sealing;
      synchronized (this) {
        sealing = last;
      }
      if (sealing != null) {
        runLast(sealing);
      }
    }
  }

  private void runLast(Job job) {
    Task bootstrap = job.claimBootstrap();
    if (bootstrap != null) {
      scheduler.submission().publish(bootstrap, job, Option.DEFAULT);
    }
  }

  private boolean offer(Task task, Job job) {
    synchronized (this) {
      if (sealed()) {
        throw new IllegalStateException("cannot submit to a sealed lane");
      }
      items.addLast(task, job);
      boolean counted = false;
      try {
        long s;
        boolean take;
        do {
          s = state;
          take =
              (active(s) < permits || Platform.mutated(Mutation.LANE_WITHOUT_LIMIT))
                  && (s & PENDING_MASK) + 1 > active(s);
          counted = STATE.compareAndSet(this, s, s + 1 + (take ? ONE_ACTIVE : 0));
        } while (!counted);
        return take;
      } finally {
        if (!counted) { // no stack for a call
          items.used -= 2;
        }
      }
    }
  }

  private static int active(long state) {
    return (int) ((state & ~SEALED) >>> ACTIVE_SHIFT);
  }

  /// Runs up to `laneBatch` items with one permit, which came with it.
  private void run(Runner runner) {
    if (pinnedWorker >= 0
        && runner.workerIndex() != pinnedWorker
        && !Platform.mutated(Mutation.PINNED_ANYWHERE)) {
      publish(runner); // its worker has failed with it in hand, and gave it to whoever comes
      return;
    }
    homeWorker = runner.workerIndex();
    if (Checks.ON) {
      Checks.that(active() <= permits, "I3: active <= permits");
      Checks.that(
          pinnedWorker < 0 || pinnedWorker == homeWorker, "I4: a pinned lane on its own worker");
    }
    int ended = 0;
    for (int i = scheduler.laneBatch(); i > 0; i--) {
      Task task;
      Job job;
      synchronized (this) {
        boolean newest = Platform.mutated(Mutation.LANE_NEWEST_FIRST);
        Task next = newest ? items.lastTask() : items.firstTask();
        if (next == null) {
          break;
        }
        task = next;
        job = Objects.requireNonNull(newest ? items.lastJob() : items.firstJob());
        if (newest) {
          items.undoLast();
        } else {
          items.removeFirst();
        }
      }
      Platform.point(Point.LANE_ITEM);
      if (task.equals(laneTask)) {
        Task bootstrap = job.claimBootstrap();
        if (bootstrap != null) {
          runner.counters.add(Counters.LANE_RUNS);
          // The permit is the job's from here on; only what ended before is counted off.
          if (ended > 0) {
            STATE.getAndAdd(this, (long) -ended);
          }
          job.takeLanePermit();
          runner.execute(bootstrap, job, false);
          return;
        }
      } else {
        runner.counters.add(Counters.LANE_RUNS);
        runner.execute(task, job, false);
      }
      ended++;
      if (permits > 1 && i > 1) {
        // Others count what is left by `pending`: at most one ended item per permit may hide in it.
        STATE.getAndAdd(this, -1L);
        ended--;
      }
    }
    release(ended, runner);
  }

  private static final class LaneTask implements InternalTask {
    private final Lane lane;

    LaneTask(Lane lane) {
      this.lane = lane;
    }

    @Override
    public void runInternal(Runner runner) {
      lane.run(runner);
    }
  }
}
