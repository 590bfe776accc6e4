package dev.kakehashi.scheduler.bench;

import com.sun.management.ThreadMXBean;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Lane;
import dev.kakehashi.scheduler.Option;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// How does the scheduler compare with ForkJoinPool on this machine, in one run? Four questions: what does one
/// submission from outside cost, what one spawn in a tree, how long is a round trip to an idle pool, how long waits a
/// short task behind one job that spawns all the time; and what does a light job on its caller cost. Both pools have as many
/// workers as there are processors. Prints the median of the repetitions and ForkJoinPool's figure divided by
/// ours (above 1: we are faster).
///
/// `java -cp target/classes:target/test-classes dev.kakehashi.scheduler.bench.Comparison [repetitions]`
public final class Comparison {
  private static final int EXTERNAL = 200_000;
  private static final int DEPTH = 18;
  private static final int PINGS = 5_000;
  private static final int PROBES = 200;
  private static final int CALLER_JOBS = 300_000;
  private static final Duration LONG = Duration.ofMinutes(1);

  private interface Measure {
    double run() throws Exception;
  }

  private Comparison() {}

  /// Runs everything; takes a few seconds per repetition.
  public static void main(String[] args) throws Exception {
    int repetitions = args.length == 0 ? 5 : Integer.parseInt(args[0]);
    int workers = Runtime.getRuntime().availableProcessors();
    System.out.printf(
        Locale.ROOT,
        "workers=%d repetitions=%d java=%s%n",
        workers,
        repetitions,
        Runtime.version());
    try (TaskScheduler ours =
            TaskScheduler.start(SchedulerConfig.builder().workers(workers).build());
        ForkJoinPool pool = new ForkJoinPool(workers)) {
      compare(
          "external submit (ours: a job each), ns",
          repetitions,
          () -> external(ours),
          () -> external(pool));
      compare("tree spawn, ns/task", repetitions, () -> tree(ours), () -> tree(pool));
      compare("ping-pong, ns/round trip", repetitions, () -> ping(ours), () -> ping(pool));
      compare(
          "p99 of short tasks behind a job, us",
          repetitions,
          () -> behindJob(ours),
          () -> behindJob(pool));
      light(ours, repetitions);
      System.out.println(ours.metrics().toJson());
    }
  }

  private static void compare(String what, int repetitions, Measure ours, Measure pool)
      throws Exception {
    double[] a = new double[repetitions];
    double[] b = new double[repetitions];
    ours.run();
    pool.run();
    for (int i = 0; i < repetitions; i++) {
      a[i] = ours.run();
      b[i] = pool.run();
    }
    Arrays.sort(a);
    Arrays.sort(b);
    double x = a[repetitions / 2];
    double y = b[repetitions / 2];
    System.out.printf(
        Locale.ROOT,
        "%-38s ours %10.1f [%.1f..%.1f]  ForkJoinPool %10.1f [%.1f..%.1f]  ratio %.2f%n",
        what,
        x,
        a[0],
        a[repetitions - 1],
        y,
        b[0],
        b[repetitions - 1],
        y / x);
  }

  // ---- external submission: many tiny jobs from one thread ----

