package dev.kakehashi.applications.watch;

import java.lang.management.ManagementFactory;
import jdk.management.VirtualThreadSchedulerMXBean;
import org.jspecify.annotations.Nullable;

/// Adds threads that carry virtual ones while calls occupy some for long, so that everybody else's go on. The operating system shares the
/// processors out among them. Used by the watch's thread.
///
/// Virtual threads are not preempted: without this, as many loops as there are processors would stop all calls, and HTTP, until their time
/// limit.
final class Carriers {
  private static final int MOST_ADDED = 64;

  /// Threads that are begun for one bound, at a look each. Mostly the first one is carried.
  private static final int MOST_BEGUN = 64;

  private final VirtualThreadSchedulerMXBean scheduler =
      ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
  private final int usual = scheduler.getParallelism();
  private int added;

  /// The last one that was begun for a carrier to be made; null: none is wanted.
  private @Nullable Thread begun;

  private int beginnings;

  /// Called at each look.
  ///
  /// @param busy virtual threads that have not waited for anything for a while
  void adjust(int busy) {
    int wanted = Math.min(busy, MOST_ADDED);
    boolean isMore = wanted > added;
    if (wanted != added) {
      added = wanted;
      scheduler.setParallelism(usual + wanted);
    }
    Thread last = begun;
    if (isMore) {
      beginnings = 0;
      begin();
    } else if (last != null && last.isAlive() && added > 0 && beginnings < MOST_BEGUN) {
      begin();
    } else if (last != null && !last.isAlive()) {
      begun = null;
    }
  }

  /// A higher bound makes no carrier. One is made when a thread begins, if no other waits in the queue in which it begins; who has a
  /// carrier then takes along all that wait. Each platform thread has one of some queues, so it is a new one that begins it, and another
  /// one at the next look if nobody has carried it by then.
  private void begin() {
    beginnings++;
    Thread next = Thread.ofVirtual().name("kakehashi-carrier-wanted").unstarted(() -> {});
    begun = next;
    Thread.ofPlatform().daemon().name("kakehashi-carrier-wanted").start(next::start);
  }
}
