package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// I8: a waiting task runs once, not before its time, and on a worker; and timers.
@Timeout(120)
class ConditionTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  private final AtomicReference<@Nullable Throwable> uncaught = new AtomicReference<>();
  private final TaskScheduler scheduler =
      TaskScheduler.start(
          SchedulerConfig.builder().workers(2).uncaught((where, t) -> uncaught.set(t)).build());

  @AfterEach
  void stop() {
    assertTrue(scheduler.shutdown(LONG).clean());
  }

  @Test
  void shouldRunEachWaiterOnceForOneSignal() throws Exception {
    Condition condition = scheduler.condition();
    AtomicInteger run = new AtomicInteger();
    Job job =
        scheduler.submit(context -> {
          for (int i = 0; i < 10; i++) {
            context.spawn(child ->
                child.await(
                    condition,
                    next -> {
                      run.incrementAndGet();
                      return null;
                    }));
          }
          return null;
        });
    while (condition.pending() < 10) {
      Thread.onSpinWait();
    }
    assertEquals(0, run.get());
    condition.signal();
    assertTrue(job.await(LONG));
    assertEquals(10, run.get());
    assertEquals(0, condition.pending());
  }

  @Test
  void shouldRememberASignalForTheNextWait() throws Exception {
    Condition condition = scheduler.condition();
    condition.signal();
    assertTrue(scheduler.submit(c -> c.await(condition, next -> null)).await(LONG));
    Job second = scheduler.submit(c -> c.await(condition, next -> null));
    assertFalse(second.await(Duration.ofMillis(20)), "one signal must not pass twice");
    condition.signal();
    assertTrue(second.await(LONG));
  }

  @Test
  void shouldMissNoSignalSinceTheTicketWhateverTheNumberOfWaiters() throws Exception {
    Condition condition = scheduler.condition();
    CountDownLatch prepared = new CountDownLatch(3);
    AtomicBoolean signalled = new AtomicBoolean();
    Task waiter =
        context -> {
          long ticket = condition.prepare();
          prepared.countDown();
          while (!signalled.get()) {
            Thread.onSpinWait();
          }
          return context.await(condition, ticket, next -> null);
        };
    try (TaskScheduler three = TaskScheduler.start(SchedulerConfig.builder().workers(3).build())) {
      Job job =
          three.submit(context -> {
            context.spawnAll(waiter, waiter, waiter);
            return null;
          });
      prepared.await();
      condition.signal();
      signalled.set(true);
      assertTrue(job.await(LONG));
    }
  }

  @Test
  void shouldRunPolledWaiterOnAWorkerOnceTheCheckIsTrue() throws Exception {
    AtomicBoolean open = new AtomicBoolean();
    Condition condition = scheduler.condition(open::get);
    AtomicReference<String> thread = new AtomicReference<>("");
    Job job =
        scheduler.submit(context ->
            context.await(
                condition,
                next -> {
                  assertTrue(open.get());
                  thread.set(Thread.currentThread().getName());
                  return null;
                }));
    assertFalse(job.await(Duration.ofMillis(20)));
    open.set(true);
    assertTrue(job.await(LONG));
    assertNull(job.failure());
    assertTrue(("" + thread.get()).startsWith("kakehashi-worker-"));
  }

  @Test
  void shouldStopPollingWhenNobodyWaits() throws Exception {
    AtomicBoolean open = new AtomicBoolean();
    AtomicInteger checks = new AtomicInteger();
    Condition condition =
        scheduler.condition(() -> {
          checks.incrementAndGet();
          return open.get();
        });
    Job job = scheduler.submit(context -> context.await(condition, next -> null));
    assertFalse(job.await(Duration.ofMillis(10)));
    open.set(true);
    assertTrue(job.await(LONG));
    // Forgotten at the watcher's next look; a busy machine may take its time. A watcher that goes
    // on would look thirty times in each round, and never leave this loop.
    int before;
    do {
      before = checks.get();
      Thread.sleep(30);
    } while (checks.get() != before);
  }

  @Test
  void shouldFailTheJobWhenItsCheckThrowsAndServeTheOthers() throws Exception {
    IllegalStateException thrown = new IllegalStateException("check");
    AtomicInteger calls = new AtomicInteger();
    Condition bad =
        scheduler.condition(() -> {
          if (calls.incrementAndGet() > 1) {
            throw thrown;
          }
          return false;
        });
    AtomicBoolean open = new AtomicBoolean();
    Condition good = scheduler.condition(open::get);
    Job failing = scheduler.submit(context -> context.await(bad, next -> null));
    Job served = scheduler.submit(context -> context.await(good, next -> null));
    assertTrue(failing.await(LONG));
    assertSame(thrown, failing.failure());
    assertSame(thrown, uncaught.get());
    open.set(true);
    assertTrue(served.await(LONG));
  }

  @Test
  void shouldDiscardTheWaiterOfACanceledJobAtOnce() throws Exception {
    Condition never = scheduler.condition();
    CountDownLatch discarded = new CountDownLatch(1);
    Task waiter =
        new Task() {
          @Override
          public @Nullable Task run(TaskContext context) {
            throw new AssertionError("must not run");
          }

          @Override
          public void discarded(Job job) {
            discarded.countDown();
          }
        };
    Job job = scheduler.submit(context -> context.await(never, waiter));
    while (never.pending() == 0) {
      Thread.onSpinWait();
    }
    assertTrue(job.cancel());
    assertTrue(job.await(LONG));
    assertEquals(0, discarded.getCount());
    assertEquals(0, never.pending());
  }

  @Test
  void shouldRunTimersInOrderOfTimeAndNotBefore() throws Exception {
    long laterNanos = Duration.ofSeconds(1).toNanos();
    long soonerNanos = Duration.ofMillis(10).toNanos();
    boolean inOrder = false;
    // On a busy machine both may be due when the watcher gets to look; then either may run first.
    for (int attempt = 0; attempt < 20 && !inOrder; attempt++) {
      CountDownLatch both = new CountDownLatch(2);
      AtomicLong later = new AtomicLong();
      AtomicLong sooner = new AtomicLong();
      long start = System.nanoTime();
      scheduler.after(
          Duration.ofNanos(laterNanos),
          context -> {
            later.set(System.nanoTime() - start);
            both.countDown();
            return null;
          });
      scheduler.after(
          Duration.ofNanos(soonerNanos),
          context -> {
            sooner.set(System.nanoTime() - start);
            both.countDown();
            return null;
          });
      assertTrue(both.await(LONG.toSeconds(), TimeUnit.SECONDS));
      assertTrue(later.get() >= laterNanos, () -> "after " + later + " ns");
      assertTrue(sooner.get() >= soonerNanos, () -> "after " + sooner + " ns");
      inOrder = sooner.get() < laterNanos;
    }
    assertTrue(inOrder, "the timer that is due first waits for the other one");
  }

  @Test
  void shouldDiscardACanceledTimer() throws Exception {
    CountDownLatch discarded = new CountDownLatch(1);
    Timer timer =
        scheduler.after(
            Duration.ofHours(1),
            new Task() {
              @Override
              public @Nullable Task run(TaskContext context) {
                throw new AssertionError("must not run");
              }

              @Override
              public void discarded(Job job) {
                discarded.countDown();
              }
            });
    assertTrue(timer.cancel());
    assertFalse(timer.cancel());
    discarded.await();
  }

  @Test
  void shouldPromoteACheckThatMissesOftenToTheWorkers() throws Exception {
    try (TaskScheduler promoting =
        TaskScheduler.start(
            SchedulerConfig.builder()
                .workers(1)
                .set(Parameter.WATCHER_INTERVAL, 100)
                .set(Parameter.CONDITION_MISS_LIMIT, 3)
                .build())) {
      AtomicInteger byWorkers = new AtomicInteger();
      AtomicInteger byWatcher = new AtomicInteger();
      AtomicInteger ran = new AtomicInteger();
      Condition condition =
          promoting.condition(() -> {
            boolean worker = Thread.currentThread() instanceof WorkerThread;
            (worker ? byWorkers : byWatcher).incrementAndGet();
            // The first look is the registration's; after that each promoted one follows three of
            // the watcher's.
            return byWorkers.get() >= 4;
          });
      Job job =
          promoting.submit(context ->
              context.await(
                  condition,
                  next -> {
                    ran.incrementAndGet();
                    return null;
                  }));
      assertTrue(job.await(LONG), () -> promoting.metrics().toJson());
      assertEquals(1, ran.get());
      assertEquals(4, byWorkers.get());
      assertEquals(9, byWatcher.get());
      assertEquals(3, promoting.metrics().get("condition.promoted"));
    }
  }
}
