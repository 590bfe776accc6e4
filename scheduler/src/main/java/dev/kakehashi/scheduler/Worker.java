package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.LocalOrder;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Pinning;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import org.jspecify.annotations.Nullable;

/// One worker: its deque, and the order in which it looks for tasks.
///
/// Own deque, inboxes, overflow, other workers' deques ([Gatherer]); then it searches for a while and sleeps ([Idling]).
/// Everything a worker has is in its deque and can be stolen at any time: there is no private slot. Locality comes from
/// taking the newest first and from successors that are returned instead of queued.
///
/// *Fairness is by time.* After `fairnessInterval` of work the worker looks outside before it looks into its
/// own deque, so that a request does not wait behind a job. Reading the clock for each task would cost more than
/// the task, so the interval is counted in tasks, from an estimate of their length that goes up at once and
/// comes down by 1/16 per look: with the last sample alone one short task would stretch the interval. Tasks may become
/// longer than any estimate; so while somebody waits outside ([Intake#waiting]) the clock is read every half
/// microsecond of work, by the same estimate, and at the latest every sixteenth task.
///
/// *Pinned* tasks are in a queue that nobody else takes from. `localFirstThousandths` says how often the ordinary
/// tasks come before them.
///
/// Fields are the worker's own except the deque and the pinned queue.
final class Worker extends Runner implements Runnable {
  private static final int MAX_TASKS_BETWEEN_LOOKS = 256; // bounds the error of the first estimate
  private static final int MAX_CHECK_SHIFT = 4; // 16 tasks likewise, while somebody waits outside
  private static final int CHECK_SHIFT = 9; // 512 ns of work for a look at the clock of 25 ns
  private static final int HANDS_WITHOUT_CLOCK = 3; // one after the other, from the inboxes
  private static final int LOOKS_OUTSIDE = 4; // about 100 ns with the pause instruction
  private static final int FAR = 1 << 30;

  private final int index;
  private final int stealWait;
  private final boolean stealing;
  private final boolean fifo;
  private final boolean role;
  private final int localFirst;
  private final long fairnessNanos;
  private final Sleepers sleepers;
  private final Gatherer gatherer;
  final Idling idling;

  final StealHalfDeque deque;
  final OverflowQueue pinned = new OverflowQueue(); // filled by anyone, drained by this worker

  final Sleeper sleeper;

  private @Nullable Job nextJob;
  private boolean nextStolen;
  private int stolenBelow; // deque indices before this one hold stolen tasks
  private int emptyLooks;
  private int untilCheck = 1;
  private int check = 1; // tasks between the last check and the next one
  private int interval = 1; // tasks between two looks
  private int sinceLook; // tasks, as of the last check
  private int sinceSample; // likewise
  private int mostBetweenChecks = 1;
  private boolean lookOwed;
  private int handsWithoutClock;

  /// Whether what came last came from outside: then more of that comes soon, and what the others have in hand is theirs.
  boolean servesOutside;

  private int looks;
  private int localShare;
  private long lastLookNanos = Platform.nanoTime();
  private long lastSampleNanos = lastLookNanos;
  private long taskNanos = 1;

  Worker(TaskScheduler scheduler, int index, Sleepers sleepers) {
    super(scheduler, new Counters());
    SchedulerConfig config = scheduler.config();
    this.index = index;
    this.sleepers = sleepers;
    stealWait = config.intValue(Parameter.STEAL_WAIT);
    stealing = config.flag(Parameter.STEALING);
    fifo = config.localOrder() == LocalOrder.FIFO;
    role = config.distribution() == Distribution.ROLE;
    localFirst = config.intValue(Parameter.LOCAL_FIRST_THOUSANDTHS);
    fairnessNanos = config.nanos(Parameter.FAIRNESS_INTERVAL);
    deque = new StealHalfDeque(config.intValue(Parameter.LOCAL_CAPACITY), 0, scheduler.jobless());
    gatherer = new Gatherer(scheduler, counters, index, deque);
    sleeper = new Sleeper(this, newThread());
    idling = new Idling(this, sleepers, gatherer);
  }

