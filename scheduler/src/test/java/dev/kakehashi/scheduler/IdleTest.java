package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerConfig.RejectionPolicy;
import java.lang.Thread.State;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// I5, I7, I10: no task beside a sleeper, no work while idle, no memory kept; and full inboxes.
@Timeout(60)
class IdleTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private static void awaitSleep(TaskScheduler scheduler) {
    while (scheduler.metrics().get("workers.awake") > 0) {
      LockSupport.parkNanos(100_000);
    }
  }

  @Test
  void shouldUseNoProcessorTimeWhileIdle() throws Exception {
    try (TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder()
                .workers(3)
                .set(Parameter.WORKER_SUSPEND_TIMEOUT, 60_000_000)
                .build())) {
      assertTrue(scheduler.submit(context -> null).await(LONG));
      awaitSleep(scheduler);
      List<Thread> workers =
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().startsWith("kakehashi-worker-"))
              .toList();
      // Announced comes before parked, and a busy machine may take its time in between.
      while (!workers.stream().allMatch(worker -> worker.getState() == State.TIMED_WAITING)) {
        LockSupport.parkNanos(100_000);
      }
      long parks = scheduler.metrics().get("park.count");
      var threads = ManagementFactory.getThreadMXBean();
      long[] ids = workers.stream().mapToLong(Thread::threadId).toArray();
      long before = 0;
      for (long id : ids) {
        before += threads.getThreadCpuTime(id);
      }
      Thread.sleep(200);
      long after = 0;
      for (long id : ids) {
        after += threads.getThreadCpuTime(id);
      }
      assertEquals(parks, scheduler.metrics().get("park.count"));
      assertTrue(after - before < 20_000_000, "a spinning worker would have used 200 ms");
    }
  }

  @Test
  void shouldWakeForEverySubmissionAroundTheSpinBudget() throws Exception {
    long seed = Long.getLong("scheduler.seed", System.nanoTime());
    System.out.println("IdleTest seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    try (TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder()
                .workers(3)
                // A lost wake-up would hang the test instead of being repaired by the backstop.
                .set(Parameter.WORKER_SUSPEND_TIMEOUT, 3_600_000_000L)
                .build())) {
      AtomicInteger ran = new AtomicInteger();
      Task task =
          context -> {
            ran.incrementAndGet();
            return null;
          };
      for (int i = 0; i < 2000; i++) {
        scheduler.submit(task);
        long lost = System.nanoTime() + LONG.toNanos();
        while (ran.get() == i) {
          assertTrue(System.nanoTime() < lost, "a task is queued beside sleeping workers");
          LockSupport.parkNanos(1000); // the worker may need this core
        }
        long until = System.nanoTime() + random.nextInt(100_000);
        while (System.nanoTime() < until) {
          Thread.onSpinWait();
        }
      }
      assertEquals(0, scheduler.metrics().get("park.timeoutWithWork"));
    }
  }

  @Test
  void shouldRunTasksAtTheSameTimeWhenWorkersSleep() throws Exception {
    try (TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder()
                .workers(4)
                .set(Parameter.WORKER_SUSPEND_TIMEOUT, 3_600_000_000L)
                .build())) {
      for (int round = 0; round < 200; round++) {
        if (round % 10 == 0) {
          awaitSleep(scheduler);
        }
        CountDownLatch all = new CountDownLatch(4);
        Task blocking =
            context -> {
              all.countDown();
              all.await(); // passes only if every worker has one
              return null;
            };
        Job job =
            scheduler.submit(context -> {
              context.spawnAll(blocking, blocking, blocking);
              return blocking;
            });
        assertTrue(job.await(LONG));
      }
    }
  }

  @Test
  @SuppressWarnings("System") // collecting is what this test is about
  void shouldKeepNoReferenceToFinishedTasks() throws Exception {
    try (TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(2).build())) {
      List<WeakReference<Object>> references = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        references.add(runOne(scheduler));
      }
      awaitSleep(scheduler);
      long end = System.nanoTime() + LONG.toNanos();
      while (references.stream().anyMatch(reference -> reference.get() != null)) {
        assertTrue(System.nanoTime() < end, "finished tasks are still reachable");
        System.gc();
      }
    }
  }

  private static WeakReference<Object> runOne(TaskScheduler scheduler) throws Exception {
    Object payload = new Object();
    Job job =
        scheduler
            .job("payload")
            .attachment(payload)
            .submit(context -> {
              context.spawn(child -> payload.equals(child) ? child.resubmit(c -> null) : null);
              return null;
            });
    assertTrue(job.await(LONG));
    return new WeakReference<>(payload);
  }

  private static SchedulerConfig.Builder tiny(RejectionPolicy policy) {
    return SchedulerConfig.builder()
        .workers(1)
        .set(Parameter.INBOX_CAPACITY, 4)
        .set(Parameter.GLOBAL_BATCH, 1)
        .rejectionPolicy(policy);
  }

  @Test
  void shouldRefuseOrBlockOrRunOnCallerWhenTheInboxIsFull() throws Exception {
    for (RejectionPolicy policy : RejectionPolicy.values()) {
      try (TaskScheduler scheduler = TaskScheduler.start(tiny(policy).build())) {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        scheduler.submit(context -> {
          started.countDown();
          gate.await();
          return null;
        });
        started.await();
        for (int i = 0; i < 4; i++) {
          scheduler.submit(context -> null);
        }
        switch (policy) {
          case THROW -> {
            RejectedExecutionException thrown =
                assertThrows(
                    RejectedExecutionException.class, () -> scheduler.submit(context -> null));
            assertTrue(("" + thrown.getMessage()).contains("inboxCapacity=4"));
          }
          case CALLER -> {
            Job job = scheduler.submit(context -> null);
            assertTrue(job.done());
            assertNull(job.failure());
          }
          case BLOCK -> {
            Thread blocked = new Thread(() -> scheduler.submit(context -> null));
            blocked.start();
            while (blocked.getState() != Thread.State.TIMED_WAITING) {
              Thread.onSpinWait();
            }
            gate.countDown();
            blocked.join();
          }
        }
        gate.countDown();
        ShutdownReport report = scheduler.shutdown(LONG);
        assertTrue(report.clean(), report::toString);
        assertEquals(policy == RejectionPolicy.THROW ? 5 : 6, report.run());
      }
    }
  }
}
