package dev.kakehashi.scheduler.bench;

import com.sun.management.ThreadMXBean;
import dev.kakehashi.scheduler.Lane;
import dev.kakehashi.scheduler.Option;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskScheduler;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// Costs that are no times: bytes allocated for a task, processor time of idle pools. Also the cost of the metrics, and the light job on
/// its caller.
public final class Cost {
  private static final int CALLER_JOBS = 300_000;
  private static final int SPAWNED = 1_000;
  private static final int ROUNDS = 2_000;
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

  // ---- what the metrics cost: a JVM with them and one without, in turn ----

  static Row metrics(int repetitions) {
    return new Row(
            "tasks of about 500 ns, spawned, with metrics and without", "ns/task", repetitions)
        .ratio(1.01)
        .ours(() -> otherJvm("true"))
        .base("ours, -Dscheduler.metrics=false", () -> otherJvm("false"));
  }

  private static double otherJvm(String metrics) throws IOException, InterruptedException {
    java.lang.Process jvm =
        Jvm.start(
            Cost.class,
            List.of("-Dscheduler.metrics=" + metrics),
            ProcessBuilder.Redirect.PIPE,
            List.of());
    String output = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (jvm.waitFor() != 0) {
      throw new IllegalStateException("the measuring JVM failed: " + output);
    }
    return Double.parseDouble(output.strip());
  }

  /// Prints the least time of a task, in nanoseconds: one worker, so that nothing but the work is in it.
  public static void main(String[] args) throws InterruptedException {
    try (TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(1).build())) {
      Task child =
          context -> {
            Work.third(5);
            return null;
          };
      Task parent =
          context -> {
            for (int i = 0; i < SPAWNED; i++) {
              context.spawn(child);
            }
            return null;
          };
      double least = Double.MAX_VALUE;
      for (int i = 0; i < ROUNDS; i++) {
        least = Math.min(least, Spawning.job(scheduler, parent, SPAWNED));
      }
      System.out.println(least);
    }
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