  /// Its thread at present: a fresh one when the last one has failed.
  WorkerThread thread() {
    return sleeper.thread;
  }

  @Override
  public int workerIndex() {
    return index;
  }

  @Override
  public void run() {
    if (scheduler.config().flag(Parameter.PIN_WORKERS)) {
      try {
        Pinning.pin(index);
      } catch (UnsupportedOperationException e) {
        scheduler.uncaught(thread().getName(), e); // it works on all processors, then
      }
    }
    try {
      scheduler.config().onWorkerStart().accept(index);
    } catch (Throwable t) {
      scheduler.uncaught("onWorkerStart", t);
    }
    for (; ; ) {
      try {
        while (step()) {}
        return;
      } catch (Throwable t) {
        // Not a task's: those are caught with their job.
        if (isTakenOver(t)) {
          return;
        }
      }
    }
  }

  /// Something outside any task has failed, such as an allocation or the stack: a fresh thread takes over everything
  /// this worker has. False if there can be none: then this one goes on.
  private boolean isTakenOver(Throwable thrown) {
    try {
      scheduler.uncaught(thread().getName(), thrown);
      recover();
      counters.add(Counters.WORKERS_REPLACED);
      sleeper.thread = newThread(); // before it starts: it must be known to who wakes it
      scheduler.startWorker(this);
      return true;
    } catch (Throwable again) {
      sleeper.thread = (WorkerThread) Platform.currentThread();
      scheduler.uncaught(thread().getName(), again);
      return false;
    }
  }

  /// Gives back what this worker holds outside its deque: its place among the sleepers, the search role, tasks in hand.
  private void recover() {
    idling.leaveSleepers();
    idling.giveBackFound(nextJob);
    gatherer.giveBack();
    nextJob = null;
    idling.leaveSearch();
  }

  private WorkerThread newThread() {
    SchedulerConfig config = scheduler.config();
    return new WorkerThread(
        this,
        config.threadNamePrefix() + "-worker-" + index,
        config.get(SchedulerConfig.Parameter.WORKER_STACK) << 10);
  }

  /// Finds one task and runs it; false when the scheduler has stopped and nothing is left.
  private boolean step() {
    Task task = next();
    if (task == null) {
      deque.forgetJobs();
      if (!Platform.mutated(Mutation.CREDIT_NOT_RETURNED)) {
        flush(); // may end a job, which may queue something
        task = next();
      }
    }
    if (task == null) {
      task = lookAround();
    }
    if (task == null) {
      return idle();
    }
    run(task);
    return true;
  }

  private boolean idle() {
    emptyLooks++;
    nextJob = null; // an idle worker keeps nothing alive
    Task task = idling.idle();
    if (task == null) {
      return false;
    }
    // Idle time is not task time.
    restartFairness(Platform.nanoTime());
    run(task);
    idling.accountForSleep();
    return true;
  }

  private void run(Task task) {
    emptyLooks = 0;
    Job job = nextJob;
    if (job == null) {
      ((InternalTask) task).runInternal(this);
    } else {
      execute(task, job, nextStolen);
    }
  }

  private @Nullable Task lookAround() {
    for (int i = 0; servesOutside && i < LOOKS_OUTSIDE; i++) {
      Task task = look(0);
      if (task != null) {
        return task;
      }
      Platform.pause();
    }
    // The distributor alone takes from others if there is that role.
    return look(stealing && !role && !servesOutside && emptyLooks >= stealWait ? 2 : 0);
  }

  // ---- where tasks come from ----

  private @Nullable Task next() {
    if (--untilCheck <= 0) {
      Task outside = fairnessCheck();
      if (outside != null) {
        return outside;
      }
    }
    if (!pinned.isEmpty() && !isLocalFirst()) {
      Task mine = takePinned();
      if (mine != null) {
        return mine;
      }
    }
    Task task = pop(fifo);
    return task != null ? task : takePinned();
  }

