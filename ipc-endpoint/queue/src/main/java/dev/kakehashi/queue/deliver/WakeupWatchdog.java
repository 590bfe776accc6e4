package dev.kakehashi.queue.deliver;

import dev.kakehashi.queue.order.GroupCore;
import dev.kakehashi.queue.order.QueueCenter;
import dev.kakehashi.queue.order.QueueCore;
import dev.kakehashi.queue.system.Deadline;

/// Looks for ready tasks beside waiting consumers, once a second as long as anybody waits. It is the belt to the braces of
/// [GroupConsumers]: what it finds is counted, and served. Guarded by the lock of the queue system.
///
/// Its deadline: the next look.
final class WakeupWatchdog extends Deadline {
  private static final long WATCH_NANOS = 1_000_000_000L;

  private final QueueCenter center;
  private boolean watching;
  private boolean watchNext;

  WakeupWatchdog(QueueCenter center) {
    this.center = center;
  }

  /// Somebody waits: looks are taken as long as that is so.
  void watch() {
    if (!watching) {
      watching = true;
      center.clock.arm(this, WATCH_NANOS);
    }
  }

  /// A look has found something that may be over in a moment: the next one follows soon.
  void watchSoon() {
    watchNext = true;
  }

  @Override
  public void reached() {
    watching = false;
    watchNext = false;
    boolean anybody = false;
    long nanos = center.clock.nanoTime();
    for (QueueCore queue : center.queues.values()) {
      for (GroupCore group : queue.groups) {
        anybody |= GroupConsumers.of(group).look(nanos);
      }
    }
    if (anybody) {
      watching = true;
      center.clock.arm(this, watchNext ? GroupConsumers.LATE_NANOS + 1_000_000 : WATCH_NANOS);
    }
  }
}
