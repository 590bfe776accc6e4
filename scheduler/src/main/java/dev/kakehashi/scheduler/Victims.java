package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerConfig.VictimOrder;
import org.jspecify.annotations.Nullable;

/// Whom a worker steals from, and in which order it asks. Confined to that worker's thread.
final class Victims {
  private final TaskScheduler scheduler;
  private final Counters counters;
  private final int thief;
  private final int stealLimit;
  private final VictimOrder order;
  private int last = -1;
  private int random;

  Victims(TaskScheduler scheduler, Counters counters, int thief) {
    this.scheduler = scheduler;
    this.counters = counters;
    this.thief = thief;
    stealLimit = scheduler.config().intValue(Parameter.STEAL_LIMIT);
    order = scheduler.config().victimOrder();
    random = 0x9E3779B9 * (thief + 1);
  }

  /// Takes up to half of what the first worker with at least `least` tasks has, into `batch` as pairs (task, job).
  int steal(@Nullable Object[] batch, int least) {
    Worker[] workers = scheduler.workers();
    int victim = first(workers.length);
    for (int i = 0; i < workers.length; i++) {
      if (victim != thief) {
        PackedDeque from = workers[victim].deque;
        if (from.size() >= least) {
          counters.add(Counters.STEAL_ATTEMPTS);
          int n = from.stealHalf(batch, stealLimit, least);
          if (n > 0) {
            last = victim;
            counters.add(Counters.STEAL_SUCCESSES);
            counters.add(Counters.STEAL_ITEMS, n);
            return n;
          }
        }
      }
      victim = victim + 1 == workers.length ? 0 : victim + 1;
    }
    return 0;
  }

  private int first(int n) {
    if (last >= 0 && order != VictimOrder.RANDOM) {
      return order == VictimOrder.LAST_FIRST ? last : (last + 1) % n;
    }
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    return (int) (((random & 0xFFFF_FFFFL) * n) >>> 32);
  }
}
