package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Point;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Faults on real threads: pauses, spurious wake-ups, late wake-ups and interrupts at the labelled points; errors of every
/// kind in tasks, teardowns, checks, hooks and handlers. All invariants of
/// [RandomProgram] hold meanwhile. Repeat a program with `-Dscheduler.seed=<printed>`; timing is not repeated.
@Timeout(120)
class FaultTest {
  private static final long RUN_NANOS =
      Duration.ofSeconds(Long.getLong("scheduler.faultSeconds", 2)).toNanos();
  private static final Duration LONG = Duration.ofSeconds(60);

  @AfterEach
  void putTheMachineBack() {
    Platform.substitute(null);
  }

  /// A machine that keeps threads from running where it hurts.
  private static final class RoughMachine implements Platform.Substitute {
    @Override
    public void point(Point point) {
      int dice = ThreadLocalRandom.current().nextInt(200);
      if (dice == 0) {
        LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(1, 200_000));
      } else if (dice < 10) {
        Platform.yieldNow();
      } else if (dice < 12 && Thread.currentThread() instanceof WorkerThread) {
        Thread.currentThread().interrupt(); // a worker's sleep ends for no reason
      }
    }

    @Override
    public void parkNanos(Object blocker, long nanos) {
      int dice = ThreadLocalRandom.current().nextInt(8);
      if (dice == 0) {
        return; // spurious
      }
      LockSupport.parkNanos(blocker, dice == 1 ? Math.min(nanos, 1000) : nanos);
    }

