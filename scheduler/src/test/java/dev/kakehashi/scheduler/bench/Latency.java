package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// How long single tasks wait: for a parked caller, in an idle pool, behind a long job.
final class Latency {
  private static final int ROUND_TRIPS = 5_000;
  private static final int SIGNALS = 300;
  private static final int WAKE_UPS = 30; // a turn
  private static final int FIRST_WAKE_UPS =
      3; // likewise, not counted: the others' turns are between
  private static final int WARM_UPS = 20_000; // until the compiled code is the last one
  private static final long WARM_UP_PAUSE_NANOS =
      50_000; // and as long as a timer is late: all sleep again
  private static final long IDLE_NANOS = 1_500_000;
  private static final long TASK_NANOS = 500_000;
  private static final int LONG_TASKS = 2_000;
  private static final Duration LONG = Duration.ofMinutes(1);

  private Latency() {}

  // ---- the caller submits and parks until the task has run ----

  static Row roundTrip(Pools pools, int repetitions) {
    return new Row("round trip of one task, parked caller, p50", "us", repetitions)
        .ratio(0.5)
        .ours(() -> roundTrip(submitter(pools.ours)))
        .forkJoin("async", () -> roundTrip(pools.async))
        .forkJoin("lifo", () -> roundTrip(pools.lifo))
        .other("ThreadPoolExecutor", () -> roundTrip(pools.threads))
        .other("virtual threads", () -> roundTrip(pools.virtual))
        .floor("a thread that spins", Latency::roundTripToSpinning)
        .floor("a thread that parks", () -> roundTrip(pools.parking));
  }

  static Row roundTripOfJobs(Pools pools, int repetitions) {
    return new Row("the same, waited for with Job.await or ForkJoinTask.get", "us", repetitions)
        .ratio(0.5)
        .ours(() -> roundTripOfJobs(pools.ours))
        .forkJoin("async", () -> roundTripOfTasks(pools.async))
        .forkJoin("lifo", () -> roundTripOfTasks(pools.lifo))
        .other("ThreadPoolExecutor", () -> roundTripOfTasks(pools.threads))
        .other("virtual threads", () -> roundTripOfTasks(pools.virtual));
  }

  static Executor submitter(TaskScheduler scheduler) {
    return runnable ->
        scheduler.execute(context -> {
          runnable.run();
          return null;
        });
  }

