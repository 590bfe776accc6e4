package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayDeque;

/// Lets threads that are not workers wait for a change without a lock around the check. Thread-safe.
///
/// ```
///  long key = events.prepare();
///  if (thereIsSomething()) { events.cancel(key); } else { events.await(key, timeout); }
/// ```
///
/// One word holds the epoch (high half) and the number of waiters (low half). A waiter counts itself by RMW before
/// it checks; a notifier changes what is checked and then adds to the epoch by RMW. So either the waiter's
/// check sees the change, or the notifier sees the waiter and the waiter sees the epoch move. Without
/// waiters a notification is one load after a fence.
public final class EventCount {
  private static final long ONE_EPOCH = 1L << 32;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(EventCount.class, "state", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile long state;
  private final ArrayDeque<Thread> parked = new ArrayDeque<>(); // guarded by itself

  /// Creates one without waiters.
  public EventCount() {}

  /// Announces a wait; must be followed by exactly one [#cancel] or [#await] with the returned key.
  public long prepare() {
    long key = ((long) STATE.getAndAdd(this, 1L)) >>> 32;
    Platform.point(Point.EVENT_PREPARED);
    return key;
  }

  /// Withdraws the announcement: the check was true.
  public void cancel(long key) {
    STATE.getAndAdd(this, -1L);
  }

  /// Waits until a notification after [#prepare]; false if the time ran out or the thread was interrupted
  /// (whose flag then stays set).
  public boolean await(long key, Duration timeout) {
    long deadlineNanos = Platform.nanoTime() + timeout.toNanos();
    Thread me = Platform.currentThread();
    synchronized (parked) {
      parked.add(me);
    }
    boolean notified = state >>> 32 != key;
    while (!notified) {
      long left = deadlineNanos - Platform.nanoTime();
      if (left <= 0 || me.isInterrupted()) {
        break;
      }
      Platform.parkNanos(this, left);
      notified = state >>> 32 != key;
    }
    synchronized (parked) {
      parked.remove(me);
    }
    STATE.getAndAdd(this, -1L);
    return notified;
  }

  /// Wakes everyone who prepared before. Call it after the change that they wait for.
  public void notifyWaiters() {
    VarHandle
        .fullFence(); // the caller's change before the look at the waiters, whatever its access
    // mode
    Platform.point(Point.EVENT_CHANGED);
    if ((int) state == 0) {
      return;
    }
    if (!Platform.mutated(Mutation.EVENT_WITHOUT_EPOCH)) {
      STATE.getAndAdd(this, ONE_EPOCH);
    }
    synchronized (parked) {
      parked.forEach(Platform::unpark);
    }
  }
}
