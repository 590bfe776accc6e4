package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.Platform.Mutation;
import dev.kakehashi.scheduler.Platform.Point;
import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.LocalOrder;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerConfig.VictimOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One worker: its deque, and the order in which it looks for tasks.
///
/// Own deque, inboxes, overflow, other workers' deques; then it searches for a while and sleeps. Everything a
/// worker has is in its deque and can be stolen at any time: there is no private slot. Locality comes from
/// taking the newest first and from successors that are returned instead of queued.
///
/// *Fairness is by time.* After `fairnessInterval` of work the worker looks outside before it looks into its
/// own deque, so that a request does not wait behind a job. Reading the clock for each task would cost more than
/// the task, so the interval is counted in tasks, from an estimate of their length that goes up at once and
/// comes down by 1/16 per look: with the last sample alone one short task would stretch the interval.
///
/// *Pinned* tasks are in a queue that nobody else takes from. `localFirstThousandths` says how often the ordinary
/// tasks come before them.
///
/// Fields are the worker's own except the deque, the pinned queue, and what a waker writes before `permit` (see [#wake]).
final class Worker extends Runner implements Runnable {
  private static final int MAX_TASKS_BETWEEN_LOOKS = 61; // bounds the error of the first estimate
  private static final int TIGHT_LOOKS = 32; // about 1 us with the pause instruction
  private static final int LOOKS_FOR_TWO = 8; // a single task is about to be popped by its owner
  private static final long SHORT_SLEEP_NANOS = 50_000; // a search this much longer would have paid

  private static final long AWAY_NANOS = 100_000; // a yield that finds nobody else takes about 1 us
  private static final int IGNORED_SHORT_SLEEPS = 64; // before searching is tried again

  private static final int FAR = 1 << 30;

  private final int index;
  private final int batchLimit;
  private final int stealLimit;
  private final int stealWait;
  private final boolean stealing;
  private final boolean busy;
  private final boolean fifo;
  private final boolean role;
  private final VictimOrder victimOrder;
  private final int localFirst;
  private final long pollingWaitNanos;
  private final long fairnessNanos;
  private final long spinLimitNanos;
  private final long suspendNanos;
  private final Sleepers sleepers;
  private final @Nullable Object[] batch;

  final PackedDeque deque;
  final OverflowQueue pinned = new OverflowQueue(); // filled by anyone, drained by this worker

  /// Changes when a fresh thread takes the worker over.
  volatile WorkerThread thread;

  // Set by the waker after it has taken this worker off the stack, cleared here; volatile, pairs
  // with unpark.
  private volatile boolean permit;
  private boolean wokenSearching; // written by the waker before permit
  private boolean handedStolen; // likewise
  private int handed; // tasks that the distributor has put into `batch`; written before permit

  // For recover(): whether this worker is counted as searching, is or was on the sleepers' stack
  // and
  // has not taken its permit; a task that was found and is about to run.
  private boolean searching;
  private boolean announced;
  private @Nullable Task found;

  private @Nullable Job nextJob;
  private boolean nextStolen;
  private int stolenBelow; // deque indices before this one hold stolen tasks
  private int lastVictim = -1;
  private int random;
  private int emptyLooks;
  private int untilLook = 1;
  private int interval = 1;
  private int looks;
  private int localShare;
  private long lastLookNanos = Platform.nanoTime();
  private long taskNanos = 1;
  private long spinNanos;
  private int shortSleepsToIgnore;

  Worker(TaskScheduler scheduler, int index, Sleepers sleepers) {
    super(scheduler, new Counters());
    SchedulerConfig config = scheduler.config();
    this.index = index;
    this.sleepers = sleepers;
    batchLimit = config.intValue(Parameter.GLOBAL_BATCH);
    stealLimit = config.intValue(Parameter.STEAL_LIMIT);
    stealWait = config.intValue(Parameter.STEAL_WAIT);
    stealing = config.flag(Parameter.STEALING);
    busy = config.flag(Parameter.BUSY_WORKER);
    fifo = config.localOrder() == LocalOrder.FIFO;
    role = config.distribution() == Distribution.ROLE;
    victimOrder = config.victimOrder();
    localFirst = config.intValue(Parameter.LOCAL_FIRST_THOUSANDTHS);
    pollingWaitNanos = config.nanos(Parameter.TASK_POLLING_WAIT);
    fairnessNanos = config.nanos(Parameter.FAIRNESS_INTERVAL);
    spinLimitNanos = config.nanos(Parameter.SPIN_LIMIT);
    suspendNanos = config.nanos(Parameter.WORKER_SUSPEND_TIMEOUT);
    batch = new @Nullable Object[2 * Math.max(batchLimit, stealLimit)];
    deque = new PackedDeque(config.intValue(Parameter.LOCAL_CAPACITY), 0);
    random = 0x9E3779B9 * (index + 1);
    thread = newThread();
  }