  private static double roundTripToSpinning() {
    try (OneThread spinning = OneThread.spinning()) {
      return roundTrip(spinning);
    }
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

  private static double roundTripOfTasks(ExecutorService executor) throws Exception {
    Runnable task = () -> {};
    long[] nanos = new long[ROUND_TRIPS];
    for (int i = 0; i < ROUND_TRIPS; i++) {
      long start = System.nanoTime();
      executor.submit(task).get();
      nanos[i] = System.nanoTime() - start;
    }
    return quantile(nanos, 50);
  }

  // ---- a task that waits for a condition, and its signal ----

  static Row signalled(Pools pools, int repetitions) {
    return new Row("from the signal of a condition to its task, idle pool, p50", "us", repetitions)
        .figure(50)
        .ours(() -> signalled(pools.ours, IDLE_NANOS, 50))
        .oursToo("ours, p99", () -> signalled(pools.ours, IDLE_NANOS, 99))
        .oursToo("ours, workers awake", () -> signalled(pools.ours, 20_000, 50));
  }

  /// The task waits; after a pause as given the caller signals, and the task says when it runs.
  private static double signalled(TaskScheduler scheduler, long pauseNanos, int percent)
      throws InterruptedException {
    long[] nanos = new long[SIGNALS];
    Condition condition = scheduler.condition();
    AtomicLong signalledNanos = new AtomicLong();
    AtomicInteger ran = new AtomicInteger();
    Task task =
        new Task() {
          @Override
          public @Nullable Task run(TaskContext context) {
            int at = ran.get();
            nanos[at] = System.nanoTime() - signalledNanos.get();
            ran.setRelease(at + 1);
            return at + 1 < SIGNALS ? context.await(condition, this) : null;
          }
        };
    Job job = scheduler.submit(context -> context.await(condition, task));
    for (int i = 0; i < SIGNALS; i++) {
      while (condition.pending() == 0) {
        Thread.onSpinWait();
      }
      LockSupport.parkNanos(pauseNanos);
      signalledNanos.set(System.nanoTime());
      condition.signal();
    }
    if (!job.await(LONG)) {
      throw new IllegalStateException("the job did not end");
    }
    return quantile(nanos, percent);
  }

  // ---- one submission to a pool that sleeps ----

  static Row wakeUp(Pools pools, boolean callerSleeps, int repetitions) {
    String title = "wake-up of an idle pool, caller " + (callerSleeps ? "sleeps" : "spins");
    return new Row(
            List.of(title + " afterwards, p50", title + " afterwards, p99"), "us", repetitions)
        .percentiles(50, 99)
        .ratio(1.0)
        .oursAll(() -> wakeUp(submitter(pools.ours), callerSleeps))
        .forkJoinAll("async", () -> wakeUp(pools.async, callerSleeps))
        .forkJoinAll("lifo", () -> wakeUp(pools.lifo, callerSleeps))
        .otherAll("ThreadPoolExecutor", () -> wakeUp(pools.threads, callerSleeps))
        .otherAll("virtual threads", () -> wakeUp(pools.virtual, callerSleeps))
        .floorAll("a thread that parks", () -> wakeUp(pools.parking, callerSleeps));
  }

  /// Wakes every pool as often as it takes until what they do is compiled for good, as it is in a program that has run for
  /// some minutes: a few hundred wake-ups would measure the interpreter and its profiles.
  static void warmUp(Pools pools) {
    List.of(submitter(pools.ours), pools.async, pools.lifo, pools.threads, pools.virtual)
        .forEach(Latency::warmUp);
    warmUp(pools.parking);
  }

  private static void warmUp(Executor executor) {
    for (int i = 0; i < WARM_UPS; i++) {
      executor.execute(() -> {});
      LockSupport.parkNanos(WARM_UP_PAUSE_NANOS);
    }
  }

  /// The time of each wake-up, in microseconds.
  static double[] wakeUp(Executor executor, boolean callerSleeps) {
    long[] nanos = new long[FIRST_WAKE_UPS + WAKE_UPS];
    AtomicInteger ran = new AtomicInteger();
    for (int i = 0; i < nanos.length; i++) {
      int at = i;
      long start = System.nanoTime();
      executor.execute(() -> {
        nanos[at] = System.nanoTime() - start;
        ran.incrementAndGet();
      });
      if (callerSleeps) {
        LockSupport.parkNanos(IDLE_NANOS);
      } else {
        while (System.nanoTime() - start < IDLE_NANOS) {
          Thread.onSpinWait();
        }
      }
    }
    while (ran.get() < nanos.length) {
      Thread.onSpinWait();
    }
    return Arrays.stream(nanos).skip(FIRST_WAKE_UPS).mapToDouble(each -> each / 1000.0).toArray();
  }

  // ---- short tasks behind one long job of 500 us tasks ----

  static Row behindLongJob(Pools pools, int repetitions) {
    int units = Work.unitsIn(TASK_NANOS);
    return new Row("p99 of short tasks behind a long job of 500 us tasks", "us", repetitions)
        .figure(2000)
        .ours(() -> ourLongJob(pools.ours, units, true).p99Micros())
        .forkJoin("async", () -> longJob(pools.async, units, true).p99Micros())
        .forkJoin("lifo", () -> longJob(pools.lifo, units, true).p99Micros())
        .other("ThreadPoolExecutor", () -> longJob(pools.threads, units, true).p99Micros());
  }

  static Row longJobSpeed(Pools pools, int repetitions) {
    int units = Work.unitsIn(TASK_NANOS);
    return new Row("the same long job, against itself alone", "ms", repetitions)
        .ratio(1 / 0.95)
        .ours(() -> ourLongJob(pools.ours, units, true).millis())
        .base("ours, alone", () -> ourLongJob(pools.ours, units, false).millis())
        .other("FJP async", () -> longJob(pools.async, units, true).millis())
        .other("FJP lifo", () -> longJob(pools.lifo, units, true).millis());
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
