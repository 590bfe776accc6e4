package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerConfig.RejectionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Tasks without a job: each runs or is discarded once, a shutdown waits for them, and they become jobs when they
/// need one.
@Timeout(60)
class ExecuteTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  private static SchedulerConfig.Builder small() {
    return SchedulerConfig.builder()
        .workers(2)
        .set(Parameter.INBOX_CAPACITY, 4)
        .set(Parameter.LOCAL_CAPACITY, 4);
  }

  @Test
  void shouldRunEachTaskOnceThroughAFullInbox() throws Exception {
    AtomicInteger ran = new AtomicInteger();
    TaskScheduler scheduler = TaskScheduler.start(small().build());
    List<Thread> submitters = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Thread thread =
          new Thread(() -> {
            for (int n = 0; n < 20_000; n++) {
              scheduler.execute(context -> {
                ran.incrementAndGet();
                return null;
              });
            }
          });
      thread.start();
      submitters.add(thread);
    }
    for (Thread thread : submitters) {
      thread.join();
    }
    ShutdownReport report = scheduler.shutdown(LONG);
    assertTrue(report.clean(), report::toString);
    assertEquals(60_000, ran.get());
    assertEquals(60_000, report.accepted());
    assertEquals(0, scheduler.metrics().get("jobs.done"), "no job was made");
  }

  @Test
  void shouldMakeAJobForATaskThatSpawnsOrEndsWithATailCall() throws Exception {
    AtomicInteger ran = new AtomicInteger();
    TaskScheduler scheduler = TaskScheduler.start(small().build());
    Condition condition = scheduler.condition();
    for (int i = 0; i < 1_000; i++) {
      scheduler.execute(context -> {
        for (int child = 0; child < 5; child++) {
          context.spawn(inner -> {
            ran.incrementAndGet();
            return null;
          });
        }
        return context.await(
            condition,
            rest -> {
              ran.incrementAndGet();
              return null;
            });
      });
    }
    while (ran.get() < 6_000) {
      condition.signal();
      Thread.onSpinWait();
    }
    ShutdownReport report = scheduler.shutdown(LONG);
    assertTrue(report.clean(), report::toString);
    assertEquals(6_000, ran.get());
    assertEquals(7_000, report.run());
    assertEquals(1_000, scheduler.metrics().get("jobs.done"));
  }

  @Test
  void shouldRunSuccessorsAndReportFailures() throws Exception {
    AtomicInteger ran = new AtomicInteger();
    ConcurrentLinkedQueue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
    TaskScheduler scheduler =
        TaskScheduler.start(small().uncaught((where, thrown) -> uncaught.add(thrown)).build());
    Task chain =
        new Task() {
          @Override
          public @Nullable Task run(TaskContext context) throws Exception {
            if (ran.incrementAndGet() == 100) {
              throw new Exception("wanted");
            }
            return this;
          }
        };
    scheduler.execute(chain);
    scheduler.execute(context -> {
      context.job();
      throw new Exception("wanted, too");
    });
    ShutdownReport report = scheduler.shutdown(LONG);
    assertTrue(report.clean(), report::toString);
    assertEquals(101, report.run());
    assertEquals(2, uncaught.size());
    assertEquals(2, scheduler.metrics().get("tasks.failed"));
  }

  @Test
  void shouldDiscardWhatHasNotStartedWhenTheGraceEnds() throws Exception {
    AtomicInteger discarded = new AtomicInteger();
    TaskScheduler scheduler = TaskScheduler.start(SchedulerConfig.builder().workers(1).build());
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    scheduler.execute(context -> {
      started.countDown();
      goOn.await();
      return null;
    });
    assertTrue(started.await(30, TimeUnit.SECONDS));
    for (int i = 0; i < 100; i++) {
      scheduler.execute(
          new Task() {
            @Override
            public @Nullable Task run(TaskContext context) {
              return null;
            }

            @Override
            public void discarded(Job job) {
              discarded.addAndGet(job.canceled() ? 1 : 0);
            }
          });
    }
    Thread closer = new Thread(() -> scheduler.shutdown(Duration.ZERO));
    closer.start();
    while (!scheduler.discardsJobless()) {
      Thread.onSpinWait();
    }
    assertThrows(SchedulerStoppedException.class, () -> scheduler.execute(context -> null));
    goOn.countDown();
    closer.join();
    ShutdownReport report = scheduler.shutdown(LONG);
    assertEquals(100, discarded.get());
    assertEquals(101, report.accepted());
    assertEquals(0, report.left());
  }

  @Test
  void shouldRefuseOrRunOnTheCallerWhenFullAsThePolicySays() throws Exception {
    for (RejectionPolicy policy : List.of(RejectionPolicy.THROW, RejectionPolicy.CALLER)) {
      AtomicInteger onCaller = new AtomicInteger();
      Thread caller = Thread.currentThread();
      TaskScheduler scheduler =
          TaskScheduler.start(small().workers(1).rejectionPolicy(policy).build());
      CountDownLatch started = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      scheduler.execute(context -> {
        started.countDown();
        goOn.await();
        return null;
      });
      assertTrue(started.await(30, TimeUnit.SECONDS));
      Task task =
          context -> {
            onCaller.addAndGet(Thread.currentThread().equals(caller) ? 1 : 0);
            return null;
          };
      for (int i = 0; i < 4; i++) {
        scheduler.execute(task);
      }
      if (policy == RejectionPolicy.THROW) {
        assertThrows(RejectedExecutionException.class, () -> scheduler.execute(task));
      } else {
        scheduler.execute(task);
        assertEquals(1, onCaller.get());
      }
      goOn.countDown();
      assertTrue(scheduler.shutdown(LONG).clean());
    }
  }
}
