package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.metrics.Latencies;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import org.jspecify.annotations.Nullable;

/// Idle phase of a worker that has found nothing: it searches for a while, or distributes, and then it sleeps.
///
/// The search is as long as searches have paid lately: its budget doubles when work came during it or soon after,
/// and halves otherwise. See [Sleepers] for the protocol and why no task is left beside a sleeping worker.
///
/// Fields are the worker's own; what a waker writes is in [Sleeper].
final class Idling {
  private static final int TIGHT_LOOKS = 32; // about 1 us with the pause instruction
  private static final int LOOKS_FOR_TWO = 8; // a single task is about to be popped by its owner
  private static final int LOOKS_PER_YIELD = 16; // as long as one or two yields take
  private static final long SHORT_SLEEP_NANOS = 50_000; // a search this much longer would have paid

  private static final long AWAY_NANOS = 100_000; // a yield that finds nobody else takes about 1 us
  private static final int IGNORED_SHORT_SLEEPS = 64; // before searching is tried again

  private final Worker worker;
  private final Sleeper sleeper;
  private final TaskScheduler scheduler;
  private final Counters counters;
  private final Sleepers sleepers;
  private final Gatherer gatherer;
  private final boolean stealing;
  private final boolean busy;
  private final boolean role;
  private final long pollingWaitNanos;
  private final long spinLimitNanos;
  private final long suspendNanos;

  // For a thread that takes over: whether this worker is counted as searching, is or was on the
  // sleepers' stack and has not taken its permit; a task that was found and is about to run.
  private boolean searching;
  private boolean announced;
  private @Nullable Task found;

  private long spinNanos;
  private int shortSleepsToIgnore;

  // Times of the last sleep, until it is accounted for.
  private boolean owesAccount;
  private long sleepsNanos;
  private long awakeNanos;

  Idling(Worker worker, Sleepers sleepers, Gatherer gatherer) {
    this.worker = worker;
    sleeper = worker.sleeper;
    this.sleepers = sleepers;
    this.gatherer = gatherer;
    scheduler = worker.scheduler;
    counters = worker.counters;
    SchedulerConfig config = scheduler.config();
    stealing = config.flag(Parameter.STEALING);
    busy = config.flag(Parameter.BUSY_WORKER);
    role = config.distribution() == Distribution.ROLE;
    pollingWaitNanos = config.nanos(Parameter.TASK_POLLING_WAIT);
    spinLimitNanos = config.nanos(Parameter.SPIN_LIMIT);
    suspendNanos = config.nanos(Parameter.WORKER_SUSPEND_TIMEOUT);
  }

  /// Comes back with a task; null when the scheduler has stopped and nothing is left.
  @Nullable Task idle() {
    searching = sleepers.startSearching();
    for (; ; ) {
      if (searching) {
        found = role ? distribute() : searchFrom(sleeper.wokenFor);
        if (found != null) {
          searching = !role; // a distributor with a task has left its role
          Platform.point(Point.FOUND);
          if (searching) {
            searching = false;
            endSearch();
          }
          return takeFound();
        }
      }
      if (scheduler.stopped()) {
        if (searching) {
          searching = false;
          sleepers.stopSearching();
        }
        accountForSleep();
        found = lastLook();
        return takeFound();
      }
      sleep();
      if (sleeper.handed > 0) {
        int n = sleeper.handed;
        sleeper.handed = 0;
        found = worker.keep(n, sleeper.handedStolen);
        return takeFound();
      }
      if (role || !searching) { // a search looks for them, after what it was woken for
        found = worker.takePinned();
        if (found != null) {
          if (searching) {
            searching = false;
            endSearch();
          }
          return takeFound();
        }
      }
      if (!searching) {
        searching = sleepers.startSearching();
      }
    }
  }

  private @Nullable Task takeFound() {
    Task task = found;
    found = null;
    return task;
  }

