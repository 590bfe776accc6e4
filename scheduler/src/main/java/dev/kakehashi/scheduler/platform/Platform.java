package dev.kakehashi.scheduler.platform;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Services that the scheduler takes from the machine: time, the current thread, starting, parking and pausing threads.
///
/// Under `-Dscheduler.check=true` a test may put a [Substitute] in its place: a simulation with virtual time that
/// decides who runs next, or faults at labelled points on real threads. Otherwise [Checks#ON] is a constant `false`,
/// and every method here compiles to the call it stands for, [#point] and [#mutated] to nothing.
public final class Platform {
  /// Stands for the machine. Methods are called by any thread.
  public interface Substitute {
    /// As [System#nanoTime()].
    default long nanoTime() {
      return System.nanoTime();
    }

    /// As [Thread#currentThread()].
    default Thread currentThread() {
      return Thread.currentThread();
    }

    /// As [Thread#threadId()].
    default long threadId(Thread thread) {
      return thread.threadId();
    }

    /// As [Thread#start()].
    default void start(Thread thread) {
      thread.start();
    }

    /// As [Thread#join(java.time.Duration)].
    default boolean join(Thread thread, long nanos) throws InterruptedException {
      return thread.join(java.time.Duration.ofNanos(nanos));
    }

    /// As [LockSupport#parkNanos(Object, long)].
    default void parkNanos(Object blocker, long nanos) {
      LockSupport.parkNanos(blocker, nanos);
    }

    /// As [LockSupport#unpark(Thread)].
    default void unpark(Thread thread) {
      LockSupport.unpark(thread);
    }

    /// As [Thread#onSpinWait()].
    default void pause() {
      Thread.onSpinWait();
    }

    /// As [Thread#yield()].
    @SuppressWarnings("ThreadPriorityCheck") // the name of what it stands for
    default void yieldNow() {
      Thread.yield();
    }

    /// A thread is between two steps of a protocol; it holds no lock but those of [#locked].
    default void point(Point point) {}

    /// The current thread takes (1) or gives back (-1) a lock under which it passes points.
    default void locked(int by) {}

    /// Whether the scheduler is to have this fault.
    default boolean mutated(Mutation mutation) {
      return false;
    }
  }

  /// Places between two steps of a protocol.
  public enum Point {
    DEQUE_STORED,
    DEQUE_MOVED,
    DEQUE_CLAIMED,
    INBOX_CLAIMED,
    INBOX_TAKING,
    BEFORE_SIGNAL,
    BEFORE_ANNOUNCE,
    ANNOUNCED,
    BEFORE_PARK,
    FOUND,
    LANE_ITEM,
    LANE_RELEASE,
    JOB_COUNT,
    JOB_END,
    CONDITION,
    EVENT_PREPARED,
    EVENT_CHANGED,
    PROCESS_STEP,
    PROCESS_POST,
    TOKEN,
    STOPPING
  }

