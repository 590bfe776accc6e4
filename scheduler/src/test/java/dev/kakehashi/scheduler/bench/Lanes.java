package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.Affinity;
import dev.kakehashi.scheduler.Lane;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// Statements of many transactions, of which each runs its own one at a time and in order: by a lane that the transaction
/// holds, by the key of a sticky task, by a pinned one. Each statement reads and writes what its transaction has.
final class Lanes {
  private static final int TRANSACTIONS = 64;
  private static final int STATEMENTS = 200;
  private static final int LONGS =
      1024; // 8 KiB: two transactions share a first-level cache, not all

  private Lanes() {}

  static Row stickyAgainstLane(Pools pools, int repetitions) {
    TaskScheduler ours = pools.ours;
    return new Row(
            "statements of "
                + TRANSACTIONS
                + " transactions, one at a time each: lane against sticky",
            "ns/statement",
            repetitions)
        .ratio(1.0)
        .ours(() -> run(ours, key -> ours.newLane(1)))
        .base("ours, sticky by key", () -> run(ours, ours::sticky))
        .base(
            "ours, sticky, pinned", () -> run(ours, key -> ours.sticky(-1 - key, Affinity.PINNED)))
        .other("ours, without order", () -> run(ours, null));
  }

  /// @param lanes the lane of a transaction's key; null for none
  private static double run(TaskScheduler scheduler, @Nullable IntFunction<Lane> lanes)
      throws InterruptedException {
    long[][] data = new long[TRANSACTIONS][LONGS];
    Lane[] lane = new Lane[TRANSACTIONS];
    CountDownLatch ended = new CountDownLatch(TRANSACTIONS * STATEMENTS);
    long start = System.nanoTime();
    for (int i = 0; i < TRANSACTIONS && lanes != null; i++) {
      lane[i] = lanes.apply(i);
    }
    for (int statement = 0; statement < STATEMENTS; statement++) {
      for (int i = 0; i < TRANSACTIONS; i++) {
        long[] own = data[i];
        Task task =
            context -> {
              for (int at = 0; at < own.length; at++) {
                own[at] += at;
              }
              ended.countDown();
              return null;
            };
        if (lanes == null) {
          scheduler.submit(task);
        } else {
          lane[i].submit(task);
        }
      }
    }
    ended.await();
    long nanos = System.nanoTime() - start;
    for (long[] own : data) {
      if (lanes != null && own[1] != STATEMENTS) {
        throw new IllegalStateException("statements of a transaction overlapped");
      }
    }
    return nanos / (double) (TRANSACTIONS * STATEMENTS);
  }
}
