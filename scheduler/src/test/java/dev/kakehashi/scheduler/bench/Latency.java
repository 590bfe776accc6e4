package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskScheduler;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// How long single tasks wait: for a parked caller, in an idle pool, behind a long job.
final class Latency {
  private static final int ROUND_TRIPS = 5_000;
  private static final int WAKE_UPS = 300;
  private static final long IDLE_NANOS = 1_500_000;
  private static final long TASK_NANOS = 500_000;
  private static final int LONG_TASKS = 2_000;
  private static final Duration LONG = Duration.ofMinutes(1);

  private Latency() {}

  // ---- the caller submits and parks until the task has run ----

  static Row roundTrip(Pools pools, int repetitions) {
    return new Row("round trip of one task, parked caller, p50", "us", 0.5, repetitions)
        .ours(() -> roundTrip(submitter(pools.ours)))
        .oursToo("ours, Job.await", () -> roundTripOfJobs(pools.ours))
        .forkJoin("async", () -> roundTrip(pools.async))
        .forkJoin("lifo", () -> roundTrip(pools.lifo))
        .other("ThreadPoolExecutor", () -> roundTrip(pools.threads))
        .other("virtual threads", () -> roundTrip(pools.virtual));
  }

  private static Executor submitter(TaskScheduler scheduler) {
    return runnable ->
        scheduler.execute(context -> {
          runnable.run();
          return null;
        });
  }

  private static double roundTrip(Executor executor) {
    Thread caller = Thread.currentThread();
    AtomicInteger ran = new AtomicInteger();
    Runnable task =
        () -> {
          ran.incrementAndGet();
          LockSupport.unpark(caller);
        };
    long[] nanos = new long[ROUND_TRIPS];
    for (int i = 0; i < ROUND_TRIPS; i++) {
      long start = System.nanoTime();
      executor.execute(task);
      while (ran.get() == i) {
        LockSupport.park(executor);
      }
      nanos[i] = System.nanoTime() - start;
    }
    return quantile(nanos, 50);
  }

  private static double roundTripOfJobs(TaskScheduler scheduler) throws InterruptedException {
    Task task = context -> null;
    long[] nanos = new long[ROUND_TRIPS];
    for (int i = 0; i < ROUND_TRIPS; i++) {
      long start = System.nanoTime();
      if (!scheduler.submit(task).await(LONG)) {
        throw new IllegalStateException("the job did not end");
      }
      nanos[i] = System.nanoTime() - start;
    }
    return quantile(nanos, 50);
  }

  // ---- one submission to a pool that sleeps ----

  static Row wakeUp(Pools pools, boolean callerSleeps, int percent, int repetitions) {
    return new Row(
            "wake-up of an idle pool, p"
                + percent
                + ", caller "
                + (callerSleeps ? "sleeps" : "spins")
                + " afterwards",
            "us",
            1.0,
            repetitions)
        .ours(() -> wakeUp(submitter(pools.ours), callerSleeps, percent))
        .forkJoin("async", () -> wakeUp(pools.async, callerSleeps, percent))
        .forkJoin("lifo", () -> wakeUp(pools.lifo, callerSleeps, percent))
        .other("ThreadPoolExecutor", () -> wakeUp(pools.threads, callerSleeps, percent))
        .other("virtual threads", () -> wakeUp(pools.virtual, callerSleeps, percent));
  }

  private static double wakeUp(Executor executor, boolean callerSleeps, int percent)
      throws InterruptedException {
    long[] nanos = new long[WAKE_UPS];
    CountDownLatch all = new CountDownLatch(WAKE_UPS);
    for (int i = 0; i < WAKE_UPS; i++) {
      int at = i;
      long start = System.nanoTime();
      executor.execute(() -> {
        nanos[at] = System.nanoTime() - start;
        all.countDown();
      });
      if (callerSleeps) {
        LockSupport.parkNanos(IDLE_NANOS);
      } else {
        while (System.nanoTime() - start < IDLE_NANOS) {
          Thread.onSpinWait();
        }
      }
    }
    all.await();
    return quantile(nanos, percent);
  }

  // ---- short tasks behind one long job of 500 us tasks ----

  static Row behindLongJob(Pools pools, int repetitions) {
    int units = Work.unitsIn(TASK_NANOS);
    return new Row("p99 of short tasks behind a long job of 500 us tasks", "us", null, repetitions)
        .ours(() -> ourLongJob(pools.ours, units, true).p99Micros())
        .forkJoin("async", () -> longJob(pools.async, units, true).p99Micros())
        .forkJoin("lifo", () -> longJob(pools.lifo, units, true).p99Micros())
        .other("ThreadPoolExecutor", () -> longJob(pools.threads, units, true).p99Micros());
  }

  static Row longJobSpeed(Pools pools, int repetitions) {
    int units = Work.unitsIn(TASK_NANOS);
    return new Row("the same long job", "ms", null, repetitions)
        .ours(() -> ourLongJob(pools.ours, units, true).millis())
        .oursToo("ours, alone", () -> ourLongJob(pools.ours, units, false).millis())
        .forkJoin("async", () -> longJob(pools.async, units, true).millis())
        .forkJoin("lifo", () -> longJob(pools.lifo, units, true).millis());
  }

  record Outcome(double millis, double p99Micros) {}

  static Outcome ourLongJob(TaskScheduler scheduler, int units, boolean disturbed)
      throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(1);
    long start = System.nanoTime();
    Task part =
        context -> {
          Work.units(units);
          return null;
        };
    scheduler
        .job("long")
        .onTeardown(job -> ended.countDown())
        .submit(context -> {
          for (int i = 0; i < LONG_TASKS; i++) {
            context.spawn(part);
          }
          return null;
        });
    return outcome(start, submitter(scheduler), ended, disturbed);
  }

  private static Outcome longJob(ExecutorService pool, int units, boolean disturbed)
      throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(LONG_TASKS);
    Runnable part =
        () -> {
          Work.units(units);
          ended.countDown();
        };
    long start = System.nanoTime();
    pool.execute(() -> {
      for (int i = 0; i < LONG_TASKS; i++) {
        pool.execute(part); // from a worker of a ForkJoinPool: into its own deque
      }
    });
    return outcome(start, pool, ended, disturbed);
  }

  /// One probe each millisecond while the job runs.
  private static Outcome outcome(
      long start, Executor executor, CountDownLatch ended, boolean disturbed)
      throws InterruptedException {
    if (!disturbed) {
      ended.await();
      return new Outcome((System.nanoTime() - start) / 1e6, 0);
    }
    long[] nanos = new long[100_000];
    int submitted = 0;
    AtomicInteger ran = new AtomicInteger();
    long end = start;
    while (ended.getCount() > 0 && submitted < nanos.length) {
      int at = submitted++;
      long submittedNanos = System.nanoTime();
      executor.execute(() -> {
        nanos[at] = System.nanoTime() - submittedNanos;
        ran.incrementAndGet();
      });
      LockSupport.parkNanos(1_000_000);
      end = System.nanoTime();
    }
    while (ran.get() < submitted) {
      Thread.onSpinWait();
    }
    return new Outcome((end - start) / 1e6, quantile(Arrays.copyOf(nanos, submitted), 99));
  }

  private static double quantile(long[] nanos, int percent) {
    Arrays.sort(nanos);
    return nanos[(int) ((nanos.length - 1L) * percent / 100)] / 1000.0;
  }
}