  private static double external(TaskScheduler scheduler) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    AtomicInteger left = new AtomicInteger(EXTERNAL);
    Task task =
        context -> {
          if (left.decrementAndGet() == 0) {
            done.countDown();
          }
          return null;
        };
    long start = System.nanoTime();
    for (int i = 0; i < EXTERNAL; i++) {
      scheduler.submit(task);
    }
    done.await();
    return (System.nanoTime() - start) / (double) EXTERNAL;
  }

  private static double external(ForkJoinPool pool) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    AtomicInteger left = new AtomicInteger(EXTERNAL);
    Runnable task =
        () -> {
          if (left.decrementAndGet() == 0) {
            done.countDown();
          }
        };
    long start = System.nanoTime();
    for (int i = 0; i < EXTERNAL; i++) {
      pool.execute(task);
    }
    done.await();
    return (System.nanoTime() - start) / (double) EXTERNAL;
  }

  // ---- a binary tree: every task spawns two, nothing joins but the job ----

  private record Node(int depth) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      if (depth == 0) {
        return null;
      }
      context.spawn(new Node(depth - 1));
      return new Node(depth - 1);
    }
  }

  private static double tree(TaskScheduler scheduler) throws InterruptedException {
    long start = System.nanoTime();
    if (!scheduler.submit(new Node(DEPTH)).await(LONG)) {
      throw new IllegalStateException("the tree did not end");
    }
    return (System.nanoTime() - start) / (double) (2 << DEPTH);
  }

  private static final class Fork extends RecursiveAction {
    private static final long serialVersionUID = 1L;
    private final int depth;

    Fork(int depth) {
      this.depth = depth;
    }

    @Override
    protected void compute() {
      if (depth > 0) {
        invokeAll(new Fork(depth - 1), new Fork(depth - 1));
      }
    }
  }

  private static double tree(ForkJoinPool pool) {
    long start = System.nanoTime();
    pool.invoke(new Fork(DEPTH));
    return (System.nanoTime() - start) / (double) (2 << DEPTH);
  }

  // ---- ping-pong: submit, spin until it has run ----

  private static double ping(TaskScheduler scheduler) {
    AtomicInteger ran = new AtomicInteger();
    Task task =
        context -> {
          ran.incrementAndGet();
          return null;
        };
    return pings(ran, () -> scheduler.submit(task));
  }

  private static double ping(ForkJoinPool pool) {
    AtomicInteger ran = new AtomicInteger();
    Runnable task = ran::incrementAndGet;
    return pings(ran, () -> pool.execute(task));
  }

  private static double pings(AtomicInteger ran, Runnable submit) {
    long[] nanos = new long[PINGS];
    for (int i = 0; i < PINGS; i++) {
      long start = System.nanoTime();
      submit.run();
      while (ran.get() == i) {
        Thread.onSpinWait();
      }
      nanos[i] = System.nanoTime() - start;
    }
    Arrays.sort(nanos);
    return nanos[PINGS / 2];
  }

  // ---- short tasks from outside while one job keeps all workers busy with tasks of about 50 us
  // ----

  private static void work() {
    long end = System.nanoTime() + 50_000;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  private record Busy(AtomicInteger stop) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      work();
      if (stop.get() == 0) {
        context.spawn(this);
      }
      return null;
    }
  }

  private static double behindJob(TaskScheduler scheduler) throws InterruptedException {
    AtomicInteger stop = new AtomicInteger();
    int width = 4 * scheduler.config().workers();
    Job job =
        scheduler.submit(context -> {
          for (int i = 0; i < width; i++) {
            context.spawn(new Busy(stop));
          }
          return null;
        });
    double p99 =
        probes(
            stop,
            probe ->
                scheduler.submit(context -> {
                  probe.run();
                  return null;
                }));
    job.await(LONG);
    return p99;
  }

  private static double behindJob(ForkJoinPool pool) throws InterruptedException {
    AtomicInteger stop = new AtomicInteger();
    int width = 4 * pool.getParallelism();
    CountDownLatch ended = new CountDownLatch(width);
    for (int i = 0; i < width; i++) {
      pool.execute(() -> busy(pool, stop, ended));
    }
    double p99 = probes(stop, pool::execute);
    ended.await();
    return p99;
  }

  private static void busy(ForkJoinPool pool, AtomicInteger stop, CountDownLatch ended) {
    work();
    if (stop.get() == 0) {
      pool.execute(() -> busy(pool, stop, ended));
    } else {
      ended.countDown();
    }
  }

  /// One probe each millisecond, whether or not the last one has run; the job ends 300 ms after the last one.
  private static double probes(AtomicInteger stop, Consumer<Runnable> submit)
      throws InterruptedException {
    long[] nanos = new long[PROBES];
    CountDownLatch all = new CountDownLatch(PROBES);
    long first = System.nanoTime();
    for (int i = 0; i < PROBES; i++) {
      int probe = i;
      LockSupport.parkNanos(first + i * 1_000_000L - System.nanoTime());
      long start = System.nanoTime();
      submit.accept(() -> {
        nanos[probe] = System.nanoTime() - start;
        all.countDown();
      });
    }
    all.await(300, TimeUnit.MILLISECONDS);
    stop.set(1);
    all.await();
    Arrays.sort(nanos);
    return nanos[PROBES * 99 / 100] / 1000.0;
  }

  // ---- a light job on its caller, as the endpoint's polling thread runs point statements ----

  private static void light(TaskScheduler scheduler, int repetitions) {
    Lane lane = scheduler.newLane(1);
    int[] teardowns = new int[1];
    Task task = context -> null;
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    double[] nanos = new double[repetitions];
    double bytes = 0;
    for (int r = -2; r < repetitions; r++) {
      long before = threads.getCurrentThreadAllocatedBytes();
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
        bytes = (threads.getCurrentThreadAllocatedBytes() - before) / (double) CALLER_JOBS;
      }
    }
    if (teardowns[0] != CALLER_JOBS * (repetitions + 2)) {
      throw new IllegalStateException("teardowns: " + teardowns[0]);
    }
    Arrays.sort(nanos);
    System.out.printf(
        Locale.ROOT,
        "%-38s ours %10.1f [%.1f..%.1f], %.0f bytes%n",
        "light job with lane on caller, ns/job",
        nanos[repetitions / 2],
        nanos[0],
        nanos[repetitions - 1],
        bytes);
  }
}
