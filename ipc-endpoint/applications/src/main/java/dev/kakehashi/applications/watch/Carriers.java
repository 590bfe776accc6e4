package dev.kakehashi.applications.watch;

import java.lang.management.ManagementFactory;
import jdk.management.VirtualThreadSchedulerMXBean;

/// Adds threads that carry virtual ones while calls occupy some for long, so that everybody else's go on. The operating system shares the processors out among them. Used by the watch's thread.
///
/// Virtual threads are not preempted: without this, as many loops as there are processors would stop all calls, and HTTP, until their time limit.
final class Carriers {
  private static final int MOST_ADDED = 64;

  private final VirtualThreadSchedulerMXBean scheduler =
      ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
  private final int usual = scheduler.getParallelism();
  private int added;

  /// @param busy virtual threads that have not waited for anything for a while
  void adjust(int busy) {
    int wanted = Math.min(busy, MOST_ADDED);
    if (wanted != added) {
      added = wanted;
      scheduler.setParallelism(usual + wanted);
    }
  }
}