  @Override
  public int workerIndex() {
    return index;
  }

  @Override
  public void run() {
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
      scheduler.uncaught(thread.getName(), thrown);
      recover();
      counters.add(Counters.WORKERS_REPLACED);
      thread = newThread(); // before it starts: it must be known to who wakes it
      scheduler.startWorker(this);
      return true;
    } catch (Throwable again) {
      thread = (WorkerThread) Platform.currentThread();
      scheduler.uncaught(thread.getName(), again);
      return false;
    }
  }

  /// Gives back what this worker holds outside its deque: its place among the sleepers, the search role, tasks in hand.
  private void recover() {
    if (announced) {
      sleepers.wake(this);
      while (!permit) {
        Platform.pause(); // whoever took it off the stack is about to
      }
      permit = false;
      announced = false;
      searching = wokenSearching;
    }
    if (found != null) {
      scheduler.overflow().add(found, nextJob);
      found = null;
    }
    for (int i = 0; i < batch.length; i += 2) {
      Task task = (Task) batch[i];
      if (task != null) {
        scheduler.overflow().add(task, (Job) batch[i + 1]);
        batch[i] = null;
        batch[i + 1] = null;
      }
    }
    handed = 0;
    nextJob = null;
    if (searching) {
      searching = false;
      endSearch();
    }
  }

  private WorkerThread newThread() {
    return new WorkerThread(this, scheduler.config().threadNamePrefix() + "-worker-" + index);
  }

  /// Finds one task and runs it; false when the scheduler has stopped and nothing is left.
  private boolean step() {
    Task task = next();
    if (task == null && !Platform.mutated(Mutation.CREDIT_NOT_RETURNED)) {
      flush(); // may end a job, which may queue something
      task = next();
    }
    if (task == null) {
      // The distributor alone takes from others if there is that role.
      task = look(stealing && !role && emptyLooks >= stealWait ? 2 : 0);
    }
    if (task == null) {
      emptyLooks++;
      task = idle();
    }
    if (task == null) {
      return false;
    }
    emptyLooks = 0;
    Job job = nextJob;
    nextJob = null; // a sleeping worker keeps nothing alive
    if (job == null) {
      ((InternalTask) task).runInternal(this);
    } else {
      execute(task, job, nextStolen);
    }
    return true;
  }

  // ---- where tasks come from ----

  private @Nullable Task next() {
    if (--untilLook <= 0) {
      Task outside = fairnessLook();
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

  private @Nullable Task takePinned() {
    if (pinned.drain(batch, 1) == 0) {
      return null;
    }
    counters.add(Counters.PINNED_RUN);
    return keep(1, false);
  }

  private @Nullable Task pop(boolean oldest) {
    Task task = oldest ? deque.popOldest() : deque.popNewest();
    if (task != null) {
      nextJob = deque.takeJob();
      nextStolen = deque.takenIndex() - stolenBelow < 0;
      if (nextStolen && !oldest) {
        stolenBelow = deque.takenIndex();
      }
    } else {
      stolenBelow = deque.nextIndex() - FAR; // also keeps the difference small when indices wrap
    }
    return task;
  }

  private @Nullable Task fairnessLook() {
    long now = Platform.nanoTime();
    long mean = (now - lastLookNanos) / interval;
    long decayed =
        Platform.mutated(Mutation.FAIRNESS_BY_LAST_SAMPLE) ? 0 : taskNanos - (taskNanos >> 4);
    taskNanos = Math.max(1, Math.max(mean, decayed));
    interval = Math.clamp(fairnessNanos / taskNanos, 1, MAX_TASKS_BETWEEN_LOOKS);
    untilLook = interval;
    lastLookNanos = now;
    counters.add(Counters.FAIRNESS_LOOKS);
    // Mostly an outside task; now and then the oldest of our own or the overflow, which endless
    // spawning would starve otherwise.
    return switch (++looks & 7) {
      case 3 -> pop(true);
      case 7 -> drainOverflow();
      default -> drainInboxes(1);
    };
  }

  /// One look at everything but the own deque; victims with at least `least` tasks, none if 0.
  private @Nullable Task look(int least) {
    int n = gatherOutside(batchLimit);
    if (n > 0) {
      return keep(n, false);
    }
    n = least > 0 ? gatherFromVictims(least) : 0;
    return n > 0 ? keep(n, true) : null;
  }

  private @Nullable Task drainInboxes(int max) {
    int n = gatherFromInboxes(max);
    return n > 0 ? keep(n, false) : null;
  }

  private @Nullable Task drainOverflow() {
    int n = gatherFromOverflow();
    return n > 0 ? keep(n, false) : null;
  }

  // The gather methods fill `batch` with pairs (task, job) and return how many.

  private int gatherOutside(int max) {
    int n = gatherFromInboxes(max);
    return n > 0 ? n : gatherFromOverflow();
  }

  private int gatherFromInboxes(int max) {
    Inbox[] inboxes = scheduler.inboxes();
    for (int i = 0, at = index; i < inboxes.length; i++) {
      Inbox inbox = inboxes[at];
      if (!inbox.isEmpty()) {
        // A fair share: the rest is for the others.
        int share = Math.min(max, inbox.size() / inboxes.length + 1);
        int n = inbox.drain(batch, share, counters);
        if (n > 0) {
          counters.add(Counters.INBOX_TAKEN, n);
          counters.add(Counters.INBOX_BATCHES);
          return n;
        }
      }
      at = at + 1 == inboxes.length ? 0 : at + 1;
    }
    return 0;
  }

  private int gatherFromOverflow() {
    int n = scheduler.overflow().drain(batch, batchLimit);
    if (n > 0) {
      counters.add(Counters.OVERFLOW_TAKEN, n);
    }
    return n;
  }

  private int gatherFromVictims(int least) {
    Worker[] workers = scheduler.workers();
    int victim = firstVictim(workers.length);
    for (int i = 0; i < workers.length; i++) {
      if (victim != index) {
        PackedDeque from = workers[victim].deque;
        if (from.size() >= least) {
          counters.add(Counters.STEAL_ATTEMPTS);
          int n = from.stealHalf(batch, stealLimit, least);
          if (n > 0) {
            lastVictim = victim;
            counters.add(Counters.STEAL_SUCCESSES);
            counters.add(Counters.STEAL_ITEMS, n);
            return n;
          }
        }
      }
      victim = victim + 1 == workers.length ? 0 : victim + 1;
    }
    return 0;
  }

  private int firstVictim(int n) {
    if (lastVictim >= 0 && victimOrder != VictimOrder.RANDOM) {
      return victimOrder == VictimOrder.LAST_FIRST ? lastVictim : (lastVictim + 1) % n;
    }
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    return (int) (((random & 0xFFFF_FFFFL) * n) >>> 32);
  }

  /// Returns the first of a batch and publishes the rest in the own deque before the first one runs. The first
  /// one is the oldest, and with LIFO order the rest is turned round so that it runs in order of age.
  private Task keep(int n, boolean areStolen) {
    Task first = (Task) java.util.Objects.requireNonNull(batch[0]);
    nextJob = (Job) batch[1];
    nextStolen = areStolen;
    if (n > 1) {
      if (!fifo) {
        reverse(1, n);
      }
      boolean wasEmpty = deque.size() == 0;
      int pushed = deque.pushBatch(batch, 1, n);
      if (areStolen && wasEmpty) {
        stolenBelow = deque.nextIndex();
      }
      java.util.Arrays.fill(
          batch, 2, 2 * (1 + pushed), null); // not in hand any more, see recover()
      if (1 + pushed < n) {
        scheduler.overflow().addAll(batch, 1 + pushed, n);
      }
    }
    java.util.Arrays.fill(batch, 0, 2 * n, null);
    if (n > 1) {
      signal();
    }
    return first;
  }

  private void reverse(int from, int to) {
    for (int i = from, j = to - 1; i < j; i++, j--) {
      for (int half = 0; half < 2; half++) {
        Object kept = batch[2 * i + half];
        batch[2 * i + half] = batch[2 * j + half];
        batch[2 * j + half] = kept;
      }
    }
  }

  // ---- idle: search, then sleep ----

  private @Nullable Task idle() {
    searching = sleepers.startSearching();
    for (; ; ) {
      if (searching) {
        found = role ? distribute() : search();
        if (found != null) {
          searching = !role; // a distributor with a task has left its role
          Platform.point(Point.FOUND);
          if (searching) {
            searching = false;
            endSearch();
          }
          return resume();
        }
      }
      if (scheduler.stopped()) {
        if (searching) {
          searching = false;
          sleepers.stopSearching();
        }
        found = lastLook();
        return resume();
      }
      sleep();
      if (handed > 0) {
        int n = handed;
        handed = 0;
        found = keep(n, handedStolen);
        return resume();
      }
      found = takePinned();
      if (found != null) {
        if (searching) {
          searching = false;
          endSearch();
        }
        return resume();
      }
      if (!searching) {
        searching = sleepers.startSearching();
      }
    }
  }

  private void endSearch() {
    if (role) {
      sleepers.passRole();
    } else if (sleepers.stopSearching()
        && scheduler.anyWork()
        && !Platform.mutated(Mutation.FINDER_DOES_NOT_LOOK)) {
      signal();
    }
  }

  /// The distributor: hands what waits to sleeping workers, as long as anyone works. Returns a task when it has left the
  /// role to run one itself, because nobody sleeps or nobody else works; null, still in the role, when it may sleep.
  private @Nullable Task distribute() {
    for (int round = 0; ; round++) {
      int n = gatherOutside(batchLimit);
      boolean areStolen = n == 0;
      if (areStolen) {
        n = gatherFromVictims(1);
      }
      if (n > 0) {
        Worker sleeper = sleepers.recipient();
        if (sleeper == null) {
          return keep(n, areStolen);
        }
        counters.add(Counters.DISTRIBUTED, n);
        sleeper.hand(batch, n, areStolen);
        java.util.Arrays.fill(batch, 0, 2 * n, null);
        round = 0;
      } else if (scheduler.stopped() || !pinned.isEmpty() || !sleepers.othersAwake()) {
        return null;
      } else if (round < TIGHT_LOOKS) {
        Platform.pause();
      } else {
        Platform.yieldNow(); // the worker whose tasks these are may need this very core
      }
    }
  }

  /// The scheduler has stopped: null only when nothing is queued that this worker could take.
  private @Nullable Task lastLook() {
    for (; ; ) {
      Task found = look(stealing ? 1 : 0);
      if (found != null || !scheduler.anyWork()) {
        return found;
      }
      Platform.pause(); // another worker is taking from the same queue
    }
  }

  private @Nullable Task resume() {
    Task task = found;
    found = null;
    // Idle time is not task time.
    lastLookNanos = Platform.nanoTime();
    untilLook = interval;
    return task;
  }

  private @Nullable Task search() {
    for (int i = 0; i < TIGHT_LOOKS; i++) {
      Task found = searchOnce(i);
      if (found != null) {
        return found;
      }
      Platform.pause();
    }
    long budget = busy ? Long.MAX_VALUE : spinNanos;
    long start = Platform.nanoTime();
    long now = start;
    while (now - start < budget && !scheduler.stopped()) {
      if (pollingWaitNanos > 0) {
        Platform.parkNanos(this, pollingWaitNanos);
      } else {
        Platform.yieldNow(); // the submitter may need this very core
      }
      long before = now;
      now = Platform.nanoTime();
      if (now - before > AWAY_NANOS && pollingWaitNanos <= 0 && !busy) {
        return lookAfterAbsence();
      }
      Task found = searchOnce(TIGHT_LOOKS);
      if (found != null) {
        counters.add(Counters.SPIN_HITS);
        widenSearch();
        return found;
      }
    }
    return null;
  }

  /// Yielding gave this processor away for long: someone else needs it. What turned up meanwhile was not found by
  /// searching, and who goes on yielding is served last, by the kernel's accounts: wake-ups of several milliseconds
  /// instead of microseconds. Sleeping is what gets a processor soon.
  private @Nullable Task lookAfterAbsence() {
    spinNanos = 0;
    shortSleepsToIgnore = IGNORED_SHORT_SLEEPS;
    return searchOnce(TIGHT_LOOKS);
  }

  private @Nullable Task searchOnce(int round) {
    Task found = look(stealing ? (round < LOOKS_FOR_TWO ? 2 : 1) : 0);
    return found != null ? found : takePinned();
  }

  private void widenSearch() {
    spinNanos = Math.min(spinLimitNanos, Math.max(1000, 2 * spinNanos));
  }

  /// Sleeps until woken; `searching` says afterwards whether this worker is counted as that. It may be without having
  /// slept: someone has to distribute.
  private void sleep() {
    Platform.point(Point.BEFORE_ANNOUNCE);
    Sleepers.Announced how = sleepers.announce(this, searching);
    if (how == Sleepers.Announced.MUST_DISTRIBUTE) {
      searching = true;
      return;
    }
    searching = false;
    announced = true;
    Platform.point(Point.ANNOUNCED);
    if (scheduler.stopped()) {
      // Announced after everyone was woken: a signal would be held back by a searcher who is about
      // to
      // leave, and nobody would come again.
      sleepers.wakeAll();
    } else if (!rescanLeftOut(how) && scheduler.anyWork()) {
      signal();
    }
    if (!pinned.isEmpty()) {
      sleepers.wake(this); // nobody else can take it
    }
    counters.add(Counters.PARKS);
    long start = Platform.nanoTime();
    Platform.point(Point.BEFORE_PARK);
    while (!permit) {
      Platform.parkNanos(
          this, Platform.mutated(Mutation.SLEEP_FOR_EVER) ? Long.MAX_VALUE : suspendNanos);
      if (!permit && Platform.nanoTime() - start >= suspendNanos) {
        counters.add(Counters.PARK_TIMEOUTS);
        start = Platform.nanoTime();
        if (scheduler.anyWork() && sleepers.signal(false)) {
          counters.add(Counters.PARK_TIMEOUTS_WITH_WORK); // a bug, repaired
        }
      }
    }
    permit = false;
    announced = false;
    searching = wokenSearching;
    Thread.interrupted(); // a stray interrupt must not turn later parks into spinning
    if (shortSleepsToIgnore > 0) {
      shortSleepsToIgnore--;
    } else if (Platform.nanoTime() - start <= SHORT_SLEEP_NANOS) {
      widenSearch();
    } else {
      spinNanos >>= 1;
    }
  }

  private static boolean rescanLeftOut(Sleepers.Announced how) {
    return Platform.mutated(Mutation.SLEEP_WITHOUT_RESCAN)
        || (Platform.mutated(Mutation.ONLY_LAST_SEARCHER_RESCANS)
            && how != Sleepers.Announced.ASLEEP_AS_LAST_SEARCHER);
  }

  /// Lets the sleeping worker go on. Called by the thread that took it off the stack.
  ///
  /// @param searching whether that thread has counted it as searching
  void wake(boolean searching) {
    wokenSearching = searching;
    permit = true;
    Platform.unpark(thread);
  }

  /// Wakes the sleeping worker with tasks for it. Its own batch is free while it sleeps, and the permit orders the copy.
  private void hand(@Nullable Object[] from, int n, boolean areStolen) {
    System.arraycopy(from, 0, batch, 0, 2 * n);
    handedStolen = areStolen;
    handed = n;
    wake(false);
  }

  private void signal() {
    if (sleepers.signal(false)) {
      counters.add(Counters.WAKES_SENT);
    }
  }

  // ---- where tasks go ----

  @Override
  void pushNewest(Task task, @Nullable Job job) {
    if (!deque.push(task, job)) {
      spill(task, job);
    }
    signal();
  }

  @Override
  void pushAllNewest(List<? extends Task> tasks, Job job) {
    int pushed = deque.pushAll(tasks, 0, job);
    for (int i = pushed; i < tasks.size(); i++) {
      if (!deque.push(tasks.get(i), job)) {
        spill(tasks.get(i), job);
      }
    }
    signal();
  }

  @Override
  void pushOldest(Task task, @Nullable Job job) {
    if (!deque.pushOldest(task, job)) {
      spill(task, job);
    }
    signal();
  }

  /// The deque is full: its older half goes to the overflow queue, in claims of a batch each.
  private void spill(Task task, @Nullable Job job) {
    @Nullable Object[] moved = new @Nullable Object[batch.length];
    int wanted = deque.size() / 2;
    while (wanted > 0) {
      int n = deque.stealHalf(moved, wanted, 1);
      if (n == 0) {
        break; // thieves are making room
      }
      if (Platform.mutated(Mutation.OVERFLOW_INTO_INBOX)) {
        for (int i = 0; i < n; i++) {
          scheduler.inboxes()[index].offer(
              (Task) java.util.Objects.requireNonNull(moved[2 * i]), (Job) moved[2 * i + 1]);
        }
      } else {
        scheduler.overflow().addAll(moved, 0, n);
      }
      counters.add(Counters.OVERFLOW_MOVED, n);
      wanted -= n;
    }
    if (!deque.push(task, job)) {
      scheduler.overflow().add(task, job);
      counters.add(Counters.OVERFLOW_MOVED);
    }
  }
}
