package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Checks;
import dev.kakehashi.scheduler.platform.Fences;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// State of the workers (awake, searching, asleep), and the way by which a publication finds one to run it.
///
/// ```
///  ctl    unparked << 32 | searching      everyone, RMW only
///  top    sleeping workers, last in first out   guarded by `lock`, touched only around a sleep
/// ```
///
/// *Guarantee*: no task stays queued while a worker sleeps, except for the length of a wake-up. It is
/// stronger than "no lost wake-up", which would be content with one worker awake.
///
/// *Argument*. A publication is an RMW or volatile store on a queue, or a store into the own deque and [Fences#light]. A volatile read of
/// ctl follows it ([#signal]). A thread that changes ctl and then looks at the queues passes [Fences#heavy] in between. It passes none if
/// ctl says that nobody else is awake: then nobody can have stored into a deque since.
/// Suppose task P stays queued and worker B sleeps for good.
/// (i) The publisher of P saw a searcher. The last worker that stops searching does so by an RMW on ctl. If anyone sleeps, it then looks at
/// all queues: it sees P and signals, or it sleeps and looks again, see (iii). If nobody slept then, B announced its sleep later.
/// (ii) The publisher of P saw no searcher but a sleeper: it woke one, which counts as searching from that instant.
/// (iii) The publisher of P saw everyone awake: then B announced its sleep after that read. B's look at all queues after the announcement
/// sees P. *Every* worker looks again after its announcement, whether or not it has searched. If only the last searcher did, a worker that
/// never searched because the cap was reached would sleep beside P.
/// The signals sent by (i) and (iii) are publications of the same kind. A model check of this protocol and of its broken variants is in the
/// tests.
///
/// *Distribution role* (`distribution` ROLE): the one searcher is the distributor. It stays awake while any other worker
/// is, hands what it finds to a sleeper ([#recipient]), and leaves the role only by passing it on or when nobody sleeps.
/// All these steps, and the announcement of a sleep, happen under `lock`. So the state "someone works, someone sleeps and nobody
/// distributes" cannot be. A worker that would fall asleep beside a working one without a distributor becomes the distributor instead.
///
/// Nobody is woken while someone searches. A searcher that finds work wakes another worker only if there is more. Waking costs the waker a
/// system call and preempts the thread that was about to run the task.
final class Sleepers {
  private static final long ONE_UNPARKED = 1L << 32;
  private static final VarHandle CTL;

