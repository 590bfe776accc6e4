package dev.kakehashi.queue.system;

import dev.kakehashi.engine.api.queue.QueueHost;
import org.jspecify.annotations.Nullable;

/// The time of all queues: two clocks, what is due by them, and one alarm of the host. Guarded by the lock of the queue system, but for the
/// reading of clocks.
///
/// Leases, waits and rates go by the monotonic clock, times that users say by the wall clock. That one may jump. So while anything waits
/// for it, it is looked at when the next one is due, and every 30 seconds at least.
///
/// The alarm is never later than the first deadline of the monotonic clock: each critical section ends with [#setAlarm]. It may be earlier,
/// because a deadline that goes leaves it; then it finds nothing.
public final class QueueClock {
  /// The wall clock may jump: it is looked at as often while anything waits for it.
  private static final long WALL_LOOK_NANOS = 30_000_000_000L;

  private final QueueRun run;
  private final QueueLock lock;
  private final Deadlines mono = new Deadlines();
  private final Deadlines wall = new Deadlines();
  private long startNanos;
  private QueueHost.@Nullable Alarm alarm;
  private long alarmAt;
  private boolean closed;

  /// Among the monotonic deadlines, for the first one of the wall clock.
  private final Deadline wallLook =
      new Deadline() {
        @Override
        public void reached() {}
      };

  public QueueClock(QueueRun run, QueueLock lock) {
    this.run = run;
    this.lock = lock;
  }

  public void start(QueueHost to) {
    startNanos = to.nanoTime();
    run.start(to);
  }

  /// No alarm rings any more.
  public void close() {
    closed = true;
    if (alarm != null) {
      alarm.cancel();
      alarm = null;
    }
  }

  // ---- reading; any thread ----

  public long nanoTime() {
    QueueHost now = run.hostIfStarted();
    return now == null ? System.nanoTime() : now.nanoTime();
  }

  public long wallMillis() {
    QueueHost now = run.hostIfStarted();
    return now == null ? System.currentTimeMillis() : now.wallMillis();
  }

  // ---- deadlines ----

  /// Start of this run, by the monotonic clock.
  public long startNanos() {
    return startNanos;
  }

  public void arm(Deadline node, long waitNanos) {
    mono.set(node, nanoTime() + waitNanos);
  }

  /// No effect if it has no deadline.
  public void disarm(Deadline node) {
    mono.remove(node);
  }

  public void armWall(Deadline node, long millis) {
    wall.set(node, millis);
    if (run.isStarted() && node.heapIndex == 0) {
      armWallLook(millis - wallMillis());
    }
  }

  /// No effect if it has no deadline.
  public void disarmWall(Deadline node) {
    wall.remove(node);
  }

  /// Whether the time of a monotonic deadline has come, also if that was noticed already.
  public boolean isOver(Deadline node) {
    return node.due - nanoTime() <= 0;
  }

  private void armWallLook(long millis) {
    long wait =
        millis > WALL_LOOK_NANOS / 1_000_000 ? WALL_LOOK_NANOS : Math.max(1, millis) * 1_000_000;
    long at = nanoTime() + wait;
    if (wallLook.heapIndex < 0 || at - wallLook.due < 0) {
      mono.set(wallLook, at);
    }
  }

  // ---- the alarm ----

  /// Makes the alarm ring in time for the first deadline.
  public void setAlarm(QueueHost to) {
    Deadline first = mono.first();
    if (first != null && !closed && (alarm == null || first.due - alarmAt < 0)) {
      if (alarm != null) {
        alarm.cancel();
      }
      alarmAt = first.due;
      alarm = to.after(Math.max(0, first.due - to.nanoTime()), this::ring);
    }
  }

  private void ring() {
    lock.enter();
    try {
      alarm = null;
      if (closed) {
        return;
      }
      long nanos = nanoTime();
      for (Deadline due = mono.poll(nanos); due != null; due = mono.poll(nanos)) {
        due.reached();
      }
      lookAtWall();
    } finally {
      lock.exit();
    }
  }

  /// Serves what is due by the wall clock, and makes the next look sure.
  public void lookAtWall() {
    long now = wallMillis();
    for (Deadline due = wall.poll(now); due != null; due = wall.poll(now)) {
      due.reached();
    }
    Deadline first = wall.first();
    if (first != null) {
      armWallLook(first.due - now);
    }
  }
}
