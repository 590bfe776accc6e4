package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// I11: whatever a job spawns, others get their turn. Each test's job goes on for ever unless they do.
@Timeout(60)
class FairnessTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private static TaskScheduler one() {
    return TaskScheduler.start(
        SchedulerConfig.builder().workers(1).set(Parameter.LOCAL_CAPACITY, 16).build());
  }

  /// Spawns itself until `over`.
  private record Endless(AtomicBoolean over) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      if (!over.get()) {
        context.spawn(this);
      }
      return null;
    }
  }

  @Test
  void shouldServeOutsideWorkWhileAJobKeepsSpawning() throws Exception {
    try (TaskScheduler scheduler = one()) {
      AtomicBoolean over = new AtomicBoolean();
      Job endless = scheduler.submit(new Endless(over));
      Job outside = scheduler.submit(context -> null);
      assertTrue(outside.await(LONG));
      over.set(true);
      assertTrue(endless.await(LONG));
    }
  }

  /// The other inbox's own worker is busy, and this one's own is never empty.
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void shouldServeEveryInboxWhileOneIsNeverEmpty(int full) throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    CountDownLatch served = new CountDownLatch(1);
    try (TaskScheduler scheduler =
        TaskScheduler.start(SchedulerConfig.builder().workers(2).build())) {
      CountDownLatch blocked = new CountDownLatch(1);
      AtomicInteger free = new AtomicInteger();
      scheduler.execute(context -> {
        free.set(1 - context.workerIndex());
        blocked.countDown();
        over.await();
        return null;
      });
      assertTrue(blocked.await(20, TimeUnit.SECONDS));
      Inbox flooded = scheduler.inboxes()[full == 0 ? free.get() : 1 - free.get()];
      Inbox other = scheduler.inboxes()[full == 0 ? 1 - free.get() : free.get()];
      Task flood =
          new Task() {
            @Override
            public @Nullable Task run(TaskContext context) {
              if (over.getCount() > 0) {
                scheduler.intake().offerJobless(flooded, this);
              }
              return null;
            }
          };
      for (int i = 0; i < 100; i++) {
        assertTrue(scheduler.intake().offerJobless(flooded, flood));
      }
      assertTrue(
          scheduler
              .intake()
              .offerJobless(
                  other,
                  context -> {
                    served.countDown();
                    return null;
                  }));
      boolean inTime = served.await(20, TimeUnit.SECONDS);
      over.countDown();
      assertTrue(inTime);
    }
  }

  @Test
  void shouldServeTheOldEndWhileAJobKeepsSpawning() throws Exception {
    try (TaskScheduler scheduler = one()) {
      AtomicBoolean over = new AtomicBoolean();
      Job job =
          scheduler.submit(context -> {
            context.spawn(new Endless(over));
            return context.resubmit(rest -> {
              over.set(true);
              return null;
            });
          });
      assertTrue(job.await(LONG));
    }
  }

  @Test
  void shouldServeTheOverflowWhileAJobKeepsSpawning() throws Exception {
    try (TaskScheduler scheduler = one()) {
      AtomicBoolean over = new AtomicBoolean();
      AtomicInteger run = new AtomicInteger();
      Job job =
          scheduler.submit(context -> {
            for (int i = 0; i < 1000; i++) {
              context.spawn(child -> {
                if (run.incrementAndGet() == 1000) {
                  over.set(true);
                }
                return null;
              });
            }
            context.spawn(new Endless(over));
            return null;
          });
      assertTrue(job.await(LONG));
      assertTrue(scheduler.metrics().get("overflow.moved") > 0);
    }
  }

  @Test
  void shouldHandTheRestOfAHeavyJobFromItsCallerToTheWorkers() throws Exception {
    try (TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder().workers(1).set(Parameter.CALLER_LIMIT, 16).build())) {
      Thread caller = Thread.currentThread();
      AtomicInteger onCaller = new AtomicInteger();
      AtomicInteger run = new AtomicInteger();
      Job job =
          scheduler
              .job("not so light")
              .workLevel(0)
              .submit(context -> {
                for (int i = 0; i < 100; i++) {
                  context.spawn(child -> {
                    onCaller.addAndGet(Thread.currentThread().equals(caller) ? 1 : 0);
                    run.incrementAndGet();
                    return null;
                  });
                }
                return null;
              });
      assertTrue(job.await(LONG));
      assertEquals(100, run.get());
      assertEquals(15, onCaller.get(), "sixteen with the bootstrap task");
    }
  }

  @Test
  void shouldYieldWhenTheSliceIsUsedUp() throws Exception {
    try (TaskScheduler scheduler =
        TaskScheduler.start(
            SchedulerConfig.builder().workers(1).set(Parameter.PREEMPT_AFTER, 1).build())) {
      AtomicInteger slices = new AtomicInteger();
      Task slicing =
          new Task() {
            @Override
            public @Nullable Task run(TaskContext context) {
              while (!context.shouldYield()) {
                Thread.onSpinWait();
              }
              return slices.incrementAndGet() < 3 ? context.resubmit(this) : null;
            }
          };
      assertTrue(scheduler.submit(slicing).await(LONG));
      assertEquals(3, slices.get());
    }
  }

  @Test
  void shouldRefuseMisuseOfTheContext() throws Exception {
    try (TaskScheduler scheduler = one()) {
      AtomicReference<@Nullable TaskContext> kept = new AtomicReference<>();
      Job keeping =
          scheduler.submit(context -> {
            kept.set(context);
            return null;
          });
      assertTrue(keeping.await(LONG));
      assertNull(keeping.failure());
      TaskContext stale = kept.get();
      Job both =
          scheduler.submit(context -> {
            if (stale != null) {
              stale.resubmit(rest -> null);
            }
            return rest -> null;
          });
      assertTrue(both.await(LONG));
      assertTrue(both.failure() instanceof IllegalStateException, () -> "" + both.failure());
      ShutdownReport report = scheduler.shutdown(LONG);
      assertEquals(report.accepted(), report.run() + report.discarded(), report::toString);
    }
  }
}
