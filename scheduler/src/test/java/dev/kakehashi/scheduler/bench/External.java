package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/// Many empty tasks from outside, and the wait until the last one has run. The tasks count themselves, each worker
/// in a cache line of its own, so that the figure is the scheduler's and not a counter's. Every submission has an object of its own
/// on all sides; so the pool's Runnable costs its wrapper, and the scheduler's task and the pool's own kind of task nothing further.
final class External {
  private static final int TASKS = 300_000;
  private static final int LINE = 16;

  private interface Submissions {
    void submit(int n);
  }

  private External() {}

  /// Calls that a user of either scheduler writes: `execute` with the argument that it takes.
  static Row row(Pools pools, int submitters, double goal, int repetitions) {
    return new Row(
            "external submission and completion, execute(), " + submitters + " submitter(s)",
            "ns/task",
            repetitions)
        .ratio(goal)
        .ours(() -> ours(pools.ours, submitters, Kind.NEW))
        .oursToo("ours, one task object for all", () -> ours(pools.ours, submitters, Kind.REUSED))
        .oursToo("ours, a job each", () -> ours(pools.ours, submitters, Kind.JOB))
        .forkJoin("async, execute(Runnable)", () -> runnables(pools.async, submitters))
        .forkJoin("lifo, execute(Runnable)", () -> runnables(pools.lifo, submitters))
        .other("ThreadPoolExecutor", () -> executor(pools.threads, submitters))
        .other("virtual threads", () -> executor(pools.virtual, submitters));
  }

  /// The strictest comparison: with the pool's own kind of task, which it queues without a wrapper.
  static Row strictRow(Pools pools, int submitters, double goal, int repetitions) {
    return new Row(
            "the same, against a subclass of ForkJoinTask, " + submitters + " submitter(s)",
            "ns/task",
            repetitions)
        .ratio(goal)
        .ours(() -> ours(pools.ours, submitters, Kind.NEW))
        .forkJoin("async, execute(ForkJoinTask)", () -> tasks(pools.async, submitters))
        .forkJoin("lifo, execute(ForkJoinTask)", () -> tasks(pools.lifo, submitters));
  }

  static Row bytes(Pools pools, int repetitions) {
    return new Row("allocation of one submission from outside (reused task)", "bytes", repetitions)
        .figure(0.1)
        .ours(Cost.bytes(() -> ours(pools.ours, 1, Kind.REUSED), TASKS))
        .oursToo("ours, a job each", Cost.bytes(() -> ours(pools.ours, 1, Kind.JOB), TASKS))
        .forkJoin(
            "async, execute(new Runnable)", Cost.bytes(() -> runnables(pools.async, 1), TASKS))
        .forkJoin("async, new ForkJoinTask", Cost.bytes(() -> tasks(pools.async, 1), TASKS));
  }

  /// Kinds of submissions.
  enum Kind {
    NEW,
    REUSED,
    JOB
  }

  private record Counted(long[] ran) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      ran[LINE * (context.workerIndex() + 1)]++;
      return null;
    }
  }

  static double ours(TaskScheduler scheduler, int submitters, Kind kind)
      throws InterruptedException {
    long[] ran = new long[LINE * (scheduler.config().workers() + 1)];
    Task task = new Counted(ran);
    Submissions submissions =
        switch (kind) {
          case NEW ->
              n -> {
                for (int i = 0; i < n; i++) {
                  scheduler.execute(new Counted(ran));
                }
              };
          case REUSED ->
              n -> {
                for (int i = 0; i < n; i++) {
                  scheduler.execute(task);
                }
              };
          case JOB ->
              n -> {
                for (int i = 0; i < n; i++) {
                  scheduler.submit(task);
                }
              };
        };
    return measure(submitters, submissions, () -> sum(ran));
  }

  private static double runnables(ForkJoinPool pool, int submitters) throws InterruptedException {
    long[] ran = new long[LINE * Pools.LINES];
    return measure(
        submitters,
        n -> {
          for (int i = 0; i < n; i++) {
            pool.execute(() -> count(ran));
          }
        },
        () -> sum(ran));
  }

  private static void count(long[] ran) {
    ran[LINE * ((Pools.CountingWorker) Thread.currentThread()).line]++;
  }

  private static final class Counting extends ForkJoinTask<Void> {
    private static final long serialVersionUID = 1L;
    private final long[] ran;

    Counting(long[] ran) {
      this.ran = ran;
    }

    @Override
    public @Nullable Void getRawResult() {
      return null;
    }

    @Override
    protected void setRawResult(@Nullable Void value) {}

    @Override
    protected boolean exec() {
      count(ran);
      return true;
    }
  }

  private static double tasks(ForkJoinPool pool, int submitters) throws InterruptedException {
    long[] ran = new long[LINE * Pools.LINES];
    return measure(
        submitters,
        n -> {
          for (int i = 0; i < n; i++) {
            pool.execute(new Counting(ran));
          }
        },
        () -> sum(ran));
  }

  private static double executor(ExecutorService executor, int submitters)
      throws InterruptedException {
    LongAdder ran = new LongAdder();
    return measure(
        submitters,
        n -> {
          for (int i = 0; i < n; i++) {
            executor.execute(ran::increment);
          }
        },
        ran::sum);
  }

  private interface Count {
    long ran();
  }

  private static long sum(long[] ran) {
    java.lang.invoke.VarHandle.fullFence();
    long sum = 0;
    for (int i = 0; i < ran.length; i += LINE) {
      sum += ran[i];
    }
    return sum;
  }

  @SuppressWarnings("ThreadPriorityCheck") // the last tasks need the processor that polls for them
  private static double measure(int submitters, Submissions submissions, Count count)
      throws InterruptedException {
    int each = TASKS / submitters;
    Thread[] others = new Thread[submitters - 1];
    long start = System.nanoTime();
    for (int i = 0; i < others.length; i++) {
      others[i] = new Thread(() -> submissions.submit(each));
      others[i].start();
    }
    submissions.submit(each);
    for (Thread thread : others) {
      thread.join();
    }
    while (count.ran() < (long) each * submitters) {
      Thread.yield();
    }
    return (System.nanoTime() - start) / ((double) each * submitters);
  }
}
