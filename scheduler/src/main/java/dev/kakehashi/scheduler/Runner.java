package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.Platform.Mutation;
import dev.kakehashi.scheduler.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/// A thread's side of the scheduler: runs tasks, one at a time, and is their context. Confined to its thread.
///
/// **Credits.** A job's count is one contended word, so a runner takes and returns counts in bulk. `credit` is the
/// number of counts of `job` that this runner holds and no task stands for. A spawn uses one up, taking 64 more
/// with one RMW when there is none; an ended task leaves its count behind as a credit. They are
/// returned ([#flush()]) when the runner turns to another job, finds nothing to do at once, or is about to
/// sleep. Until then the job cannot end, and it must not be kept from ending for longer: every path on which a runner
/// waits or runs something else passes through `flush`.
///
/// Whatever a spawn runs into, no memory or no stack left, the count stays exact: a queue that throws has queued
/// nothing, and then the count goes back to the credits without a call that could fail in turn.
///
/// **Tail calls.** `await` and `resubmit` only note what to do; it is done after the task's method has returned,
/// because the successor may start on another thread at that instant.
abstract class Runner implements TaskContext {
  private static final int CREDIT_BATCH = 64;
  private static final long NOTHING = -1;
  private static final VarHandle RUNNING;
  private static final VarHandle PREEMPTED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      RUNNING = lookup.findVarHandle(Runner.class, "running", long.class);
      PREEMPTED = lookup.findVarHandle(Runner.class, "preempted", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final TaskScheduler scheduler;
  final Counters counters;
  private final Job jobless;
  private final int tailLimit;

  private @Nullable Job job;
  private volatile long turnNanos; // when it turned to `job`, if that is timed
  private long credit;
  private long spawnedSinceFlush;
  private long finishedSinceFlush;
  private long refusedSinceFlush; // counted as accepted, and then not queued

  /// Has a permit for a lane that could not be queued for lack of stack.
  @Nullable Lane owedLane;

  /// How many tasks the last [#pushAllNewest] has queued.
  int pushedOfAll;

  // Number of the task or callback that runs, or NOTHING: how many ran before. Opaque: the watchdog
  // reads it.
  private long running = NOTHING;
  private long callbackEnds; // counts beginnings and ends
  private @Nullable Job callbackJob;

  private boolean stolen;

  // Number of the task that the watchdog wants to end: a request that comes late is meant for no
  // other task. Opaque: a hint orders nothing.
  @SuppressWarnings("unused") // through its VarHandle
  private long preempted = NOTHING;

  private long honoured = NOTHING;

  private @Nullable Task tailTask;
  private @Nullable Condition tailCondition;
  private long tailTicket;

  Runner(TaskScheduler scheduler, Counters counters) {
    this.scheduler = scheduler;
    this.jobless = scheduler.jobless();
    this.counters = counters;
    this.tailLimit = scheduler.config().intValue(SchedulerConfig.Parameter.TAIL_LIMIT);
  }

  /// Queues a task at the newest end of what this runner has, and tells the others.
  abstract void pushNewest(Task task, Job job);

  /// Queues tasks at the newest end with one publication.
  abstract void pushAllNewest(Task[] tasks, Job job);

  /// Queues a task at the old end.
  abstract void pushOldest(Task task, Job job);

  /// Runs a task and its successors. The task's count of the job comes with it.
  final void execute(Task first, Job itsJob, boolean wasStolen) {
    stolen = wasStolen;
    if (itsJob == jobless) {
      flush();
      runJobless(first);
      return;
    }
    if (itsJob != job) {
      flush();
      job = itsJob;
      if (itsJob.clock != null) {
        startClock(itsJob.clock);
      }
    }
    itsJob.markStarted();
    run(first, itsJob, 1);
  }

  private void startClock(JobClock clock) {
    long now = Platform.nanoTime();
    turnNanos = now;
    clock.turn(this, now);
  }

  private void stopClock(JobClock clock) {
    clock.worked(Platform.nanoTime() - turnNanos);
    turnNanos = 0;
  }

  /// Since when the runner works for that job, or 0; a guess for other threads.
  @SuppressWarnings("ReferenceEquality") // the same job
  final long turnNanos(Job asked) {
    long since = turnNanos;
    return job == asked ? since : 0;
  }

  private void run(Task first, Job itsJob, int alreadyInRow) {
    Task task = first;
    for (int inRow = alreadyInRow; ; inRow++) {
      if (itsJob.cancelled()) {
        discard(task, itsJob);
        return;
      }
      Task next = successor(runOne(task), itsJob, inRow);
      if (next == null) {
        return;
      }
      task = next;
    }
  }

  /// Accounts for a task that has run and returned `next`; the task to run now, or null.
  private @Nullable Task successor(@Nullable Task next, Job itsJob, int inRow) {
    if (tailTask != null) {
      finishTailCall(itsJob, next);
      return null;
    }
    finishedSinceFlush++;
    if (next == null) {
      credit++;
      return null;
    }
    // The successor takes over its predecessor's count.
    spawnedSinceFlush++;
    counters.accepted(1);
    if (inRow >= tailLimit) {
      requeue(next, itsJob);
      return null;
    }
    counters.tailRan();
    return next;
  }

  /// Runs a task without a job and its successors. `job` is null meanwhile, unless the task needs one and
  /// [#running()] makes it: then it goes on as a task of that job.
  private void runJobless(Task first) {
    Task task = first;
    for (int inRow = 1; ; inRow++) {
      if (scheduler.discardsJobless()) {
        discardJobless(task);
        return;
      }
      Task next = runOne(task);
      Job made = job;
      if (made != null) {
        counters.addReleased(Counters.JOBLESS_ENDED); // the registry has it now
        Task rest = successor(next, made, inRow);
        if (rest != null) {
          run(rest, made, inRow + 1);
        }
        return;
      }
      if (next != null) {
        counters.accepted(1);
        counters.add(Counters.JOBLESS_TAKEN);
      }
      counters.addReleased(Counters.JOBLESS_ENDED);
      if (next == null) {
        return;
      }
      if (inRow >= tailLimit) {
        requeueJobless(next);
        return;
      }
      counters.tailRan();
      task = next;
    }
  }

  /// Queues a task at the old end; its count goes with it, or stays here if there is no memory for it.
  private void requeue(Task next, Job itsJob) {
    try {
      pushOldest(next, itsJob);
    } catch (Throwable t) {
      itsJob.fail(t);
      discard(next, itsJob);
    }
  }

  private void requeueJobless(Task next) {
    try {
      pushOldest(next, jobless);
    } catch (Throwable t) {
      scheduler.uncaught("task", t);
      discardJobless(next);
    }
  }

  private void discardJobless(Task task) {
    Job none = scheduler.submission().adopt();
    none.cancel(new CancellationException("the scheduler has shut down"));
    job = none;
    discard(task, none);
    counters.addReleased(Counters.JOBLESS_ENDED);
  }

  private @Nullable Task runOne(Task task) {
    RUNNING.setOpaque(this, nextNumber());
    try {
      return task.run(this);
    } catch (Throwable t) {
      // Errors included: a worker outlives its tasks, and the job reports what happened.
      tailTask = null;
      tailCondition = null;
      counters.add(Counters.TASKS_FAILED);
      Job failed = job;
      if (failed != null) {
        failed.fail(t);
      } else {
        scheduler.uncaught("task", t);
      }
      return null;
    } finally {
      RUNNING.setOpaque(this, NOTHING);
      counters.ran();
    }
  }

  private long nextNumber() {
    return counters.tasksRun() + callbackEnds;
  }

  /// User code that is no task begins on this thread: a teardown, a callback, a check. Not inside another one.
  ///
  /// @return for [#leaveCallback]: what runs around it
  final long enterCallback(@Nullable Job its) {
    long around = running;
    callbackEnds++;
    callbackJob = its;
    RUNNING.setOpaque(this, nextNumber());
    return around;
  }

  final void leaveCallback(long around) {
    RUNNING.setOpaque(this, around);
    callbackJob = null;
    callbackEnds++;
  }

  private void finishTailCall(Job itsJob, @Nullable Task returned) {
    Task next = Objects.requireNonNull(tailTask);
    Condition condition = tailCondition;
    tailTask = null;
    tailCondition = null;
    spawnedSinceFlush++;
    finishedSinceFlush++;
    counters.accepted(1);
    if (returned != null) {
      itsJob.fail(
          new IllegalStateException(
              "a task returned a successor after await or resubmit: return the call's result"));
      discard(next, itsJob);
      counters.accepted(1);
      spawnedSinceFlush++;
      credit--; // the returned one never had a count of its own; discarding adds one
      discard(returned, itsJob);
      return;
    }
    if (condition == null || passes(condition, next, itsJob)) {
      requeue(next, itsJob);
    }
  }

  /// Whether the task is still ours, to be queued at once.
  private boolean passes(Condition condition, Task next, Job itsJob) {
    long around = condition.isPolled() ? enterCallback(itsJob) : running;
    try {
      boolean passed = condition.register(next, itsJob, tailTicket);
      if (!passed) {
        counters.add(Counters.CONDITION_WAITS);
      }
      return passed;
    } finally {
      if (condition.isPolled()) {
        leaveCallback(around);
      }
    }
  }

  private void discard(Task task, Job itsJob) {
    // Its count is ours from here on, whatever discarded() does.
    credit++;
    finishedSinceFlush++;
    if (!Platform.mutated(Mutation.DISCARD_NOT_COUNTED)) {
      counters.add(Counters.TASKS_DISCARDED);
    }
    long around = enterCallback(itsJob);
    try {
      task.discarded(itsJob);
    } catch (Throwable t) {
      scheduler.uncaught("discarded() of a task", itsJob, t);
    } finally {
      leaveCallback(around);
    }
  }

  /// Queues the lane that is owed.
  final void settle() {
    Lane lane = owedLane;
    if (lane != null) {
      lane.publishOwed(this);
      owedLane = null;
    }
  }

  /// Returns all credits; ends the job here and now if they were its last counts.
  final void flush() {
    settle();
    Job flushed = job;
    if (flushed == null) {
      return;
    }
    job = null;
    if (flushed.clock != null) {
      stopClock(flushed.clock);
    }
    long counts = credit;
    credit = 0;
    if (refusedSinceFlush != 0) {
      counters.accepted(-refusedSinceFlush);
      refusedSinceFlush = 0;
    }
    flushed.addStatistics(spawnedSinceFlush, finishedSinceFlush, counts);
    spawnedSinceFlush = 0;
    finishedSinceFlush = 0;
    Platform.point(Point.JOB_COUNT);
    if (counts != 0 && flushed.returnPending(counts)) {
      flushed.complete(this);
    }
  }

  private void takeCounts(Job itsJob, int counts) {
    if (Platform.mutated(Mutation.SPAWN_NOT_COUNTED)) {
      return;
    }
    if (credit < counts) {
      itsJob.addPending(CREDIT_BATCH + counts);
      credit += CREDIT_BATCH + counts;
    }
    counters.accepted(counts); // the last call: what throws has taken nothing
    credit -= counts;
    spawnedSinceFlush += counts;
  }

  private Job running() {
    if (running == NOTHING) {
      throw new IllegalStateException("a task context is valid only while its task runs");
    }
    Job current = job;
    return current != null ? current : adopted();
  }

  private Job adopted() {
    Job made = scheduler.submission().adopt();
    made.markStarted();
    job = made;
    return made;
  }

  // ---- for the watchdog, on its thread ----

  /// Number of the task or callback that runs now, or -1.
  final long runningTask() {
    return (long) RUNNING.getOpaque(this);
  }

  /// Job of the running task or callback; a guess, as it may end at any time.
  final @Nullable Job observedJob() {
    Job ending = callbackJob;
    return ending != null ? ending : job;
  }

  /// Whether a callback runs, no task; a guess likewise.
  final boolean observedCallback() {
    return (callbackEnds & 1) != 0;
  }

  /// Asks the task of that number to end.
  final void preempt(long task) {
    PREEMPTED.setOpaque(this, task);
  }

  // ---- TaskContext ----

  @Override
  public final Job job() {
    return running();
  }

  @Override
  public final TaskScheduler scheduler() {
    return scheduler;
  }

  @Override
  public final boolean stolen() {
    return stolen;
  }

  @Override
  public final void spawn(Task child) {
    Objects.requireNonNull(child, "child");
    Job current = running();
    takeCounts(current, 1);
    boolean queued = false;
    try {
      pushNewest(child, current);
      queued = true;
    } finally {
      if (!queued) {
        credit++;
        spawnedSinceFlush--;
        refusedSinceFlush++;
      }
    }
  }

  @Override
  public final void spawnAll(Task... children) {
    spawnEach(children.clone());
  }

  @Override
  public final void spawnAll(List<? extends Task> children) {
    spawnEach(children.toArray(new Task[0]));
  }

  /// Of an array that nobody else has: what is checked stays.
  private void spawnEach(Task[] children) {
    Job current = running();
    for (Task child : children) {
      Objects.requireNonNull(child, "child"); // before anything is counted
    }
    if (children.length > 0) {
      takeCounts(current, children.length);
      pushedOfAll = 0;
      try {
        pushAllNewest(children, current);
      } finally {
        int refused = children.length - pushedOfAll; // no call, as in spawn
        credit += refused;
        spawnedSinceFlush -= refused;
        refusedSinceFlush += refused;
      }
    }
  }

  @Override
  public final void submit(Task task) {
    submit(task, Option.DEFAULT);
  }

  @Override
  public final void submit(Task task, Option option) {
    Objects.requireNonNull(task, "task");
    Job current = running();
    switch (option) {
      case LOCAL -> spawn(task);
      case YIELDING, DEFAULT, IMMEDIATE -> queue(task, current, option, null);
      case CALLER, DIRECT ->
          throw new IllegalArgumentException(
              "option " + option + " is not for tasks of a running job");
    }
  }

  @Override
  public final void submit(Lane lane, Task task) {
    Objects.requireNonNull(task, "task");
    queue(task, running(), Option.DEFAULT, lane);
  }

  private void queue(Task task, Job current, Option option, @Nullable Lane lane) {
    settle();
    takeCounts(current, 1);
    boolean queued = false;
    try {
      if (lane != null) {
        lane.submit(task, current, this);
      } else if (option == Option.YIELDING) {
        pushOldest(task, current);
      } else {
        scheduler.submission().publish(task, current, option);
      }
      queued = true;
    } finally {
      if (!queued) { // no call, as in spawn
        credit++;
        spawnedSinceFlush--;
        refusedSinceFlush++;
      }
    }
  }

  @Override
  public final boolean shouldYield() {
    long asked = (long) PREEMPTED.getOpaque(this);
    return asked >= 0 && isWantedBack(asked);
  }

  private boolean isWantedBack(long asked) {
    if (asked != running) {
      return false; // another task's
    }
    if (honoured != asked) {
      honoured = asked;
      counters.add(Counters.PREEMPT_HONOURED);
    }
    return true;
  }

  @Override
  public final boolean cancelled() {
    Job current = job;
    return current != null ? running().cancelled() : scheduler.discardsJobless();
  }

  @Override
  public final @Nullable Task await(Condition condition, Task next) {
    return await(condition, Condition.NO_TICKET, next);
  }

  @Override
  public final @Nullable Task await(Condition condition, long ticket, Task next) {
    tailCall(next);
    tailCondition = Objects.requireNonNull(condition, "condition");
    tailTicket = ticket;
    return null;
  }

  @Override
  public final @Nullable Task resubmit(Task rest) {
    tailCall(rest);
    return null;
  }

  private void tailCall(Task next) {
    running();
    Objects.requireNonNull(next, "next");
    if (tailTask != null) {
      throw new IllegalStateException("a task can end with one await or resubmit only");
    }
    tailTask = next;
  }

  @Override
  public final void progress(long done) {
    running().addReported(done);
  }
}
