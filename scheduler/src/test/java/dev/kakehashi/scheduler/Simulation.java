package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// Runs the scheduler's own code on one thread, in virtual time, with a seeded choice of who goes on at every point.
///
/// Each thread of the scheduler becomes a fiber: a virtual thread whose continuations this class runs itself, one at a
/// time. A fiber gives way at [Platform#point], when it parks, and when it pauses; nothing else can come between, so a
/// seed repeats its run exactly. Time passes a little with every switch, by what tasks [#work], and jumps to
/// the next wake-up when nobody can go on.
///
/// Odd seeds choose at random; even ones give fibers random priorities and lower the running one's a few times, which
/// finds what needs few but badly placed switches (probabilistic concurrency testing, Burckhardt et al. 2010).
final class Simulation implements Platform.Substitute {
  private static final int MAX_SWITCHES = 400_000;
  private static final long SWITCH_NANOS = 100;
  private static final long START_NANOS = 1_000_000_000;
  private static final int SPURIOUS_ONE_IN = 400;
  private static final int FAILURE_ONE_IN = 30;
  private static final Set<Point> BETWEEN_TASKS =
      EnumSet.of(Point.FOUND, Point.BEFORE_ANNOUNCE, Point.ANNOUNCED, Point.BEFORE_PARK);
  private static final int CHANGE_POINTS = 8;
  private static final int CHANGE_WITHIN = 600;
  private static final Method NEW_VIRTUAL_THREAD;

