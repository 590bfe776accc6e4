package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Tasks that make tasks: a tree, two that call each other, and one worker that makes what another one must steal.
final class Spawning {
  private static final int DEPTH = 19;
  private static final int TREES = 20; // of 5 ms each; the first dozens are the compiler's
  private static final int TURNS = 2_000_000;
  private static final Duration LONG = Duration.ofMinutes(1);

  private Spawning() {}

  // ---- a binary tree of empty tasks ----

  static Row tree(Pools pools, int repetitions) {
    return new Row("recursive spawning, binary tree, one child of two", "ns/task", repetitions)
        .ratio(0.6)
        .ours(() -> trees(pools.ours, () -> new Node(DEPTH)))
        .forkJoin(
            "lifo, fork, compute, join", () -> trees(pools.lifo, () -> new Fork(DEPTH, false)))
        .forkJoin(
            "lifo, CountedCompleter",
            () -> trees(pools.lifo, () -> new Counted(null, DEPTH, false)));
  }

  static Row bothChildren(Pools pools, int repetitions) {
    return new Row("recursive spawning, binary tree, both children", "ns/task", repetitions)
        .ratio(0.6)
        .ours(() -> trees(pools.ours, () -> new Both(DEPTH)))
        .oursToo("ours, spawnAll", () -> trees(pools.ours, () -> new All(DEPTH)))
        .forkJoin("lifo, fork both, join", () -> trees(pools.lifo, () -> new Fork(DEPTH, true)))
        .forkJoin(
            "lifo, CountedCompleter",
            () -> trees(pools.lifo, () -> new Counted(null, DEPTH, true)));
  }

  private static double trees(TaskScheduler scheduler, Supplier<Task> roots)
      throws InterruptedException {
    double sum = 0;
    for (int i = 0; i < TREES; i++) {
      sum += job(scheduler, roots.get(), 2 << DEPTH);
    }
    return sum / TREES;
  }

  private static double trees(ForkJoinPool pool, Supplier<ForkJoinTask<Void>> roots) {
    double sum = 0;
    for (int i = 0; i < TREES; i++) {
      sum += invoke(pool, roots.get());
    }
    return sum / TREES;
  }

  /// The tree's task object has 16 bytes, the fork's 24.
  static Row bytes(Pools pools, int repetitions) {
    return new Row("allocation of a spawned task with its object", "bytes", repetitions)
        .figure(16.1)
        .ours(Cost.bytes(() -> job(pools.ours, new Node(DEPTH), 1), 2 << DEPTH))
        .oursToo("ours, reused tasks", Cost.bytes(() -> turns(pools.ours, true), TURNS))
        .forkJoin(
            "lifo, RecursiveAction",
            Cost.bytes(() -> invoke(pools.lifo, new Fork(DEPTH, false)), 2 << DEPTH));
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

  record All(int depth) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      if (depth > 0) {
        context.spawnAll(new All(depth - 1), new All(depth - 1));
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
    private final boolean both;

    Fork(int depth, boolean both) {
      this.depth = depth;
      this.both = both;
    }

    @Override
    protected void compute() {
      if (depth > 0) {
        Fork left = new Fork(depth - 1, both);
        Fork right = new Fork(depth - 1, both);
        left.fork();
        if (both) {
          right.fork();
          right.join();
        } else {
          right.compute();
        }
        left.join();
      }
    }
  }

  private static final class Counted extends CountedCompleter<Void> {
    private static final long serialVersionUID = 1L;
    private final int depth;
    private final boolean both;

    Counted(@Nullable CountedCompleter<?> parent, int depth, boolean both) {
      super(parent);
      this.depth = depth;
      this.both = both;
    }

    @Override
    public void compute() {
      if (depth > 0) {
        setPendingCount(2);
        new Counted(this, depth - 1, both).fork();
        Counted right = new Counted(this, depth - 1, both);
        if (both) {
          right.fork();
        } else {
          right.compute();
        }
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
    return new Row("ping-pong of two tasks, workers awake", "ns/turn", repetitions)
        .ratio(0.3)
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
}