  private boolean isLocalFirst() {
    localShare += localFirst;
    if (localShare < 1000) {
      return false;
    }
    localShare -= 1000;
    return true;
  }

  @Nullable Task takePinned() {
    return gatherer.fromPinned(pinned) > 0 ? keep(1, false) : null;
  }

  private @Nullable Task pop(boolean oldest) {
    Task task = oldest ? deque.popOldest() : deque.popNewest();
    if (task != null) {
      nextJob(deque.takenJob());
      nextStolen = deque.takenIndex() - stolenBelow < 0;
      if (nextStolen && !oldest) {
        stolenBelow = deque.takenIndex();
      }
    } else {
      stolenBelow = deque.nextIndex() - FAR; // also keeps the difference small when indices wrap
    }
    return task;
  }

  /// Mostly the same as before: a comparison costs less than the barriers of a store.
  private void nextJob(@Nullable Job job) {
    if (nextJob != job) {
      nextJob = job;
    }
  }

  /// Every few tasks: looks outside if the counted interval has passed, or if somebody waits there and the clock says that the
  /// time has.
  private @Nullable Task fairnessCheck() {
    sinceLook += check;
    sinceSample += check;
    boolean waitedFor = isWaitedFor();
    boolean due = sinceLook >= interval || (lookOwed && waitedFor);
    lookOwed = false;
    if (due || waitedFor) {
      long now = Platform.nanoTime();
      sample(now);
      handsWithoutClock = 0;
      if (due || now - lastLookNanos >= fairnessNanos) {
        return fairnessLook(now);
      }
    }
    startCheck();
    return null;
  }

  private boolean isWaitedFor() {
    return scheduler.intake().waiting()
        && !Platform.mutated(Mutation.FAIRNESS_BY_COUNT)
        && !Platform.mutated(Mutation.FAIRNESS_BY_LAST_SAMPLE);
  }

  /// Learns how long tasks take, with powers of two instead of divisions: this is done every few tasks as long as
  /// submissions keep coming. Rounded up to the next one a mean is at most twice too long, and the looks
  /// at the clock come too often rather than too late.
  private void sample(long now) {
    int shift = 31 - Integer.numberOfLeadingZeros(sinceSample);
    long mean = (now - lastSampleNanos) >> shift;
    long decayed =
        Platform.mutated(Mutation.FAIRNESS_BY_LAST_SAMPLE) ? 0 : taskNanos - (taskNanos >> 4);
    taskNanos = Math.max(1, Math.max(mean, decayed));
    int checkShift = CHECK_SHIFT - (64 - Long.numberOfLeadingZeros(taskNanos - 1));
    mostBetweenChecks = 1 << Math.clamp(checkShift, 0, MAX_CHECK_SHIFT);
    lastSampleNanos = now;
    sinceSample = 0;
  }

  private void startCheck() {
    check = lookOwed ? 1 : Math.clamp(interval - sinceLook, 1, mostBetweenChecks);
    untilCheck = check;
  }

  /// This was a look outside, without a clock: that is read with every few of them.
  private void postponeCheck() {
    if (handsWithoutClock < HANDS_WITHOUT_CLOCK) {
      handsWithoutClock++;
      sinceSample += check - untilCheck;
      sinceLook = 0;
      startCheck();
    }
  }

  private void restartFairness(long now) {
    lastLookNanos = now;
    lastSampleNanos = now;
    sinceLook = 0;
    sinceSample = 0;
    lookOwed = false;
    startCheck();
  }

  private @Nullable Task fairnessLook(long now) {
    settle();
    publish();
    interval = Math.clamp(fairnessNanos / taskNanos, 1, MAX_TASKS_BETWEEN_LOOKS);
    restartFairness(now);
    counters.add(Counters.FAIRNESS_LOOKS);
    // Mostly an outside task; now and then the oldest of our own or the overflow, which endless
    // spawning would starve otherwise.
    return switch (++looks & 7) {
      case 3 -> owing(pop(true));
      case 7 -> owing(drainOverflow());
      default -> lookOutside();
    };
  }

