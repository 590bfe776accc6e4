package dev.kakehashi.scheduler.bench;

import com.sun.management.ThreadMXBean;
import dev.kakehashi.scheduler.Lane;
import dev.kakehashi.scheduler.Option;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskScheduler;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;

/// What is not a time: bytes allocated for a task, processor time of idle pools; and the light job on its caller.
final class Cost {
  private static final int CALLER_JOBS = 300_000;
  private static final long IDLE_MILLIS = 1_000;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Cost() {}

  /// Bytes that all threads allocate while `measure` runs, per task.
  static Row.Measure bytes(Row.Measure measure, double tasks) {
    return () -> {
      long before = THREADS.getTotalThreadAllocatedBytes();
      measure.run();
      return (THREADS.getTotalThreadAllocatedBytes() - before) / tasks;
    };
  }

  /// Processor time per second of the threads whose names start so, while nothing is submitted.
  static double idleMillisPerSecond(String prefix) throws InterruptedException {
    Thread.sleep(100);
    long[] ids =
        Arrays.stream(THREADS.dumpAllThreads(false, false))
            .filter(thread -> thread.getThreadName().startsWith(prefix))
            .mapToLong(java.lang.management.ThreadInfo::getThreadId)
            .toArray();
    long before = Arrays.stream(ids).map(THREADS::getThreadCpuTime).sum();
    Thread.sleep(IDLE_MILLIS);
    long after = Arrays.stream(ids).map(THREADS::getThreadCpuTime).sum();
    return (after - before) / 1e6 / (IDLE_MILLIS / 1000.0);
  }

  /// A light job with a lane on its caller, as the endpoint's polling thread runs point statements.
  static void light(TaskScheduler scheduler, int repetitions) {
    Lane lane = scheduler.newLane(1);
    int[] teardowns = new int[1];
    Task task = context -> null;
    double[] nanos = new double[repetitions];
    double bytes = 0;
    for (int r = -2; r < repetitions; r++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      long start = System.nanoTime();
      for (int i = 0; i < CALLER_JOBS; i++) {
        scheduler
            .job("sql")
            .lane(lane)
            .option(Option.CALLER)
            .onTeardown(job -> teardowns[0]++)
            .submit(task);
      }
      if (r >= 0) {
        nanos[r] = (System.nanoTime() - start) / (double) CALLER_JOBS;
        bytes = (THREADS.getCurrentThreadAllocatedBytes() - before) / (double) CALLER_JOBS;
      }
    }
    if (teardowns[0] != CALLER_JOBS * (repetitions + 2)) {
      throw new IllegalStateException("teardowns: " + teardowns[0]);
    }
    Arrays.sort(nanos);
    System.out.printf(
        Locale.ROOT,
        "%nlight job with lane on its caller%n  ours %.1f ns/job [%.1f .. %.1f], %.0f bytes%n",
        nanos[repetitions / 2],
        nanos[0],
        nanos[repetitions - 1],
        bytes);
  }
}