  /// Faults that a test can switch on, to see that the checks find them.
  public enum Mutation {
    /// The thief copies first and claims afterwards.
    STEAL_READS_BEFORE_CLAIM,
    /// The owner does not look whether a thief still reads the slot.
    PUSH_IGNORES_SLOW_THIEF,
    /// Nobody looks at the queues after announcing a sleep.
    SLEEP_WITHOUT_RESCAN,
    /// Only the last searcher looks.
    ONLY_LAST_SEARCHER_RESCANS,
    /// The last searcher that found work does not look whether more is left.
    FINDER_DOES_NOT_LOOK,
    /// A searcher takes the role although all are taken.
    SEARCH_WITHOUT_LIMIT,
    /// The permit of a lane is given back before its items are counted off.
    LANE_PERMIT_BEFORE_COUNT,
    /// A lane starts its newest item first.
    LANE_NEWEST_FIRST,
    /// A lane gives out more permits than it has.
    LANE_WITHOUT_LIMIT,
    /// A pinned lane is queued where everybody takes from.
    PINNED_ANYWHERE,
    /// A spawned task is not counted.
    SPAWN_NOT_COUNTED,
    /// A runner keeps its credits when it finds nothing to do.
    CREDIT_NOT_RETURNED,
    /// A signal does not take the waiters off the condition.
    CONDITION_FIRES_TWICE,
    /// The watcher fires without having asked the check.
    CONDITION_IGNORES_CHECK,
    /// A signal that finds nobody waiting is forgotten.
    CONDITION_FORGETS_SIGNAL,
    /// A notifier looks at the waiters and does not move the epoch.
    EVENT_WITHOUT_EPOCH,
    /// A full deque spills into the inbox.
    OVERFLOW_INTO_INBOX,
    /// The fairness interval is counted in tasks, and the clock is not asked before it has passed.
    FAIRNESS_BY_COUNT,
    /// The same, and the interval follows the last sample alone.
    FAIRNESS_BY_LAST_SAMPLE,
    /// A taken slot keeps its task.
    SLOT_NOT_CLEARED,
    /// A discarded task is not counted.
    DISCARD_NOT_COUNTED,
    /// The time of a sleep ends without a look.
    SLEEP_FOR_EVER,
    /// A process that ran when an event came is not woken.
    PROCESS_WITHOUT_WAKE,
    /// A token is taken by load and store.
    TOKEN_WITHOUT_CAS
  }

  private static volatile @Nullable Substitute substitute;

  private Platform() {}

  /// Puts a substitute in the machine's place, null puts the machine back. For tests, while no scheduler lives.
  public static void substitute(@Nullable Substitute with) {
    if (!Checks.ON) {
      throw new IllegalStateException("needs -Dscheduler.check=true");
    }
    substitute = with;
  }

  private static @Nullable Substitute current() {
    return Checks.ON ? substitute : null;
  }

  public static long nanoTime() {
    Substitute s = current();
    return s == null ? System.nanoTime() : s.nanoTime();
  }

  public static Thread currentThread() {
    Substitute s = current();
    return s == null ? Thread.currentThread() : s.currentThread();
  }

  public static long threadId(Thread thread) {
    Substitute s = current();
    return s == null ? thread.threadId() : s.threadId(thread);
  }

  public static void start(Thread thread) {
    Substitute s = current();
    if (s == null) {
      thread.start();
    } else {
      s.start(thread);
    }
  }

  public static boolean join(Thread thread, long nanos) throws InterruptedException {
    Substitute s = current();
    return s == null ? thread.join(java.time.Duration.ofNanos(nanos)) : s.join(thread, nanos);
  }

  public static void parkNanos(Object blocker, long nanos) {
    Substitute s = current();
    if (s == null) {
      LockSupport.parkNanos(blocker, nanos);
    } else {
      s.parkNanos(blocker, nanos);
    }
  }

  public static void unpark(Thread thread) {
    Substitute s = current();
    if (s == null) {
      LockSupport.unpark(thread);
    } else {
      s.unpark(thread);
    }
  }

  public static void pause() {
    Substitute s = current();
    if (s == null) {
      Thread.onSpinWait();
    } else {
      s.pause();
    }
  }

  @SuppressWarnings("ThreadPriorityCheck")
  public // yields for speed only; nothing depends on it
  static void yieldNow() {
    Substitute s = current();
    if (s == null) {
      Thread.yield();
    } else {
      s.yieldNow();
    }
  }

  /// Between two steps of a protocol, without a lock held unless [#locked] says so.
  public static void point(Point point) {
    Substitute s = current();
    if (s != null) {
      s.point(point);
    }
  }

  /// The current thread takes (1) or gives back (-1) a lock under which it passes points.
  public static void locked(int by) {
    Substitute s = current();
    if (s != null) {
      s.locked(by);
    }
  }

  public static boolean mutated(Mutation mutation) {
    Substitute s = current();
    return s != null && s.mutated(mutation);
  }
}
