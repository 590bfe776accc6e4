package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/// A thread's side of the scheduler: runs tasks, one at a time, and is their context. Confined to its thread.
///
/// **Tail calls.** `await` and `resubmit` only note what to do; it is done after the task's method has returned,
/// because the successor may start on another thread at that instant.
abstract class Runner extends JobTurn implements TaskContext {
  private static final long NOTHING = -1;
  private static final VarHandle ACTIVE;
  private static final VarHandle CALLBACK_ENDS;
  private static final VarHandle PREEMPTED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      ACTIVE = lookup.findVarHandle(Runner.class, "active", boolean.class);
      CALLBACK_ENDS = lookup.findVarHandle(Runner.class, "callbackEnds", long.class);
      PREEMPTED = lookup.findVarHandle(Runner.class, "preempted", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final TaskScheduler scheduler;
  private final Job jobless;
  private final int tailLimit;

  /// Has a permit for a lane that could not be queued for lack of stack.
  @Nullable Lane owedLane;

  /// How many tasks the last [#pushAllNewest] has queued.
  int pushedOfAll;

  // A task or callback runs. Its number is how many tasks have ended, and beginnings and ends of
  // callbacks: of two sums that only grow the reader gets a number between that before and that
  // after its looks. Opaque: the watchdog reads them.
  private boolean active;
  private long callbackEnds;
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
    super(counters);
    this.scheduler = scheduler;
    this.jobless = scheduler.jobless();
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
    try {
      if (itsJob == jobless) {
        if (job != null || owedLane != null) {
          flush();
        }
        ACTIVE.setOpaque(this, true);
        runJobless(first);
        return;
      }
      if (itsJob != job) {
        flush();
        begin(itsJob);
      }
      ACTIVE.setOpaque(this, true);
      run(first, itsJob, 1);
    } finally {
      ACTIVE.setOpaque(this, false);
    }
  }

  private void run(Task first, Job itsJob, int alreadyInRow) {
    Task task = first;
    int inRow = alreadyInRow;
    while (!itsJob.canceled()) {
      Task next = successor(runOne(task), itsJob, inRow);
      if (next == null) {
        counters.tailsRan(inRow - alreadyInRow);
        return;
      }
      task = next;
      inRow++;
    }
    counters.tailsRan(inRow - alreadyInRow);
    discard(task, itsJob);
  }

  /// Successor of a task that has run and returned `next`: the task to run now, or null.
  private @Nullable Task successor(@Nullable Task next, Job itsJob, int inRow) {
    if (tailTask != null) {
      finishTailCall(itsJob, next);
      return null;
    }
    if (next == null) {
      credit++;
      return null;
    }
    // The successor takes over its predecessor's count.
    if (inRow >= tailLimit) {
      requeue(next, itsJob);
      return null;
    }
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
          counters.tailsRan(1);
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
      counters.tailsRan(1);
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
    begin(none);
    discard(task, none);
    counters.addReleased(Counters.JOBLESS_ENDED);
  }

  private @Nullable Task runOne(Task task) {
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
      counters.ran();
    }
  }

  /// User code that is no task begins on this thread: a teardown, a callback, a check. Not inside another one.
  ///
  /// @return for [#leaveCallback]: whether it is part of a task's turn
  final boolean enterCallback(@Nullable Job its) {
    boolean around = active;
    CALLBACK_ENDS.setOpaque(this, callbackEnds + 1);
    callbackJob = its;
    ACTIVE.setOpaque(this, true);
    return around;
  }

  final void leaveCallback(boolean around) {
    ACTIVE.setOpaque(this, around);
    callbackJob = null;
    CALLBACK_ENDS.setOpaque(this, callbackEnds + 1);
  }

  private void finishTailCall(Job itsJob, @Nullable Task returned) {
    Task next = Objects.requireNonNull(tailTask);
    Condition condition = tailCondition;
    tailTask = null;
    tailCondition = null;
    if (returned != null) {
      itsJob.fail(
          new IllegalStateException(
              "a task returned a successor after await or resubmit: return the call's result"));
      discard(next, itsJob);
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
    boolean around = condition.isPolled() && enterCallback(itsJob);
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
    discarded++;
    if (!Platform.mutated(Mutation.DISCARD_NOT_COUNTED)) {
      counters.add(Counters.TASKS_DISCARDED);
    }
    boolean around = enterCallback(itsJob);
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
    Job ended = end();
    if (ended != null) {
      ended.complete(this);
    }
  }

  private Job running() {
    if (!active) {
      throw new IllegalStateException("a task context is valid only while its task runs");
    }
    Job current = job;
    return current != null ? current : adopted();
  }

  private Job adopted() {
    Job made = scheduler.submission().adopt();
    begin(made);
    return made;
  }

  // ---- for the watchdog, on its thread ----

  /// Number of the task or callback that runs now, or -1.
  final long runningTask() {
    return (boolean) ACTIVE.getOpaque(this)
        ? counters.get(Counters.TASKS_RUN) + (long) CALLBACK_ENDS.getOpaque(this)
        : NOTHING;
  }

  /// Job of the running task or callback; a guess, as it may end at any time.
  final @Nullable Job observedJob() {
    Job ending = callbackJob;
    return ending != null ? ending : job;
  }

  /// Whether a callback runs, no task; a guess likewise.
  final boolean observedCallback() {
    return ((long) CALLBACK_ENDS.getOpaque(this) & 1) != 0;
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

  /// Spawns each task of an array that nobody else has: an element that was checked stays.
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
        credit += children.length - pushedOfAll; // no call, as in spawn
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
      }
    }
  }

  @Override
  public final boolean shouldYield() {
    long asked = (long) PREEMPTED.getOpaque(this);
    return asked >= 0 && isWantedBack(asked);
  }

  private boolean isWantedBack(long asked) {
    if (asked != runningTask()) {
      return false; // another task's
    }
    if (honoured != asked) {
      honoured = asked;
      counters.add(Counters.PREEMPT_HONOURED);
    }
    return true;
  }

  @Override
  public final boolean canceled() {
    Job current = job;
    return current != null ? running().canceled() : scheduler.discardsJobless();
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
