package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// I1, I2, I13 at the end: everything accepted is run or discarded, and the report adds up.
@Timeout(120)
class ShutdownTest {
  private static TaskScheduler start() {
    return TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
  }

  private static void balanced(ShutdownReport report) {
    assertEquals(report.accepted(), report.run() + report.discarded(), report::toString);
    assertTrue(report.clean(), report::toString);
  }

  @Test
  void shouldLetRunningJobsFinishAndRefuseNewOnes() throws Exception {
    TaskScheduler scheduler = start();
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch refused = new CountDownLatch(1);
    AtomicBoolean spawned = new AtomicBoolean();
    scheduler.submit(context -> {
      started.countDown();
      refused.await();
      context.spawn(child -> {
        spawned.set(true);
        return null;
      });
      return null;
    });
    started.await();
    Thread closer = new Thread(scheduler::close);
    closer.start();
    SchedulerStoppedException thrown = null;
    while (thrown == null) {
      try {
        scheduler.submit(context -> null);
      } catch (SchedulerStoppedException e) {
        thrown = e;
      }
    }
    refused.countDown();
    closer.join();
    assertTrue(spawned.get());
    balanced(scheduler.shutdown(Duration.ZERO));
  }

  @Test
  void shouldCancelWhatIsLeftAfterTheGraceAndDropHolds() throws Exception {
    TaskScheduler scheduler = start();
    AtomicInteger teardowns = new AtomicInteger();
    Condition never = scheduler.condition();
    CountDownLatch held = new CountDownLatch(1);
    scheduler
        .job("waits")
        .onTeardown(job -> teardowns.incrementAndGet())
        .submit(context -> context.await(never, next -> null));
    scheduler
        .job("held")
        .onTeardown(job -> teardowns.incrementAndGet())
        .submit(context -> {
          context.job().hold();
          held.countDown();
          return null;
        });
    scheduler.after(Duration.ofHours(1), context -> null);
    held.await();
    while (never.pending() == 0) {
      Thread.onSpinWait();
    }
    ShutdownReport report = scheduler.shutdown(Duration.ofMillis(50));
    balanced(report);
    assertEquals(2, teardowns.get());
    assertEquals(2, report.jobsCanceled());
    assertEquals(1 + 1, report.discarded(), "the waiter and the timer");
  }

  @Test
  void shouldReportAWorkerThatDoesNotComeBack() {
    TaskScheduler scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(1).build());
    CountDownLatch started = new CountDownLatch(1);
    AtomicBoolean release = new AtomicBoolean();
    scheduler.submit(context -> {
      started.countDown();
      while (!release.get()) {
        Thread.onSpinWait();
      }
      return null;
    });
    try {
      started.await();
      ShutdownReport report = scheduler.shutdown(Duration.ofMillis(10));
      assertFalse(report.clean());
      assertEquals(1, report.stuckWorkers().size(), report::toString);
      assertTrue(report.stuckWorkers().get(0).contains("ShutdownTest"), report::toString);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      release.set(true);
    }
  }

  @Test
  void shouldBeLegalFromATask() throws Exception {
    TaskScheduler scheduler = start();
    Job job =
        scheduler.submit(context -> {
          scheduler.shutdown(Duration.ofSeconds(30));
          assertThrows(SchedulerStoppedException.class, () -> scheduler.submit(inner -> null));
          return null;
        });
    assertTrue(job.await(Duration.ofSeconds(30)));
    balanced(scheduler.shutdown(Duration.ofSeconds(30)));
  }

  @Test
  void shouldStartAndStopOftenWithoutLeavingThreads() {
    for (int i = 0; i < 200; i++) {
      TaskScheduler scheduler =
          TaskScheduler.start(
              SchedulerConfig.builder()
                  .workers(2)
                  .threadNamePrefix("startstop")
                  .set(SchedulerConfig.Parameter.INBOX_CAPACITY, 16)
                  .set(SchedulerConfig.Parameter.LOCAL_CAPACITY, 16)
                  .build());
      scheduler.submit(context -> null);
      balanced(scheduler.shutdown(Duration.ofSeconds(30)));
    }
    assertFalse(
        Thread.getAllStackTraces().keySet().stream()
            .anyMatch(thread -> thread.getName().startsWith("startstop-worker")));
  }
}
