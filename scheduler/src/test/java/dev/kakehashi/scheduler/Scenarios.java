package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Simulated programs, by seed. [#random] does everything at once; the others look closely at one thing that many
/// other events would hide.
final class Scenarios {
  /// One run; throws what it found.
  interface Scenario {
    void run(long seed, @Nullable Mutation mutation);
  }

  private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();
  private static final Duration FOR_EVER = Duration.ofDays(1);
  private static final RandomProgram.Shape SHAPE = new RandomProgram.Shape(2, 3, 3, 4, true);

  private Scenarios() {}

  static void random(long seed, @Nullable Mutation mutation) {
    random(seed, mutation, false);
  }

  /// As [#random], and workers fail between two tasks.
  static void failingWorkers(long seed, @Nullable Mutation mutation) {
    random(seed, mutation, true);
  }

  private static void random(long seed, @Nullable Mutation mutation, boolean workersFail) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          RandomProgram.Work work =
              new RandomProgram.Work() {
                @Override
                public void spend(SplittableRandom own) {
                  if (own.nextInt(4) == 0) {
                    simulation.work(own.nextInt(1, 100_000));
                  }
                }

                @Override
                public void violated(Throwable thrown) {
                  simulation.fail(thrown);
                  Platform.yieldNow(); // and never comes back
                }
              };
          RandomProgram program = new RandomProgram(random, SHAPE, work, "seed=" + seed);
          simulation.watch(program.scheduler());
          if (workersFail) {
            simulation.failWorkers();
          }
          program.run();
        });
  }

  /// I1: an owner that pushes and pops at both ends of a ring of four, and two thieves.
  static void deque(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          StealHalfDeque deque = new StealHalfDeque(4, random.nextInt());
          int items = 40;
          int[] taken = new int[items];
          boolean[] over = new boolean[1];
          List<Thread> thieves = new ArrayList<>();
          for (int i = 0; i < 2; i++) {
            thieves.add(
                PlatformThreads.start(
                    "thief",
                    () -> {
                      @Nullable Object[] batch = new @Nullable Object[8];
                      while (!over[0]) {
                        int n = deque.stealHalf(batch, 4, 1);
                        for (int k = 0; k < n; k++) {
                          count(taken, batch[2 * k]);
                        }
                        Platform.yieldNow();
                      }
                    }));
          }
          for (int next = 0; next < items; ) {
            if (random.nextInt(3) > 0) {
              Numbered item = new Numbered(next++);
              boolean room =
                  random.nextInt(4) == 0 ? deque.pushOldest(item, null) : deque.push(item, null);
              if (!room) {
                count(taken, item);
              }
            } else {
              Task item = random.nextBoolean() ? deque.popNewest() : deque.popOldest();
              if (item != null) {
                count(taken, item);
              }
            }
            Platform.point(Platform.Point.DEQUE_STORED);
          }
          for (Task item = deque.popNewest(); item != null; item = deque.popNewest()) {
            count(taken, item);
          }
          over[0] = true;
          PlatformThreads.join(thieves, FOR_EVER);
          deque.forgetJobs();
          for (int i = 0; i < items; i++) {
            assertEquals(1, taken[i], "I1: item " + i);
          }
          assertTrue(deque.keepsNothingElse(), "I10");
        });
  }

  private static void count(int[] taken, @Nullable Object item) {
    taken[((Numbered) assertNotNullItem(item)).number()]++;
  }

  private static Object assertNotNullItem(@Nullable Object item) {
    assertNotNull(item, "I1: an empty slot was taken");
    return item;
  }

  private record Numbered(int number) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      return null;
    }
  }

  /// I5 for threads that are no workers: nobody waits for the time-out.
  static void eventCount(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          EventCount events = new EventCount();
          int[] available = new int[1];
          int items = random.nextInt(1, 6);
          List<Thread> threads = new ArrayList<>();
          for (int i = 0; i < items; i++) {
            threads.add(
                PlatformThreads.start(
                    "taker",
                    () -> {
                      for (; ; ) {
                        long key = events.prepare();
                        if (available[0] > 0) {
                          available[0]--;
                          events.cancel(key);
                          return;
                        }
                        events.await(key, Duration.ofHours(1));
                      }
                    }));
          }
          for (int i = 0; i < items; i++) {
            if (random.nextBoolean()) {
              simulation.work(random.nextInt(1, 2000));
            }
            available[0]++;
            events.notifyWaiters();
          }
          PlatformThreads.join(threads, FOR_EVER);
          assertTrue(
              simulation.elapsedNanos() < HOUR_NANOS, "I5: a waiter slept until its time-out");
        });
  }

  /// I8: each signal is seen, bodies run once, on workers, and not before the check is true.
  static void condition(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          TaskScheduler scheduler =
              TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
          int rounds = 4;
          AtomicInteger given = new AtomicInteger();
          AtomicInteger taken = new AtomicInteger();
          Condition signalled = scheduler.condition();
          Condition polled = scheduler.condition(() -> given.get() == rounds);
          AtomicInteger bodies = new AtomicInteger();
          Job waiter = scheduler.submit(new Taker(signalled, given, taken, rounds));
          Job late =
              scheduler.submit(context ->
                  context.await(
                      polled,
                      inner -> {
                        assertEquals(rounds, given.get(), "I8: before its check was true");
                        assertTrue(
                            Platform.currentThread() instanceof WorkerThread,
                            "I8: a body outside the workers");
                        bodies.incrementAndGet();
                        return null;
                      }));
          for (int i = 0; i < rounds; i++) {
            while (taken.get() < i) {
              simulation.work(500); // with one waiter at a time no signal is too many
            }
            if (random.nextBoolean()) {
              simulation.work(random.nextInt(1, 3000));
            }
            given.incrementAndGet();
            signalled.signal();
          }
          ShutdownReport report = scheduler.shutdown(Duration.ofHours(1));
          assertEquals(0, report.jobsCanceled(), "I8: a signal was lost");
          assertTrue(waiter.done() && late.done(), "I8: a signal was lost");
          assertEquals(null, late.failure());
          assertEquals(1, bodies.get(), "I8: body once");
        });
  }

  /// I1 and I8: a signal and a cancel meet; whoever comes first, the waiting task ends once.
  static void canceledWait(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          TaskScheduler scheduler =
              TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
          Condition condition = scheduler.condition();
          AtomicInteger ends = new AtomicInteger();
          Job job = scheduler.submit(context -> context.await(condition, new Counting(ends)));
          while (condition.pending() == 0) {
            simulation.work(500);
          }
          List<Thread> threads =
              List.of(
                  PlatformThreads.start("signaller", condition::signal),
                  PlatformThreads.start("canceller", job::cancel));
          PlatformThreads.join(threads, FOR_EVER);
          ShutdownReport report = scheduler.shutdown(Duration.ofHours(1));
          assertEquals(1, ends.get(), "I1: ends of the waiting task");
          assertTrue(report.clean(), () -> "I13: " + report);
        });
  }

  private record Counting(AtomicInteger ends) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      ends.incrementAndGet();
      return null;
    }

    @Override
    public void discarded(Job job) {
      ends.incrementAndGet();
    }
  }

  private record Taker(Condition condition, AtomicInteger given, AtomicInteger taken, int rounds)
      implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      while (taken.get() < given.get()) {
        taken.incrementAndGet();
      }
      Platform.point(Platform.Point.CONDITION);
      return taken.get() == rounds ? null : context.await(condition, this);
    }
  }

  /// I7: an idle scheduler sleeps, and each sleep ends by itself.
  static void idle(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          SchedulerConfig config =
              SchedulerConfig.builder()
                  .workers(3)
                  .set(Parameter.WORKER_SUSPEND_TIMEOUT, 1_000_000)
                  .build();
          TaskScheduler scheduler = TaskScheduler.start(config);
          simulation.work(Duration.ofSeconds(1).toNanos());
          int before = simulation.switches();
          long timeouts = scheduler.metrics().get("park.timeout");
          simulation.work(Duration.ofSeconds(100).toNanos());
          long ended = scheduler.metrics().get("park.timeout") - timeouts;
          // A spurious wake-up in between starts a sleep anew.
          assertTrue(ended >= 3 * 80, "I7: a sleep did not end, only " + ended + " did");
          assertTrue(simulation.switches() - before < 100 * 3 * 10, "I7: an idle scheduler works");
          scheduler.close();
        });
  }

  /// I11: outside tasks while every worker spawns without end, tasks of two lengths.
  static void fairness(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          long longest = random.nextInt(100_000, 500_000);
          SchedulerConfig config =
              SchedulerConfig.builder()
                  .workers(random.nextInt(1, 3))
                  .set(Parameter.LOCAL_CAPACITY, 16)
                  .build();
          TaskScheduler scheduler = TaskScheduler.start(config);
          long interval = config.nanos(Parameter.FAIRNESS_INTERVAL);
          boolean[] over = new boolean[1];
          Job endless = scheduler.submit(new Spawner(simulation, random, longest, over));
          for (int i = 0; i < 40; i++) {
            simulation.work(random.nextLong(1, 3 * longest));
            long submitted = simulation.nanoTime();
            boolean[] started = new boolean[1];
            scheduler.submit(context -> {
              started[0] = true;
              return null;
            });
            while (!started[0]) {
              long waited = simulation.nanoTime() - submitted;
              assertTrue(
                  waited <= interval + 2 * longest + SWITCHING_NANOS,
                  () -> "I11: an outside task waits for " + waited + " ns, tasks of " + longest);
              simulation.work(5_000);
            }
          }
          over[0] = true;
          scheduler.shutdown(Duration.ofHours(1));
          assertTrue(endless.done());
        });
  }

  // Time that the simulation itself takes for its switches during an interval.
  private static final long SWITCHING_NANOS = 20_000;

  /// Runs of short and of long tasks, so that no estimate out of one fits the next.
  private record Spawner(
      Simulation simulation, SplittableRandom random, long longestNanos, boolean[] over)
      implements Task {
    private static final long PHASE_NANOS = 3_000_000;

    @Override
    public @Nullable Task run(TaskContext context) {
      boolean shorts = simulation.nanoTime() / PHASE_NANOS % 3 == 0;
      simulation.work(shorts || random.nextInt(8) == 0 ? 1000 : longestNanos);
      if (!over[0]) {
        for (int i = random.nextInt(1, 4); i > 0; i--) {
          context.spawn(this);
        }
      }
      return null;
    }
  }
}
