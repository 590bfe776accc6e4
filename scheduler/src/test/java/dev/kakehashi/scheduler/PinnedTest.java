package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// I4: pinned tasks run on one thread only; and how often ordinary tasks come before them.
@Timeout(60)
class PinnedTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  private static SchedulerConfig.Builder config(int workers) {
    // A lost wake-up hangs the test instead of being repaired.
    return SchedulerConfig.builder()
        .workers(workers)
        .set(Parameter.WORKER_SUSPEND_TIMEOUT, 3_600_000_000L);
  }

  @ParameterizedTest
  @EnumSource
  void shouldRunAPinnedLaneOnOneThreadInOrder(SchedulerConfig.Distribution distribution)
      throws Exception {
    try (TaskScheduler scheduler =
        TaskScheduler.start(config(3).distribution(distribution).build())) {
      int lanes = 4;
      int tasks = 500;
      List<Job> jobs = new ArrayList<>();
      List<Set<Thread>> threads = new ArrayList<>();
      List<List<Integer>> orders = new ArrayList<>();
      for (int l = 0; l < lanes; l++) {
        Lane lane = scheduler.newLane(1, Affinity.PINNED);
        Set<Thread> seen = ConcurrentHashMap.newKeySet();
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        threads.add(seen);
        orders.add(order);
        for (int i = 0; i < tasks; i++) {
          int number = i;
          jobs.add(
              lane.submit(context -> {
                seen.add(Thread.currentThread());
                order.add(number);
                return null;
              }));
          if (i % 50 == 0) {
            scheduler.submit(context -> null);
            LockSupport.parkNanos(50_000); // let workers fall asleep now and then
          }
        }
      }
      for (Job job : jobs) {
        assertTrue(job.await(LONG));
      }
      for (int l = 0; l < lanes; l++) {
        assertEquals(1, threads.get(l).size());
        assertEquals(java.util.stream.IntStream.range(0, tasks).boxed().toList(), orders.get(l));
      }
      assertTrue(scheduler.metrics().get("pinned.run") > 0);
      assertEquals(0, scheduler.metrics().get("queue.pinned"));
    }
  }

  @Test
  void shouldWakeExactlyThePinnedWorker() throws Exception {
    try (TaskScheduler scheduler = TaskScheduler.start(config(4).build())) {
      for (int round = 0; round < 200; round++) {
        Lane lane = scheduler.newLane(1, Affinity.PINNED);
        AtomicInteger ranOn = new AtomicInteger(-1);
        Job job =
            lane.submit(context -> {
              ranOn.set(context.workerIndex());
              return null;
            });
        assertTrue(job.await(LONG));
        assertEquals(lane.homeWorker(), ranOn.get());
      }
    }
  }

  @Test
  void shouldNotBeStolenWhileItsWorkerIsBusy() throws Exception {
    try (TaskScheduler scheduler = TaskScheduler.start(config(2).build())) {
      Lane lane = scheduler.newLane(1, Affinity.PINNED);
      CountDownLatch started = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      Job blocking =
          lane.submit(context -> {
            started.countDown();
            release.await();
            return null;
          });
      started.await();
      Job waiting = lane.submit(context -> null);
      // The other worker is free and proves it.
      for (int i = 0; i < 100; i++) {
        assertTrue(scheduler.submit(context -> null).await(LONG));
      }
      assertFalse(waiting.done());
      release.countDown();
      assertTrue(waiting.await(LONG));
      assertTrue(blocking.await(LONG));
    }
  }

  @Test
  void shouldTakeOrdinaryTasksFirstInTheConfiguredShareOfTheLooks() throws Exception {
    // A stalled machine may add a look for fairness, which takes the oldest ordinary task.
    assertEquals(0, ordinaryAmongTheFirst(40, 0), 3);
    assertEquals(10, ordinaryAmongTheFirst(40, 250), 3);
    assertEquals(40, ordinaryAmongTheFirst(40, 1000), 3);
  }

  /// One worker with 100 ordinary and 100 pinned tasks waiting: how many of the first tasks are ordinary.
  private static int ordinaryAmongTheFirst(int first, int thousandths) throws Exception {
    try (TaskScheduler scheduler =
        TaskScheduler.start(
            config(1)
                .set(Parameter.LOCAL_FIRST_THOUSANDTHS, thousandths)
                .set(Parameter.LANE_BATCH, 1)
                // No look outside in between.
                .set(Parameter.FAIRNESS_INTERVAL, 1_000_000)
                .build())) {
      Lane lane = scheduler.newLane(1, Affinity.PINNED);
      // The start of the thread must not count as a long task.
      assertTrue(scheduler.submit(context -> spawnMany(context, 10_000)).await(LONG));
      List<Boolean> order = new ArrayList<>(); // by the one worker; read after the end
      Job job =
          scheduler.submit(context -> {
            for (int i = 0; i < 100; i++) {
              context.spawn(new Mark(order, true));
              context.submit(lane, new Mark(order, false));
            }
            return null;
          });
      assertTrue(job.await(LONG));
      return (int) order.subList(0, first).stream().filter(ordinary -> ordinary).count();
    }
  }

  private static @Nullable Task spawnMany(TaskContext context, int count) {
    for (int i = 0; i < count; i++) {
      context.spawn(child -> null);
    }
    return null;
  }

  private record Mark(List<Boolean> order, boolean ordinary) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      order.add(ordinary);
      return null;
    }
  }

  @Test
  void shouldRefuseMorePermitsAndAnotherAffinity() throws Exception {
    try (TaskScheduler scheduler = TaskScheduler.start(config(2).build())) {
      assertThrows(IllegalArgumentException.class, () -> scheduler.newLane(2, Affinity.PINNED));
      Lane lane = scheduler.sticky("key", Affinity.PINNED);
      assertSame(lane, scheduler.sticky("key", Affinity.PINNED));
      assertThrows(IllegalArgumentException.class, () -> scheduler.sticky("key"));
      assertEquals(Affinity.PINNED, lane.affinity());
    }
  }
}
