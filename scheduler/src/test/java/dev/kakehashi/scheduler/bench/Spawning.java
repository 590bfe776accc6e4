package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import org.jspecify.annotations.Nullable;

/// Tasks that make tasks: a tree, two that call each other, and one worker that makes what another one must steal.
final class Spawning {
  private static final int DEPTH = 19;
  private static final int TURNS = 2_000_000;
  private static final int CHILDREN = 40_000;
  private static final Duration LONG = Duration.ofMinutes(1);

  private Spawning() {}

  // ---- a binary tree of empty tasks ----

  static Row tree(Pools pools, int repetitions) {
    return new Row("recursive spawning, binary tree", "ns/task", 0.6, repetitions)
        .ours(() -> job(pools.ours, new Node(DEPTH), 2 << DEPTH))
        .oursToo("ours, both children spawned", () -> job(pools.ours, new Both(DEPTH), 2 << DEPTH))
        .forkJoin("lifo, RecursiveAction", () -> invoke(pools.lifo, new Fork(DEPTH)))
        .forkJoin("lifo, CountedCompleter", () -> invoke(pools.lifo, new Counted(null, DEPTH)))
        .forkJoin("async, RecursiveAction", () -> invoke(pools.async, new Fork(DEPTH)));
  }

  /// The tree's task object has 16 bytes, the fork's 24.
  static Row bytes(Pools pools, int repetitions) {
    return new Row("allocation of a spawned task with its object", "bytes", null, repetitions)
        .ours(Cost.bytes(() -> job(pools.ours, new Node(DEPTH), 1), 2 << DEPTH))
        .oursToo("ours, reused tasks", Cost.bytes(() -> turns(pools.ours, true), TURNS))
        .forkJoin(
            "lifo, RecursiveAction",
            Cost.bytes(() -> invoke(pools.lifo, new Fork(DEPTH)), 2 << DEPTH));
  }

  record Node(int depth) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      if (depth == 0) {
        return null;
      }
      context.spawn(new Node(depth - 1));
      return new Node(depth - 1);
    }
  }

  record Both(int depth) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      if (depth > 0) {
        context.spawn(new Both(depth - 1));
        context.spawn(new Both(depth - 1));
      }
      return null;
    }
  }

  static double job(TaskScheduler scheduler, Task bootstrap, double tasks)
      throws InterruptedException {
    long start = System.nanoTime();
    if (!scheduler.submit(bootstrap).await(LONG)) {
      throw new IllegalStateException("the job did not end");
    }
    return (System.nanoTime() - start) / tasks;
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
        Fork left = new Fork(depth - 1);
        left.fork();
        new Fork(depth - 1).compute();
        left.join();
      }
    }
  }

  private static final class Counted extends CountedCompleter<Void> {
    private static final long serialVersionUID = 1L;
    private final int depth;

    Counted(@Nullable CountedCompleter<?> parent, int depth) {
      super(parent);
      this.depth = depth;
    }

    @Override
    public void compute() {
      if (depth > 0) {
        setPendingCount(2);
        new Counted(this, depth - 1).fork();
        new Counted(this, depth - 1).compute();
      }
      tryComplete();
    }
  }

  private static double invoke(ForkJoinPool pool, ForkJoinTask<Void> root) {
    long start = System.nanoTime();
    pool.invoke(root);
    return (System.nanoTime() - start) / (double) (2 << DEPTH);
  }

  // ---- two tasks that start each other ----

  static Row pingPong(Pools pools, int repetitions) {
    return new Row("ping-pong of two tasks, workers awake", "ns/turn", 0.3, repetitions)
        .ours(() -> turns(pools.ours, false))
        .oursToo("ours, spawned", () -> turns(pools.ours, true))
        .forkJoin("lifo, fork", () -> turns(pools.lifo))
        .forkJoin("async, fork", () -> turns(pools.async));
  }

  private static final class Player implements Task {
    private final boolean spawns;
    private final int[] left;
    @Nullable Player other;

    Player(int[] left, boolean spawns) {
      this.left = left;
      this.spawns = spawns;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      Player next = other;
      if (--left[0] <= 0 || next == null) {
        return null;
      }
      if (spawns) {
        context.spawn(next);
        return null;
      }
      return next;
    }
  }

  static double turns(TaskScheduler scheduler, boolean spawns) throws InterruptedException {
    int[] left = {TURNS};
    Player ping = new Player(left, spawns);
    Player pong = new Player(left, spawns);
    ping.other = pong;
    pong.other = ping;
    return job(scheduler, ping, TURNS);
  }

  private static final class Turn extends RecursiveAction {
    private static final long serialVersionUID = 1L;
    private final int[] left;
    private final transient CountDownLatch end;

    Turn(int[] left, CountDownLatch end) {
      this.left = left;
      this.end = end;
    }

    @Override
    protected void compute() {
      if (--left[0] > 0) {
        // A new one: this one may not be used again before it has ended.
        new Turn(left, end).fork();
      } else {
        end.countDown();
      }
    }
  }

  private static double turns(ForkJoinPool pool) throws InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    long start = System.nanoTime();
    pool.execute(new Turn(new int[] {TURNS}, end));
    end.await();
    return (System.nanoTime() - start) / (double) TURNS;
  }

  // ---- a skewed load: one worker makes everything, the others live on stealing ----

  static Row skewed(int workers, int repetitions) {
    return new Row(
            "skewed load: one worker makes all tasks, about 300 ns each",
            "ns/task",
            null,
            repetitions)
        .ours(() -> stealing(workers, 32))
        .oursToo("ours, steal one (stealLimit 1)", () -> stealing(workers, 1));
  }

  private static double stealing(int workers, int stealLimit) throws InterruptedException {
    try (TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder()
                .workers(workers)
                .set(Parameter.STEAL_LIMIT, stealLimit)
                .set(Parameter.LOCAL_CAPACITY, 1 << 15)
                .build())) {
      double best = Double.MAX_VALUE;
      for (int i = 0; i < 20; i++) {
        best = Math.min(best, job(scheduler, Spawning::makeAll, CHILDREN));
      }
      return best;
    }
  }

  private static @Nullable Task makeAll(TaskContext context) {
    Task child =
        inner -> {
          Work.units(1);
          return null;
        };
    for (int i = 0; i < CHILDREN; i++) {
      context.spawn(child);
    }
    return null;
  }
}