  /// One look at everything but the own deque; victims with at least `least` tasks, none if 0.
  @Nullable Task look(int least) {
    int n = gatherer.fromOutside();
    if (n > 0) {
      servesOutside = true;
      postponeCheck();
      return keep(n, false);
    }
    n = least > 0 ? gatherer.fromVictims(least) : 0;
    if (n == 0) {
      return null;
    }
    servesOutside = false;
    return keep(n, true);
  }

  /// One task of an inbox.
  @Nullable Task takeFrom(Inbox inbox) {
    if (gatherer.fromInbox(inbox) == 0) {
      return null;
    }
    servesOutside = true;
    return keep(1, false);
  }

  /// After that task the look goes outside, as it would have now.
  private @Nullable Task owing(@Nullable Task instead) {
    lookOwed = true;
    startCheck();
    return instead;
  }

  private @Nullable Task lookOutside() {
    int n = gatherer.fromNextInbox();
    scheduler.intake().looked();
    return n > 0 ? keep(n, false) : null;
  }

  private @Nullable Task drainOverflow() {
    int n = gatherer.fromOverflow();
    return n > 0 ? keep(n, false) : null;
  }

  /// Returns the first of the `n` tasks in hand and publishes the rest in the own deque before the first one runs. The first
  /// one is the oldest, and with LIFO order the rest is turned round so that it runs in order of age.
  Task keep(int n, boolean areStolen) {
    Task first = gatherer.firstTask();
    nextJob(gatherer.firstJob());
    nextStolen = areStolen;
    if (n > 1) {
      boolean wasEmpty = deque.size() == 0;
      gatherer.keepRest(n, !fifo);
      if (areStolen && wasEmpty) {
        stolenBelow = deque.nextIndex();
      }
    }
    gatherer.letGoFirst();
    if (n > 1) {
      signal();
    }
    return first;
  }

  // ---- sleeping and waking ----

  void signal() {
    if (sleepers.signal(false)) {
      counters.add(Counters.WAKES_SENT);
    }
  }

  // ---- where tasks go ----
  //
  // Called from any depth of a task's stack. A call that throws has queued nothing; the look for
  // sleepers comes after the publication and does not throw.

  @Override
  void pushNewest(Task task, @Nullable Job job) {
    if (!deque.push(task, job)) {
      spill(task, job);
    }
    try {
      signal();
    } catch (StackOverflowError queued) {
      sleepers.signalMissed = true;
    }
  }

  @Override
  void pushAllNewest(Task[] tasks, Job job) {
    pushedOfAll = 0;
    pushedOfAll = deque.pushAll(tasks, job);
    while (pushedOfAll < tasks.length) {
      Task task = tasks[pushedOfAll];
      if (!deque.push(task, job)) {
        spill(task, job);
      }
      pushedOfAll++;
    }
    try {
      signal();
    } catch (StackOverflowError queued) {
      sleepers.signalMissed = true;
    }
  }

  @Override
  void pushOldest(Task task, @Nullable Job job) {
    if (!deque.pushOldest(task, job)) {
      spill(task, job);
    }
    try {
      signal();
    } catch (StackOverflowError queued) {
      sleepers.signalMissed = true;
    }
  }

  /// The deque is full: its older half goes to the overflow queue, in claims of a hand each.
  private void spill(Task task, @Nullable Job job) {
    int wanted = deque.size() / 2;
    while (wanted > 0) {
      int n = gatherer.spill();
      if (n == 0) {
        break; // thieves are making room
      }
      wanted -= n;
    }
    if (!deque.push(task, job)) {
      counters.add(Counters.OVERFLOW_MOVED);
      scheduler.overflow().add(task, job);
    }
  }
}