  private void endSearch() {
    if (role) {
      sleepers.passRole();
    } else {
      boolean isLeft =
          switch (sleepers.stopSearching()) {
            case NOTHING -> false;
            case OWN_AND_OUTSIDE -> worker.deque.size() > 0 || scheduler.anyOutside();
            case EVERYTHING -> scheduler.anyWork();
          };
      if (isLeft && !Platform.mutated(Mutation.FINDER_DOES_NOT_LOOK)) {
        worker.signal();
      }
    }
  }

  // ---- for the thread that takes a failed worker over ----

  /// Leaves the sleepers' stack.
  void leaveSleepers() {
    if (announced) {
      sleepers.wake(sleeper);
      while (!sleeper.permit) {
        Platform.pause(); // whoever took it off the stack is about to
      }
      sleeper.takePermit();
      announced = false;
      searching = sleeper.wokenSearching;
    }
  }

  /// Gives back what was found and handed over, whose places in the worker's hand the caller gives back.
  void giveBackFound(@Nullable Job itsJob) {
    if (found != null) {
      scheduler.overflow().add(found, itsJob);
      found = null;
    }
    sleeper.handed = 0;
  }

  /// Gives the search role back, after everything else, so that the last look finds it.
  void leaveSearch() {
    if (searching) {
      searching = false;
      endSearch();
    }
  }

  // ---- search ----

