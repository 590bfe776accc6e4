package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerConfig.VictimOrder;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Topology;
import org.jspecify.annotations.Nullable;

/// Whom a worker steals from, and in which order it asks: the nearest first ([Topology]), and among equally near ones as
/// `victimOrder` says. Every look asks all of them. Confined to that worker's thread.
///
/// *A single task* is mostly about to be popped by its owner: two tasks that spawn each other would move from worker to
/// worker, a cache miss for both sides each time. So it is taken only if the last looks have all found it or another
/// one there. That bounds its wait by some looks. A searching worker looks more often than that before it sleeps, and a worker that sleeps
/// beside the task is woken again.
final class Victims {
  private static final int LOOKS_FOR_ONE = 8;

  private final TaskScheduler scheduler;
  private final Counters counters;
  private final int stealLimit;
  private final VictimOrder order;
  private final int[][] groups; // workers equally near, nearest first
  private final int[] last; // place in its group of the last success, or -1
  private final int[] lone; // by worker: looks in a row that found one task
  private int random;

  Victims(TaskScheduler scheduler, Counters counters, int thief) {
    this.scheduler = scheduler;
    this.counters = counters;
    SchedulerConfig config = scheduler.config();
    stealLimit = config.intValue(Parameter.STEAL_LIMIT);
    order = config.victimOrder();
    Topology topology =
        config.flag(Parameter.VICTIM_LOCALITY) ? config.topology() : Topology.flat();
    groups = topology.othersByDistance(thief, config.workers());
    last = new int[groups.length];
    java.util.Arrays.fill(last, -1);
    lone = new int[config.workers()];
    random = 0x9E3779B9 * (thief + 1);
  }

  /// Takes up to half of what the first worker with at least `least` tasks has, into `batch` as pairs (task, job).
  int steal(@Nullable Object[] batch, int least) {
    for (int g = 0; g < groups.length; g++) {
      int[] group = groups[g];
      int at = first(group.length, last[g]);
      for (int i = 0; i < group.length; i++) {
        StealHalfDeque from = scheduler.workers()[group[at]].deque;
        int size = from.size();
        if (size >= least && (size > 1 || lone[group[at]] >= LOOKS_FOR_ONE)) {
          counters.add(Counters.STEAL_ATTEMPTS);
          int n = from.stealHalf(batch, stealLimit, least);
          if (n > 0) {
            last[g] = at;
            counters.add(Counters.STEAL_SUCCESSES);
            counters.add(Counters.STEAL_ITEMS, n);
            return n;
          }
        }
        lone[group[at]] = size == 1 ? lone[group[at]] + 1 : 0;
        at = at + 1 == group.length ? 0 : at + 1;
      }
    }
    return 0;
  }

  private int first(int n, int lastSuccess) {
    if (lastSuccess >= 0 && order != VictimOrder.RANDOM) {
      return order == VictimOrder.LAST_FIRST ? lastSuccess : (lastSuccess + 1) % n;
    }
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    return (int) (((random & 0xFFFF_FFFFL) * n) >>> 32);
  }
}
