package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Platform;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// One thread for everything that depends on time: timers, and conditions that must be polled. It starts with
/// the first of them, sleeps until the next one is due, and for good when there is none. It runs no user task; the
/// only user code on it are the checks of polled conditions.
///
/// All fields are guarded by `lock`; actions and checks run outside it.
final class Watcher {
  /// A timer's action; short, never user code.
  private static final class Entry implements Timer, Comparable<Entry> {
    final Watcher watcher;
    final long atNanos;
    final long sequence;
    @Nullable Runnable action; // null once fired or canceled

    Entry(Watcher watcher, long atNanos, long sequence, Runnable action) {
      this.watcher = watcher;
      this.atNanos = atNanos;
      this.sequence = sequence;
      this.action = action;
    }

    @Override
    public int compareTo(Entry other) {
      long difference = atNanos - other.atNanos; // times may wrap, differences do not
      return difference != 0 ? Long.signum(difference) : Long.compare(sequence, other.sequence);
    }

    @Override
    public boolean cancel() {
      return watcher.cancel(this);
    }
  }

  private static final int COMPACT_MINIMUM = 64;

  private final TaskScheduler scheduler;
  private final long intervalNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final PriorityQueue<Entry> timers = new PriorityQueue<>();
  private final List<Condition> polled = new ArrayList<>();
  private int canceledTimers;
  private long sequence;
  private boolean stopped;
  private @Nullable Thread thread;

  Watcher(TaskScheduler scheduler) {
    this.scheduler = scheduler;
    this.intervalNanos = scheduler.config().nanos(SchedulerConfig.Parameter.WATCHER_INTERVAL);
  }

  /// Runs `action` on the watcher after the delay.
  Timer schedule(Duration delay, Runnable action) {
    long at = Platform.nanoTime() + Math.min(delay.toNanos(), Long.MAX_VALUE / 4);
    lock.lock();
    try {
      Entry entry = new Entry(this, at, sequence++, action);
      timers.add(entry);
      start();
      if (timers.peek() == entry) {
        changed();
      }
      return entry;
    } finally {
      lock.unlock();
    }
  }

  /// Polls the condition until [Condition#poll()] says that nobody waits.
  void watch(Condition condition) {
    lock.lock();
    try {
      polled.add(condition);
      start();
      changed();
    } finally {
      lock.unlock();
    }
  }

  void stop() {
    lock.lock();
    try {
      stopped = true;
      changed();
    } finally {
      lock.unlock();
    }
  }

  private boolean cancel(Entry entry) {
    lock.lock();
    try {
      if (entry.action == null) {
        return false;
      }
      entry.action = null;
      // A canceled timer stays in the heap until it is due or until they are the majority:
      // canceling is O(1).
      canceledTimers++;
      if (canceledTimers > COMPACT_MINIMUM && canceledTimers > timers.size() / 2) {
        timers.removeIf(timer -> timer.action == null);
        canceledTimers = 0;
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  // Under the lock; parking remembers it for a thread that is still on its way to sleep.
  private void changed() {
    if (thread != null) {
      Platform.unpark(thread);
    }
  }

  private void start() {
    if (thread == null && !stopped) {
      Thread started = new Thread(this::run, scheduler.config().threadNamePrefix() + "-watcher");
      started.setDaemon(true);
      thread = started;
      Platform.start(started);
    }
  }

  private void run() {
    List<Runnable> due = new ArrayList<>();
    List<Condition> looks = new ArrayList<>();
    long nextPollNanos = Platform.nanoTime();
    for (; ; ) {
      lock.lock();
      try {
        for (; ; ) {
          if (stopped) {
            return;
          }
          long now = Platform.nanoTime();
          collectDue(now, due);
          boolean poll = !polled.isEmpty() && nextPollNanos - now <= 0;
          if (poll) {
            looks.addAll(polled);
            nextPollNanos = now + intervalNanos;
          }
          if (poll || !due.isEmpty()) {
            break;
          }
          sleep(now, nextPollNanos);
        }
      } finally {
        lock.unlock();
      }
      for (Runnable action : due) {
        fire(action);
      }
      due.clear();
      look(looks);
    }
  }

  private void collectDue(long now, List<Runnable> due) {
    for (Entry first = timers.peek(); first != null; first = timers.peek()) {
      if (first.action != null && first.atNanos - now > 0) {
        return;
      }
      timers.poll();
      if (first.action == null) {
        canceledTimers--;
      } else {
        due.add(first.action);
        first.action = null;
      }
    }
  }

  // Called with the lock held, which is given back meanwhile; the caller loops.
  private void sleep(long now, long nextPollNanos) {
    Entry first = timers.peek();
    long wait = first == null ? Long.MAX_VALUE : first.atNanos - now;
    if (!polled.isEmpty()) {
      wait = Math.min(wait, nextPollNanos - now);
    }
    lock.unlock();
    try {
      Platform.parkNanos(this, wait);
      Thread.interrupted(); // nobody may; a stray one must not turn later parks into spinning
    } finally {
      lock.lock();
    }
  }

  private void fire(Runnable action) {
    try {
      action.run();
    } catch (Throwable t) {
      scheduler.uncaught("timer", t);
    }
  }

  private void look(List<Condition> looks) {
    List<Condition> forgotten = new ArrayList<>();
    for (Condition condition : looks) {
      if (!condition.poll()) {
        forgotten.add(condition);
      }
    }
    looks.clear();
    if (!forgotten.isEmpty()) {
      lock.lock();
      try {
        // One occurrence each: a condition may have been added again since it said that nobody
        // waits.
        forgotten.forEach(polled::remove);
      } finally {
        lock.unlock();
      }
    }
  }
}