  static {
    try {
      CTL = MethodHandles.lookup().findVarHandle(Sleepers.class, "ctl", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused")
  private long p0, p1, p2, p3, p4, p5, p6, p7;

  private volatile long ctl;

  @SuppressWarnings("unused")
  private long q0, q1, q2, q3, q4, q5, q6, q7;

  /// Set in place of a signal if the publisher's stack had no room left for the call; the watchdog makes up for it.
  volatile boolean signalMissed;

  private final Object lock = new Object();
  private @Nullable Sleeper top;
  private final long allUnparked;
  private final int maxSearchers;
  private final boolean role;

  Sleepers(int workers, int maxSearchers, boolean role) {
    this.role = role;
    this.maxSearchers = maxSearchers;
    allUnparked = workers * ONE_UNPARKED;
    ctl = allUnparked;
  }

  /// To be called after every publication. Wakes one sleeper if nobody searches; with `immediate`, if
  /// fewer than the allowed number do. True if it woke one.
  boolean signal(boolean immediate) {
    return signal(immediate, null);
  }

  /// Likewise, for a publication in that inbox, where the woken worker looks first.
  boolean signal(boolean immediate, @Nullable Inbox source) {
    Platform.point(Point.BEFORE_SIGNAL);
    return wanted(ctl, immediate) && wake(immediate, source);
  }

  private boolean wanted(long c, boolean immediate) {
    return c < allUnparked && searching(c) < (immediate ? maxSearchers : 1);
  }

  private boolean wake(boolean immediate, @Nullable Inbox source) {
    Sleeper woken;
    Thread thread;
    long now = Platform.nanoTime();
    synchronized (lock) {
      // A CAS because others start and stop searching meanwhile without the lock.
      for (; ; ) {
        long c = ctl;
        woken = top;
        if (woken == null || !wanted(c, immediate)) {
          return false;
        }
        if (CTL.compareAndSet(this, c, c + ONE_UNPARKED + 1)) {
          break;
        }
      }
      // No call between the CAS and the permit: a publisher's stack may end here, and a worker off
      // the stack without a permit would never come back. With it, it does when its time is up.
      top = woken.below;
      woken.wokenSearching = true;
      woken.wokenNanos = now;
      woken.wokenFor = source;
      thread = woken.thread;
      woken.permit = true;
    }
    Platform.unpark(thread);
    return true;
  }

  /// Makes up for a signal that was missed.
  void repair() {
    if (signalMissed) {
      signalMissed = false;
      signal(false);
    }
  }

  /// Wakes that very worker if it sleeps: for its pinned tasks. The caller has published them before; a worker that
  /// announces its sleep looks for them afterwards, so one of the two sees the other.
  @SuppressWarnings("ReferenceEquality") // no calls, as in wake(boolean, Inbox)
  boolean wake(Sleeper sleeper) {
    Sleeper distributor = null;
    long now = Platform.nanoTime();
    synchronized (lock) {
      Sleeper above = null;
      Sleeper at = top;
      while (at != null && at != sleeper) {
        above = at;
        at = at.below;
      }
      if (at == null) {
        return false;
      }
      CTL.getAndAdd(this, ONE_UNPARKED);
      if (above == null) {
        top = sleeper.below;
      } else {
        above.below = sleeper.below;
      }
      sleeper.wokenSearching = false;
      sleeper.wokenNanos = now;
      sleeper.wokenFor = null;
      sleeper.permit = true;
      if (role && searching(ctl) == 0 && top != null) {
        distributor = top;
        top = distributor.below;
        CTL.getAndAdd(this, ONE_UNPARKED + 1);
      }
    }
    Platform.unpark(sleeper.thread);
    if (distributor != null) {
      distributor.wake(true);
    }
    return true;
  }

  /// The distributor has tasks in hand. A sleeper to hand them to, which is no longer asleep for anyone else; or null, and then the caller
  /// has left the role and runs them. It is null if nobody sleeps, or nobody else works and a sleeper was woken into the role.
  @Nullable Sleeper recipient() {
    synchronized (lock) {
      Sleeper next = top;
      if (next != null && unparked(ctl) > 1) {
        CTL.getAndAdd(this, ONE_UNPARKED);
        top = next.below;
        return next;
      }
    }
    passRole();
    return null;
  }

  /// The distributor works from here on: a sleeper takes the role over; without sleepers nobody needs it.
  void passRole() {
    Sleeper next;
    synchronized (lock) {
      next = top;
      if (next == null) {
        CTL.getAndAdd(this, -1L);
        return;
      }
      CTL.getAndAdd(this, ONE_UNPARKED);
      top = next.below;
    }
    next.wake(true);
  }

  /// Whether any other worker than the calling one is awake.
  boolean othersAwake() {
    return unparked(ctl) > 1;
  }

  /// Wakes everyone: the scheduler stops.
  void wakeAll() {
    for (; ; ) {
      Sleeper woken;
      synchronized (lock) {
        woken = top;
        if (woken == null) {
          return;
        }
        top = woken.below;
        CTL.getAndAdd(this, ONE_UNPARKED + 1);
      }
      woken.wake(true);
    }
  }

  /// Takes the search role if it is free.
  boolean startSearching() {
    if (role) {
      synchronized (lock) {
        return takeSearch();
      }
    }
    return takeSearch();
  }

  private boolean takeSearch() {
    for (; ; ) {
      long c = ctl;
      if (searching(c) >= maxSearchers && !Platform.mutated(Mutation.SEARCH_WITHOUT_LIMIT)) {
        return false;
      }
      if (CTL.compareAndSet(this, c, c + 1)) {
        if (Checks.ON) {
          Checks.that(searching(c) < maxSearchers, "I6: searchers <= maxSearchers");
        }
        return true;
      }
    }
  }

  /// Places where a worker that has given the search role back must look, and then signal if work is left there.
  enum Left {
    /// Nowhere: another one searches, or nobody sleeps who could be signalled.
    NOTHING,
    /// At its own deque, where the rest of a hand may be, and at work from outside. Nobody else is awake, and a sleeping worker has left
    /// nothing in its deque.
    OWN_AND_OUTSIDE,
    EVERYTHING
  }

  /// Gives the search role back because work was found. The last searcher must look whether more is left.
  Left stopSearching() {
    long before = (long) CTL.getAndAdd(this, -1L);
    if (Checks.ON) {
      Checks.that(searching(before) > 0, "searchers >= 0");
    }
    if (searching(before) != 1 || before >= allUnparked) {
      return Left.NOTHING;
    }
    if (unparked(before) == 1) {
      return Left.OWN_AND_OUTSIDE;
    }
    Fences.heavy();
    return Left.EVERYTHING;
  }

  /// Outcome of an announcement.
  enum Announced {
    /// Nothing: someone works and nobody else distributes, so the caller is the distributor.
    MUST_DISTRIBUTE,
    ASLEEP,
    /// Likewise; the checks of a broken variant ask for it.
    ASLEEP_AS_LAST_SEARCHER
  }

  /// Announces a sleep. Once asleep the caller must look at all queues, and signal if it finds anything.
  Announced announce(Sleeper sleeper, boolean searched) {
    long before;
    synchronized (lock) {
      if (role && unparked(ctl) > 1 && (searched || takeSearch())) {
        return Announced.MUST_DISTRIBUTE;
      }
      sleeper.below = top;
      top = sleeper;
      before = (long) CTL.getAndAdd(this, -ONE_UNPARKED - (searched ? 1 : 0));
      if (Checks.ON) {
        Checks.that(unparked(before) > 0, "workers awake >= 0");
        Checks.that(!searched || searching(before) > 0, "searchers >= 0");
      }
    }
    if (unparked(before) > 1) {
      Fences.heavy();
    }
    return searched && searching(before) == 1
        ? Announced.ASLEEP_AS_LAST_SEARCHER
        : Announced.ASLEEP;
  }

  int awake() {
    return unparked(ctl);
  }

  int searching() {
    return searching(ctl);
  }

  private static int unparked(long c) {
    return (int) (c >>> 32);
  }

  private static int searching(long c) {
    return (int) c;
  }
}