  /// The distributor: hands what waits to sleeping workers, as long as anyone works. Returns a task when it has left the
  /// role to run one itself, because nobody sleeps or nobody else works; null, still in the role, when it may sleep.
  private @Nullable Task distribute() {
    for (int round = 0; ; round++) {
      int n = gatherer.fromOutside();
      boolean areStolen = n == 0;
      if (areStolen) {
        n = gatherer.fromVictims(1);
      }
      if (n > 0) {
        Sleeper recipient = sleepers.recipient();
        if (recipient == null) {
          return worker.keep(n, areStolen);
        }
        counters.add(Counters.DISTRIBUTED, n);
        recipient.worker.idling.hand(gatherer, n, areStolen);
        gatherer.letGo(n);
        round = 0;
      } else if (scheduler.stopped() || !worker.pinned.isEmpty() || !sleepers.othersAwake()) {
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
      Task last = worker.look(stealing ? 1 : 0);
      if (last != null || !scheduler.anyWork()) {
        return last;
      }
      Platform.pause(); // another worker is taking from the same queue
    }
  }

  private @Nullable Task searchFrom(@Nullable Inbox first) {
    if (first != null) {
      sleeper.wokenFor = null;
      Task task = worker.takeFrom(first);
      if (task != null) {
        return task;
      }
    }
    return search();
  }

  private @Nullable Task search() {
    for (int i = 0; i < TIGHT_LOOKS; i++) {
      Task task = searchOnce(i);
      if (task != null) {
        return task;
      }
      Platform.pause();
    }
    accountForSleep();
    long budget = busy ? Long.MAX_VALUE : spinNanos;
    long start = Platform.nanoTime();
    long now = start;
    for (int i = 0; now - start < budget && !scheduler.stopped(); i++) {
      if (pollingWaitNanos > 0) {
        Platform.parkNanos(worker, pollingWaitNanos);
      } else if (i % LOOKS_PER_YIELD == 0) {
        Platform.yieldNow(); // the submitter may need this very core
      } else {
        // Not each time: what comes during a yield waits for its end, which is as long as a
        // submitter needs to park, and
        // one that has parked must be woken.
        Platform.pause();
      }
      long before = now;
      now = Platform.nanoTime();
      if (now - before > AWAY_NANOS && pollingWaitNanos <= 0 && !busy) {
        return lookAfterAbsence();
      }
      Task task = searchOnce(TIGHT_LOOKS);
      if (task != null) {
        counters.add(Counters.SPIN_HITS);
        widenSearch();
        return task;
      }
    }
    return null;
  }

  /// Yielding gave this processor away for long: someone else needs it. A task that turned up meanwhile was not found by searching. A
  /// thread that goes on yielding is served last, by the kernel's accounts: its wake-ups take several milliseconds instead of microseconds.
  /// Sleeping gets it a processor soon.
  private @Nullable Task lookAfterAbsence() {
    spinNanos = 0;
    shortSleepsToIgnore = IGNORED_SHORT_SLEEPS;
    return searchOnce(TIGHT_LOOKS);
  }

  private @Nullable Task searchOnce(int round) {
    boolean steals = stealing && (round >= LOOKS_FOR_TWO || !worker.servesOutside);
    Task task = worker.look(!steals ? 0 : round < LOOKS_FOR_TWO ? 2 : 1);
    return task != null ? task : worker.takePinned();
  }

  private void widenSearch() {
    spinNanos = Math.min(spinLimitNanos, Math.max(1000, 2 * spinNanos));
  }

  // ---- sleep ----

  /// Sleeps until woken; `searching` says afterwards whether this worker is counted as that. It may be without having
  /// slept: someone has to distribute.
  private void sleep() {
    accountForSleep();
    Platform.point(Point.BEFORE_ANNOUNCE);
    Sleepers.Announced how = sleepers.announce(sleeper, searching);
    if (how == Sleepers.Announced.MUST_DISTRIBUTE) {
      searching = true;
      return;
    }
    searching = false;
    announced = true;
    Platform.point(Point.ANNOUNCED);
    if (scheduler.stopped()) {
      // Announced after everyone was woken: a signal would be held back by a searcher who is about
      // to leave, and nobody would come again.
      sleepers.wakeAll();
    } else if (!rescanLeftOut(how) && scheduler.anyWork()) {
      worker.signal();
    }
    if (!worker.pinned.isEmpty()) {
      sleepers.wake(sleeper); // nobody else can take it
    }
    counters.add(Counters.PARKS);
    long start = Platform.nanoTime();
    Platform.point(Point.BEFORE_PARK);
    while (!sleeper.permit) {
      Platform.parkNanos(
          worker, Platform.mutated(Mutation.SLEEP_FOR_EVER) ? Long.MAX_VALUE : suspendNanos);
      if (!sleeper.permit && Platform.nanoTime() - start >= suspendNanos) {
        counters.add(Counters.PARK_TIMEOUTS);
        start = Platform.nanoTime();
        if (scheduler.anyWork() && sleepers.signal(false)) {
          counters.add(Counters.PARK_TIMEOUTS_WITH_WORK); // a bug, repaired
        }
      }
    }
    sleeper.takePermit();
    announced = false;
    searching = sleeper.wokenSearching;
    Thread.interrupted(); // a stray interrupt must not turn later parks into spinning
    sleepsNanos = start;
    awakeNanos = Platform.nanoTime();
    owesAccount = true;
  }

  /// Counts the last wake-up and learns from the length of its sleep. Not before the task that it was for: after a sleep
  /// every cache line that is touched first makes that wait by a tenth of a microsecond.
  void accountForSleep() {
    if (!owesAccount) {
      return;
    }
    owesAccount = false;
    counters.add(Counters.WAKES_RECEIVED);
    counters.latencies.record(Latencies.Kind.WAKE, awakeNanos - sleeper.wokenNanos);
    if (shortSleepsToIgnore > 0) {
      shortSleepsToIgnore--;
    } else if (awakeNanos - sleepsNanos <= SHORT_SLEEP_NANOS) {
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

  /// Wakes the sleeping worker with tasks for it. Its own hand is empty while it sleeps, and the permit orders the copy.
  private void hand(Gatherer from, int n, boolean areStolen) {
    gatherer.receive(from, n);
    sleeper.handedStolen = areStolen;
    sleeper.handed = n;
    sleeper.wake(false);
  }
}
