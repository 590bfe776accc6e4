package dev.kakehashi.scheduler;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Long tasks are asked to end, and reported when they hang.
@Timeout(60)
class WatchdogTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  private final LinkedBlockingQueue<LongTask> reports = new LinkedBlockingQueue<>();

  private TaskScheduler start(long preemptMillis, long hangMillis) {
    return TaskScheduler.start(
        SchedulerConfig.builder()
            .workers(1)
            .set(Parameter.PREEMPT_AFTER, preemptMillis)
            .set(Parameter.HANG_AFTER, hangMillis)
            .onLongTask(reports::add)
            .build());
  }

  @Test
  void shouldAskALongTaskToYieldAndNotTheOneAfterIt() throws Exception {
    try (TaskScheduler scheduler = start(1, 0)) {
      AtomicInteger slices = new AtomicInteger();
      AtomicBoolean stale = new AtomicBoolean();
      Job job =
          scheduler.submit(
              new Task() {
                @Override
                public @Nullable Task run(TaskContext context) {
                  while (!context.shouldYield()) {
                    Thread.onSpinWait();
                  }
                  // A request for an earlier slice must not be taken for this one's.
                  if (context.scheduler().metrics().get("preempt.requested") <= slices.get()) {
                    stale.set(true);
                  }
                  return slices.incrementAndGet() < 5 ? context.resubmit(this) : null;
                }
              });
      assertTrue(job.await(LONG));
      assertFalse(stale.get());
      // The end of the job belongs to the last task, and may take long on a busy machine, too.
      long requested = scheduler.metrics().get("preempt.requested");
      assertTrue(requested == 5 || requested == 6, () -> requested + " requests");
      assertEquals(5, scheduler.metrics().get("preempt.honoured"));
    }
  }

  @Test
  void shouldNeverAskWhenSwitchedOff() throws Exception {
    try (TaskScheduler scheduler = start(0, 1)) {
      AtomicBoolean asked = new AtomicBoolean();
      Job job =
          scheduler.submit(context -> {
            while (reports.isEmpty()) { // long enough for the watchdog to notice
              asked.compareAndSet(false, context.shouldYield());
              Thread.onSpinWait();
            }
            return null;
          });
      assertTrue(job.await(LONG));
      assertFalse(asked.get());
      assertEquals(0, scheduler.metrics().get("preempt.requested"));
    }
  }

  @Test
  void shouldReportAHungWorkerWithStackAndJob() throws Exception {
    try (TaskScheduler scheduler = start(5, 20)) {
      CountDownLatch release = new CountDownLatch(1);
      Job job =
          scheduler
              .job("stuck in the test")
              .submit(context -> {
                hang(release);
                return null;
              });
      LongTask report = reports.poll(50, TimeUnit.SECONDS);
      assertNotNull(report);
      assertEquals(job.id(), report.jobId());
      assertEquals("stuck in the test", report.jobName());
      assertEquals(0, report.worker());
      assertTrue(report.running().toMillis() >= 20, report::toString);
      assertTrue(
          report.stack().stream().anyMatch(frame -> frame.getMethodName().equals("hang")),
          report::stackText);
      assertEquals(1, scheduler.metrics().get("workers.hung"));
      assertTrue(scheduler.metrics().get("tasks.longestRunningNanos") >= 20_000_000);
      StringBuilder dump = new StringBuilder();
      scheduler.dump(dump);
      assertTrue(dump.toString().contains(": stuck in the test\n"), dump::toString);
      assertTrue(dump.toString().contains(", a task of job " + job.id() + " for "), dump::toString);
      assertTrue(
          requireNonNull(scheduler.metrics().worker(0).get("task.longestNanos")) >= 20_000_000);
      // Reported again when it has lasted twice as long.
      LongTask again = reports.poll(50, TimeUnit.SECONDS);
      assertNotNull(again);
      assertTrue(again.running().compareTo(report.running().multipliedBy(2)) >= 0);
      assertTrue(scheduler.metrics().get("hang.detected") >= 2);
      release.countDown();
      assertTrue(job.await(LONG));
      while (scheduler.metrics().get("workers.hung") > 0) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void shouldWatchThreadsThatRunLightJobsThemselves() throws Exception {
    try (TaskScheduler scheduler = start(1, 1)) {
      Job job =
          scheduler
              .job("light")
              .option(Option.CALLER)
              .submit(context -> {
                while (reports.isEmpty() || !context.shouldYield()) {
                  Thread.onSpinWait();
                }
                return null;
              });
      assertTrue(job.await(LONG));
      LongTask report = reports.take();
      assertEquals(-1, report.worker());
      assertEquals(Thread.currentThread().getName(), report.threadName());
    }
  }

  private static void hang(CountDownLatch release) throws InterruptedException {
    release.await();
  }

  /// Teardowns, callbacks and `discarded` are nobody's task, and hang a worker just as well.
  @ParameterizedTest
  @ValueSource(strings = {"teardown", "onDone", "discarded"})
  void shouldReportACallbackThatHangs(String where) throws Exception {
    try (TaskScheduler scheduler = start(0, 20)) {
      CountDownLatch let = new CountDownLatch(1);
      Task discardable =
          new Task() {
            @Override
            public @Nullable Task run(TaskContext context) {
              return null;
            }

            @Override
            public void discarded(Job job) {
              hang(where.equals("discarded"), let);
            }
          };
      CountDownLatch watched = new CountDownLatch(1);
      Job job =
          scheduler
              .job("slow to end")
              .onTeardown(ended -> hang(where.equals("teardown"), let))
              .submit(context -> {
                watched.await();
                context.spawn(discardable);
                context.job().cancel();
                return null;
              });
      job.onDone(ended -> hang(where.equals("onDone"), let));
      watched.countDown();
      LongTask report = reports.poll(50, TimeUnit.SECONDS);
      while (report != null && !report.callback()) { // the task before it may have been slow, too
        report = reports.poll(50, TimeUnit.SECONDS);
      }
      assertNotNull(report, "nothing was reported");
      assertEquals("slow to end", report.jobName());
      assertEquals(job.id(), report.jobId());
      assertEquals(1, scheduler.metrics().get("workers.hung"));
      let.countDown();
      assertTrue(job.await(LONG));
    }
  }

  private static void hang(boolean wanted, CountDownLatch until) {
    try {
      if (wanted) {
        until.await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
