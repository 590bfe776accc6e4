package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Both ways of getting waiting tasks to sleeping workers; I5 and I6 under the role.
@Timeout(60)
class DistributionTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  private static TaskScheduler start(Distribution distribution, int workers) {
    return TaskScheduler.start(
        SchedulerConfig.builder()
            .workers(workers)
            .distribution(distribution)
            // A task that nobody distributes hangs the test instead of being repaired.
            .set(Parameter.WORKER_SUSPEND_TIMEOUT, 3_600_000_000L)
            .build());
  }

  private static void awaitSleep(TaskScheduler scheduler) {
    while (scheduler.metrics().get("workers.awake") > 0) {
      LockSupport.parkNanos(100_000);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldGetTheTasksOfABusyWorkerToTheOthers(Distribution distribution) throws Exception {
    for (int workers : new int[] {2, 4}) {
      try (TaskScheduler scheduler = start(distribution, workers)) {
        for (int round = 0; round < 200; round++) {
          // Each waits until all run at the same time: every worker has to get one.
          CountDownLatch together = new CountDownLatch(workers);
          Job job =
              scheduler.submit(context -> {
                for (int i = 1; i < workers; i++) {
                  context.spawn(child -> meet(together));
                }
                return meet(together);
              });
          assertTrue(job.await(LONG), () -> scheduler.metrics().toJson());
          if (round % 8 == 0) {
            awaitSleep(scheduler);
          }
        }
        // With two workers, the one that does not work takes itself what it finds.
        if (distribution == Distribution.ROLE && workers > 2) {
          assertTrue(scheduler.metrics().get("role.distributed") > 0);
        }
      }
    }
  }

  private static @Nullable Task meet(CountDownLatch together) throws InterruptedException {
    together.countDown();
    together.await();
    return null;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void shouldRunEverythingOnceUnderTheRole(int workers) throws Exception {
    long seed = Long.getLong("scheduler.seed", System.nanoTime());
    System.out.println("DistributionTest seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    try (TaskScheduler scheduler = start(Distribution.ROLE, workers)) {
      AtomicLong ran = new AtomicLong();
      AtomicLong distributors = new AtomicLong();
      long expected = 0;
      for (int round = 0; round < 300; round++) {
        int depth = random.nextInt(10);
        expected += (1L << (depth + 1)) - 1;
        Job job = scheduler.submit(new Tree(depth, ran, scheduler, distributors));
        if (random.nextInt(4) == 0) {
          assertTrue(job.await(LONG), () -> scheduler.metrics().toJson());
        }
        if (random.nextInt(4) == 0) {
          LockSupport.parkNanos(random.nextInt(100_000));
        }
      }
      assertTrue(scheduler.submit(context -> null).await(LONG), () -> scheduler.metrics().toJson());
      ShutdownReport report = scheduler.shutdown(LONG);
      assertTrue(report.clean(), report::toString);
      assertEquals(expected, ran.get());
      assertTrue(distributors.get() <= 1, "distributors at a time: " + distributors);
    }
  }

  private record Tree(int depth, AtomicLong ran, TaskScheduler scheduler, AtomicLong distributors)
      implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      if ((ran.incrementAndGet() & 63) == 0) {
        distributors.accumulateAndGet(scheduler.metrics().get("workers.searching"), Math::max);
      }
      if (depth > 0) {
        context.spawn(new Tree(depth - 1, ran, scheduler, distributors));
        context.spawn(new Tree(depth - 1, ran, scheduler, distributors));
      }
      return null;
    }
  }

  @Test
  void shouldSleepWhenNobodyWorks() throws Exception {
    try (TaskScheduler scheduler = start(Distribution.ROLE, 3)) {
      AtomicInteger ran = new AtomicInteger();
      for (int i = 0; i < 100; i++) {
        assertTrue(
            scheduler
                .submit(context -> {
                  ran.incrementAndGet();
                  return null;
                })
                .await(LONG));
        if (i % 10 == 0) {
          awaitSleep(scheduler);
          assertEquals(0, scheduler.metrics().get("workers.searching"));
        }
      }
      assertEquals(100, ran.get());
    }
  }

  @Test
  void shouldRefuseWhatContradictsTheRole() {
    SchedulerConfig.Builder role = SchedulerConfig.builder().set("distribution", "role");
    assertEquals(1, role.build().maxSearchers());
    assertThrows(IllegalArgumentException.class, () -> role.set("busyWorker", "true").build());
    assertEquals(
        "\"distribution\" must be one of [SEARCH, ROLE], not \"roll\"",
        assertThrows(
                IllegalArgumentException.class,
                () -> SchedulerConfig.builder().set("distribution", "roll"))
            .getMessage());
  }
}