  static {
    try {
      NEW_VIRTUAL_THREAD =
          Class.forName("java.lang.ThreadBuilders")
              .getDeclaredMethod(
                  "newVirtualThread", Executor.class, String.class, int.class, Runnable.class);
      NEW_VIRTUAL_THREAD.setAccessible(true);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /// A violation found from outside the fibers.
  static final class Violation extends AssertionError {
    private static final long serialVersionUID = 1L;

    Violation(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  private static final class Fiber {
    final Thread thread;
    @Nullable Runnable continuation;
    @Nullable Object blocker;
    @Nullable Fiber joins;
    boolean parked;
    boolean wakeable; // by a permit, or for no reason
    boolean permit;
    boolean ended;
    int locks;
    long wakeNanos;
    int priority;

    Fiber(Thread thread) {
      this.thread = thread;
    }
  }

  private final SplittableRandom random;
  private final boolean byPriority;
  private final @Nullable Mutation mutation;
  private final List<Fiber> fibers = new ArrayList<>();
  private final int[] changeAt = new int[CHANGE_POINTS];
  private @Nullable Fiber current;
  private @Nullable Throwable thrown;
  private @Nullable TaskScheduler watched;
  private boolean workersFail;
  private long nowNanos = START_NANOS;
  private int points;
  private int switches;
  private int lowest;

  private Simulation(long seed, @Nullable Mutation mutation) {
    random = new SplittableRandom(seed);
    byPriority = (seed & 1) == 0;
    this.mutation = mutation;
    for (int i = 0; i < CHANGE_POINTS; i++) {
      changeAt[i] = random.nextInt(CHANGE_WITHIN << (i / 2));
    }
  }

  /// Runs `main` and everything it starts until all has ended; throws what a fiber threw or what was found.
  static void run(long seed, @Nullable Mutation mutation, Main main) {
    Simulation simulation = new Simulation(seed, mutation);
    SplittableRandom random = new SplittableRandom(~seed);
    Platform.substitute(simulation);
    try {
      simulation.start(
          new Thread(
              () -> {
                try {
                  main.run(simulation, random);
                } catch (Throwable t) {
                  simulation.fail(t);
                }
              },
              "main"));
      simulation.loop();
    } finally {
      Platform.substitute(null);
    }
  }

  /// A program to simulate.
  interface Main {
    /// @param random another one than that which chooses who goes on
    void run(Simulation simulation, SplittableRandom random) throws Exception;
  }

  /// From now on nothing may stay queued in this scheduler while one of its workers sleeps.
  void watch(TaskScheduler scheduler) {
    watched = scheduler;
  }

  /// From now on workers fail outside of tasks, as an allocation may.
  void failWorkers() {
    workersFail = true;
  }

  /// Something is wrong: the run ends.
  void fail(Throwable t) {
    if (thrown == null) {
      thrown = t;
    }
  }

  /// The running fiber works for this long.
  void work(long nanos) {
    park(this, nowNanos + nanos, false);
  }

  /// Virtual time since the start.
  long elapsedNanos() {
    return nowNanos - START_NANOS;
  }

  int switches() {
    return switches;
  }

  private void loop() {
    Fiber[] ready = new Fiber[16];
    for (; ; ) {
      int n = 0;
      int alive = 0;
      long next = Long.MAX_VALUE;
      if (fibers.size() > ready.length) {
        ready = new Fiber[2 * fibers.size()];
      }
      for (int i = 0; i < fibers.size(); i++) {
        Fiber fiber = fibers.get(i);
        if (fiber.ended) {
          continue;
        }
        alive++;
        if (canGoOn(fiber)) {
          ready[n++] = fiber;
        } else {
          next = Math.min(next, fiber.wakeNanos);
        }
      }
      if (thrown != null) {
        throw new Violation(this + " " + thrown, thrown);
      }
      if (alive == 0) {
        return;
      }
      if (n == 0) {
        jump(next);
        continue;
      }
      if (switches++ > MAX_SWITCHES) {
        throw new Violation("no end after " + MAX_SWITCHES + " switches, " + this, null);
      }
      resume(choose(ready, n));
    }
  }

  private static boolean permitted(Fiber fiber) {
    return (fiber.wakeable && fiber.permit) || (fiber.joins != null && fiber.joins.ended);
  }

  private boolean canGoOn(Fiber fiber) {
    if (!fiber.parked || permitted(fiber) || fiber.wakeNanos - nowNanos <= 0) {
      return true;
    }
    return fiber.wakeable
        && random.nextInt(SPURIOUS_ONE_IN) == 0; // a park may return for no reason
  }

  private void jump(long next) {
    if (next == Long.MAX_VALUE) {
      throw new Violation("everybody sleeps for ever, " + this, null);
    }
    TaskScheduler scheduler = watched;
    if (scheduler != null) {
      boolean anyWork = scheduler.anyWork();
      for (Fiber fiber : fibers) {
        if (!fiber.ended
            && fiber.blocker instanceof Worker worker
            && (anyWork || !worker.pinned.isEmpty())) {
          throw new Violation("I5: a task is queued beside a sleeping worker, " + this, null);
        }
      }
    }
    nowNanos = next;
  }

  private Fiber choose(Fiber[] ready, int n) {
    if (!byPriority) {
      return ready[random.nextInt(n)];
    }
    Fiber best = ready[0];
    for (int i = 1; i < n; i++) {
      if (ready[i].priority > best.priority) {
        best = ready[i];
      }
    }
    return best;
  }

  private void resume(Fiber fiber) {
    nowNanos += SWITCH_NANOS;
    if (fiber.parked) {
      fiber.parked = false;
      fiber.permit &= !fiber.wakeable;
      fiber.blocker = null;
      fiber.joins = null;
    }
    Runnable continuation = fiber.continuation;
    fiber.continuation = null;
    current = fiber;
    if (continuation == null) {
      throw new Violation("a fiber blocks outside the simulation: " + fiber.thread, null);
    }
    continuation.run();
    current = null;
  }

  @SuppressWarnings("ThreadPriorityCheck") // the way a virtual thread gives way
  private void park(Object blocker, long untilNanos, boolean wakeable) {
    Fiber fiber = running();
    if (wakeable && fiber.permit) {
      fiber.permit = false;
      return;
    }
    fiber.parked = true;
    fiber.wakeable = wakeable;
    fiber.blocker = blocker;
    fiber.wakeNanos = untilNanos;
    Thread.yield();
  }

  private Fiber running() {
    Fiber fiber = current;
    if (fiber == null) {
      throw new IllegalStateException("not on a fiber");
    }
    return fiber;
  }

  // ---- the machine ----

  @Override
  public long nanoTime() {
    return nowNanos;
  }

  @Override
  public Thread currentThread() {
    Fiber fiber = current;
    return fiber == null ? Thread.currentThread() : fiber.thread;
  }

  @Override
  public long threadId(Thread thread) {
    return fibers.indexOf(fiber(thread)); // the same in every run
  }

  @SuppressWarnings("DoNotCall") // the thread lends its name and its body to a fiber
  @Override
  public void start(Thread thread) {
    Fiber fiber = new Fiber(thread);
    fiber.priority = random.nextInt(1 << 20);
    fibers.add(fiber);
    Runnable body =
        () -> {
          try {
            thread.run();
          } catch (Throwable t) {
            fail(t);
          } finally {
            fiber.ended = true;
          }
        };
    Executor executor = task -> fiber.continuation = task;
    try {
      ((Thread) NEW_VIRTUAL_THREAD.invoke(null, executor, thread.getName(), 0, body)).start();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean join(Thread thread, long nanos) {
    Fiber target = fiber(thread);
    if (!target.ended) {
      running().joins = target;
      park(target, nowNanos + nanos, false);
    }
    return target.ended;
  }

  private Fiber fiber(Thread thread) {
    for (Fiber fiber : fibers) {
      if (fiber.thread.equals(thread)) {
        return fiber;
      }
    }
    throw new IllegalStateException("no fiber of " + thread);
  }

  @Override
  public void parkNanos(Object blocker, long nanos) {
    if (nanos > 0) {
      long until = nowNanos + nanos;
      park(blocker, until < 0 ? Long.MAX_VALUE : until, true);
    }
  }

  @Override
  public void unpark(Thread thread) {
    for (int i = 0; i < fibers.size(); i++) {
      Fiber fiber = fibers.get(i);
      if (fiber.thread.equals(thread)) {
        fiber.permit = true;
      }
    }
  }

  @Override
  public void pause() {
    yieldNow();
  }

  @SuppressWarnings("ThreadPriorityCheck") // the way a virtual thread gives way
  @Override
  public void yieldNow() {
    running().priority = --lowest; // who waits for others must let them run
    nowNanos += SWITCH_NANOS;
    Thread.yield();
  }

  @SuppressWarnings("ThreadPriorityCheck") // the way a virtual thread gives way
  @Override
  public void point(Point point) {
    Fiber fiber = current;
    if (fiber == null || fiber.locks > 0) {
      return; // the test's own thread sets something up; or others would block outside the
      // simulation
    }
    if (workersFail
        && fiber.thread instanceof WorkerThread
        && BETWEEN_TASKS.contains(point)
        && random.nextInt(FAILURE_ONE_IN) == 0) {
      throw new OutOfMemoryError("wanted");
    }
    if (byPriority) {
      points++;
      for (int at : changeAt) {
        if (at == points) {
          fiber.priority = --lowest;
        }
      }
      Thread.yield();
    } else if (random.nextInt(3) == 0) {
      Thread.yield();
    }
  }

  @Override
  public void locked(int by) {
    Fiber fiber = current;
    if (fiber != null) {
      fiber.locks += by;
    }
  }

  @Override
  public boolean mutated(Mutation fault) {
    return fault == mutation;
  }

  @Override
  public String toString() {
    StringBuilder text =
        new StringBuilder("at " + nowNanos + " ns after " + switches + " switches:");
    for (Fiber fiber : fibers) {
      if (!fiber.ended) {
        text.append(' ').append(fiber.thread.getName()).append(fiber.parked ? " parked" : " ready");
      }
    }
    return text.toString();
  }
}
