package dev.kakehashi.scheduler;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.metrics.Histogram;
import dev.kakehashi.scheduler.metrics.SchedulerMetrics;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Histograms and the times of jobs.
@Timeout(60)
class LatencyTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  @Test
  void shouldPutEveryTimeIntoABucketThatIsAtMostAnEighthTooHigh() {
    int before = -1;
    for (long next = 0; next < 1L << 40; next += 1 + next / 50) {
      long nanos = next;
      int bucket = Histogram.bucket(nanos);
      assertTrue(bucket >= before, "buckets rise");
      before = bucket;
      long most = Histogram.most(bucket);
      assertTrue(most >= nanos, () -> nanos + " in a bucket up to " + most);
      assertTrue(most - nanos <= nanos / 8, () -> nanos + " in a bucket up to " + most);
    }
    assertEquals(Histogram.bucket(Long.MAX_VALUE), Histogram.bucket(1L << 41));
    assertEquals(0, Histogram.bucket(-1));
  }

  @Test
  void shouldFindPercentilesOfWhatWasRecorded() {
    Histogram histogram = new Histogram();
    assertEquals(0, histogram.nanosAt(0.5));
    for (int i = 1; i <= 1000; i++) {
      histogram.record(i * 1000L);
    }
    Histogram sum = new Histogram();
    sum.add(histogram);
    assertEquals(1000, sum.count());
    assertTrue(
        sum.nanosAt(0.5) >= 500_000 && sum.nanosAt(0.5) <= 562_500, () -> "" + sum.nanosAt(0.5));
    assertTrue(sum.nanosAt(0.99) >= 990_000 && sum.nanosAt(0.99) <= 1_113_750);
    assertTrue(sum.nanosAt(1) >= 1_000_000);
  }

  @Test
  void shouldTimeOneOutsideTaskInSoMany() throws Exception {
    try (TaskScheduler scheduler = start(8)) {
      for (int i = 0; i < 65; i++) {
        assertTrue(scheduler.submit(context -> null).await(LONG));
      }
      SchedulerMetrics metrics = scheduler.metrics();
      assertEquals(8, metrics.get("latency.start.count"));
      assertEquals(8, metrics.get("latency.run.count"));
      assertTrue(metrics.get("latency.start.p50Nanos") > 0);
      assertTrue(metrics.get("latency.start.maxNanos") >= metrics.get("latency.start.p50Nanos"));
    }
    try (TaskScheduler scheduler = start(0)) {
      assertTrue(scheduler.submit(context -> null).await(LONG));
      assertTrue(scheduler.submit(context -> null).await(LONG));
      assertEquals(0, scheduler.metrics().get("latency.start.count"));
    }
  }

  // One inbox, so that every task outside has its number there.
  private static TaskScheduler start(long sampling) {
    return TaskScheduler.start(
        SchedulerConfig.builder().workers(1).set(Parameter.LATENCY_SAMPLING, sampling).build());
  }

  @Test
  void shouldTellTheTimesOfAJobWhileItRunsAndAfterwards() throws Exception {
    try (TaskScheduler scheduler = start(0)) {
      CountDownLatch running = new CountDownLatch(1);
      CountDownLatch end = new CountDownLatch(1);
      Job job =
          scheduler
              .job("timed")
              .timed()
              .submit(context -> {
                for (int i = 0; i < 9; i++) {
                  context.spawn(child -> null);
                }
                running.countDown();
                end.await();
                return null;
              });
      assertTrue(running.await(50, TimeUnit.SECONDS));
      Job.Times first = requireNonNull(job.times());
      Job.Times later = first;
      while (later.runNanos() <= first.runNanos()) {
        later = requireNonNull(job.times()); // it grows while the task runs
      }
      assertTrue(later.wallNanos() > first.wallNanos());
      end.countDown();
      assertTrue(job.await(LONG));
      Job.Times all = requireNonNull(job.times());
      assertEquals(10, all.tasks());
      assertTrue(all.runNanos() > 0, all::toString);
      assertTrue(all.queuedNanos() > 0, all::toString);
      assertTrue(all.queuedNanos() + all.runNanos() <= all.wallNanos(), all::toString);
      assertEquals(all, job.times(), "an ended job's times stay");
      assertEquals(1, scheduler.metrics().get("latency.jobQueued.count"));
      assertEquals(1, scheduler.metrics().get("latency.jobWall.count"));
      assertTrue(scheduler.metrics().get("latency.wake.count") >= 0);
      assertNull(scheduler.submit(context -> null).times());
    }
  }
}