    @Override
    public void unpark(Thread thread) {
      if (ThreadLocalRandom.current().nextInt(20) == 0) {
        LockSupport.parkNanos(100_000); // the wake-up comes late
      }
      LockSupport.unpark(thread);
    }
  }

  @Test
  void shouldKeepAllInvariantsOnARoughMachine() throws Exception {
    long seed = Long.getLong("scheduler.seed", System.nanoTime());
    System.out.println("FaultTest seed=" + seed);
    Platform.substitute(new RoughMachine());
    SplittableRandom random = new SplittableRandom(seed);
    RandomProgram.Shape shape = new RandomProgram.Shape(3, 30, 5, 6, true);
    long end = System.nanoTime() + RUN_NANOS;
    long tasks = 0;
    int rounds = 0;
    while (System.nanoTime() < end) {
      String what = "seed=" + seed + " round=" + rounds++;
      tasks += new RandomProgram(random.split(), shape, ignored -> {}, what).run();
    }
    System.out.println("FaultTest rounds=" + rounds + " tasks=" + tasks);
  }

  @Test
  void shouldRunWhenAWorkersStartHookFails() throws Exception {
    AtomicInteger reported = new AtomicInteger();
    TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder()
                .workers(2)
                .onWorkerStart(index -> {
                  throw new StackOverflowError("wanted");
                })
                .uncaught((where, thrown) -> {
                  reported.incrementAndGet();
                  throw new IllegalStateException("the handler fails, too", thrown);
                })
                .build());
    assertTrue(scheduler.submit(context -> null).await(LONG));
    assertTrue(scheduler.shutdown(LONG).clean());
    assertEquals(2, reported.get());
  }

  /// Every kind of throwable, from every kind of user code of a job.
  @Test
  void shouldContainWhateverUserCodeThrows() throws Exception {
    TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(2).uncaught((w, t) -> {}).build());
    Throwable[] kinds = {
      new Exception("wanted"),
      new OutOfMemoryError("wanted"),
      new StackOverflowError("wanted"),
      new LinkageError("wanted"),
      new AssertionError("wanted"),
      new ThreadDeath2()
    };
    for (Throwable kind : kinds) {
      AtomicInteger discarded = new AtomicInteger();
      AtomicInteger teardowns = new AtomicInteger();
      AtomicInteger callbacks = new AtomicInteger();
      Condition never = scheduler.condition();
      CountDownLatch failed = new CountDownLatch(1);
      Job job =
          scheduler
              .job("thrower")
              .onTeardown(ended -> {
                teardowns.incrementAndGet();
                throw RoughMachineError.of(kind);
              })
              .submit(context -> {
                context.spawn(new Waiting(never, discarded));
                context.spawn(inner -> {
                  failed.countDown();
                  if (kind instanceof Exception e) {
                    throw e;
                  }
                  throw RoughMachineError.of(kind);
                });
                return null;
              });
      job.onDone(ended -> {
        callbacks.incrementAndGet();
        throw RoughMachineError.of(kind);
      });
      assertTrue(failed.await(60, TimeUnit.SECONDS));
      assertTrue(job.await(LONG));
      assertEquals(1, teardowns.get());
      assertEquals(1, discarded.get());
      assertNotNull(job.failure());
    }
    assertTrue(scheduler.submit(context -> null).await(LONG), "still works");
    ShutdownReport report = scheduler.shutdown(LONG);
    assertTrue(report.clean(), report::toString);
    assertEquals(report.accepted(), report.run() + report.discarded());
  }

  /// An error that nobody has heard of.
  private static final class ThreadDeath2 extends Error {
    private static final long serialVersionUID = 1L;
  }

  private static final class RoughMachineError extends Error {
    private static final long serialVersionUID = 1L;

    private RoughMachineError(Throwable cause) {
      super(cause);
    }

    static Error of(Throwable kind) {
      return kind instanceof Error error ? error : new RoughMachineError(kind);
    }
  }

  private record Waiting(Condition never, AtomicInteger discarded) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      return context.await(never, this);
    }

    @Override
    public void discarded(Job job) {
      discarded.incrementAndGet();
    }
  }

  /// A check that throws fails those who wait for it, and no others.
  @Test
  void shouldFireOtherConditionsWhenACheckThrows() throws Exception {
    TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(2).uncaught((w, t) -> {}).build());
    AtomicInteger looks = new AtomicInteger();
    Condition bad =
        scheduler.condition(() -> {
          if (looks.incrementAndGet() > 1) {
            throw new OutOfMemoryError("wanted");
          }
          return false;
        });
    AtomicInteger good = new AtomicInteger();
    Condition late = scheduler.condition(() -> good.incrementAndGet() > 5);
    Job failing = scheduler.submit(context -> context.await(bad, inner -> null));
    Job passing = scheduler.submit(context -> context.await(late, inner -> null));
    assertTrue(passing.await(LONG));
    assertTrue(failing.await(LONG));
    assertNotNull(failing.failure());
    assertEquals(null, passing.failure());
    assertTrue(scheduler.shutdown(LONG).clean());
  }

  /// Spawns, at every depth near the end of the stack, in one of the ways there are. Counts without a call, which might
  /// not come back.
  private static final class Diver implements Task {
    private static final int ATTEMPTS = 40;
    private final Lane lane;
    private final int way;
    private final AtomicInteger ran = new AtomicInteger();
    private final Task child =
        context -> {
          ran.incrementAndGet();
          return null;
        };
    private final List<Task> children = List.of(child, child, child);
    private int queued;
    private int refused;

    Diver(Lane lane, int way) {
      this.lane = lane;
      this.way = way;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      dive(context);
      return null;
    }

    @SuppressWarnings("InfiniteRecursion") // the stack ends it
    private int dive(TaskContext context) {
      int left;
      try {
        left = dive(context);
      } catch (StackOverflowError end) {
        left = ATTEMPTS;
      }
      if (left == 0) {
        return 0;
      }
      try {
        spawn(context);
        queued += way == 1 ? children.size() : 1;
      } catch (StackOverflowError e) {
        refused++;
      }
      return left - 1;
    }

    private void spawn(TaskContext context) {
      switch (way) {
        case 0 -> context.spawn(child);
        case 1 -> context.spawnAll(children);
        case 2 -> context.submit(child, Option.YIELDING);
        case 3 -> context.submit(child, Option.DEFAULT);
        default -> context.submit(lane, child);
      }
    }
  }

  /// A spawn that finds no stack left has queued nothing, or all, and its job ends.
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void shouldCountExactlyWhenTheStackEndsInASpawn(int way) throws Exception {
    TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder()
                .workers(2)
                .set(SchedulerConfig.Parameter.LOCAL_CAPACITY, 16)
                .build());
    Lane lane = scheduler.newLane(1);
    Diver shallow = new Diver(lane, way);
    // A class whose initialisation finds no stack is lost for the whole process.
    Job first =
        scheduler.submit(context -> {
          for (int i = 0; i < 100; i++) {
            shallow.spawn(context);
          }
          return null;
        });
    assertTrue(first.await(LONG));
    int refused = 0;
    for (int round = 0; round < 8; round++) {
      Diver diver = new Diver(lane, way);
      Job job = scheduler.submit(diver);
      assertTrue(job.await(LONG), "a count is too high");
      refused += diver.refused;
      int ran = diver.ran.get();
      if (way == 1) {
        assertTrue(ran >= diver.queued, () -> ran + " of " + diver.queued);
      } else {
        assertEquals(diver.queued, ran);
      }
    }
    assertTrue(refused > 0, "no spawn was refused");
    ShutdownReport report = scheduler.shutdown(LONG);
    assertTrue(report.clean(), report::toString);
    assertEquals(report.accepted(), report.run() + report.discarded(), report::toString);
  }

  /// A machine without memory for some spawns.
  private static final class FullMachine implements Platform.Substitute {
    private volatile boolean full;

    @Override
    public void point(Point point) {
      if (full && point == Point.DEQUE_STORED) {
        throw new OutOfMemoryError("wanted");
      }
    }
  }

  @Test
  void shouldCountExactlyWhenASpawnFindsNoMemory() throws Exception {
    FullMachine machine = new FullMachine();
    Platform.substitute(machine);
    TaskScheduler scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(1).build());
    AtomicInteger ran = new AtomicInteger();
    Task child =
        context -> {
          ran.incrementAndGet();
          return null;
        };
    int[] refused = new int[1];
    Job job =
        scheduler.submit(context -> {
          for (int i = 0; i < 90; i++) {
            machine.full = i % 3 == 0;
            try {
              switch (i % 9) {
                case 0 -> context.spawn(child);
                case 3 -> context.submit(child, Option.YIELDING);
                case 6 -> context.spawnAll(child, child);
                default -> context.spawn(child);
              }
            } catch (OutOfMemoryError e) {
              refused[0]++;
            } finally {
              machine.full = false;
            }
          }
          return null;
        });
    assertTrue(job.await(LONG), "a count is too high");
    assertTrue(refused[0] > 0, "no spawn was refused");
    assertNull(job.failure());
    ShutdownReport report = scheduler.shutdown(LONG);
    assertEquals(report.run(), ran.get() + 1L, report::toString);
    assertEquals(report.accepted(), report.run(), report::toString);
  }
}
