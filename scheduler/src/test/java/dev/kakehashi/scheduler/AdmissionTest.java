package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// I12: starts in any window of time, and how many run at a time.
@Timeout(60)
class AdmissionTest {
  private static final Duration LONG = Duration.ofSeconds(50);
  private static final RateLimit ONE_A_DAY = new RateLimit(1.0 / 80_000, 1, Integer.MAX_VALUE);

  private static TaskScheduler start() {
    return TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
  }

  @Test
  void shouldGiveExactlyTheTokensThatTheRateHasMadeUnderAVirtualClock() {
    long origin = Long.MAX_VALUE / 256 - 1_000_000; // the word wraps on the way
    TokenBucket bucket = new TokenBucket(RateLimit.of(1000).bucket(5), origin);
    for (int i = 0; i < 5; i++) {
      assertEquals(0, bucket.tryTake(origin), "a full bucket");
    }
    assertEquals(1_000_000, bucket.tryTake(origin));
    assertEquals(1, bucket.tryTake(origin + 999_999));
    assertEquals(0, bucket.tryTake(origin + 1_000_000));
    assertEquals(1_000_000, bucket.tryTake(origin + 1_000_000));
    // An hour later the bucket is full, not fuller.
    long later = origin + Duration.ofHours(1).toNanos();
    assertEquals(5, IntStream.range(0, 100).filter(i -> bucket.tryTake(later) == 0).count());
    // A second at the rate, looked at every 0.1 ms: a thousand, less what the full bucket had
    // taken.
    long taken = 0;
    for (long at = later; at <= later + 1_000_000_000L; at += 100_000) {
      taken += bucket.tryTake(at) == 0 ? 1 : 0;
    }
    assertEquals(1000, taken);
    // Idle for longer than the range of the word.
    long muchLater = later + Duration.ofDays(300).toNanos();
    assertEquals(5, IntStream.range(0, 100).filter(i -> bucket.tryTake(muchLater) == 0).count());
  }

  @Test
  void shouldKeepTheRateInEveryWindow() {
    long seed = Long.getLong("scheduler.seed", System.nanoTime());
    System.out.println("AdmissionTest seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 50; round++) {
      double rate = Math.pow(10, random.nextDouble(0, 7));
      int size = 1 + random.nextInt(100);
      TokenBucket bucket = new TokenBucket(RateLimit.of(rate).bucket(size), 0);
      List<Long> starts = new ArrayList<>();
      long now = 0;
      for (int i = 0; i < 2000; i++) {
        now += random.nextLong((long) (2e9 / rate) + 1) * (random.nextInt(50) == 0 ? size : 1);
        if (bucket.tryTake(now) == 0) {
          starts.add(now);
        }
      }
      for (int from = 0; from < starts.size(); from += 7) {
        for (int to = from; to < starts.size(); to += 11) {
          double window = (starts.get(to) - starts.get(from)) / 1e9;
          int started = to - from + 1;
          assertTrue(
              started <= size + rate * window + 1e-6,
              () -> "rate " + rate + " bucket " + size + ": " + started + " in " + window + " s");
        }
      }
    }
  }

  @Test
  void shouldStartInOrderWhatHadToWait() throws Exception {
    try (TaskScheduler scheduler = start()) {
      Admission admission = scheduler.admission(RateLimit.of(200).bucket(10));
      List<Integer> order = Collections.synchronizedList(new ArrayList<>());
      Lane lane = scheduler.newLane(1); // makes the order of starts visible
      List<Job> jobs = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        int number = i;
        jobs.add(
            scheduler
                .job("limited")
                .admission(admission)
                .lane(lane)
                .submit(context -> {
                  order.add(number);
                  return null;
                }));
      }
      for (Job job : jobs) {
        assertTrue(job.await(LONG));
      }
      assertEquals(IntStream.range(0, 100).boxed().toList(), order);
      assertTrue(scheduler.metrics().get("rate.delayed") > 0);
      assertEquals(0, admission.waiting());
      assertEquals(0, admission.active());
    }
  }

  @Test
  void shouldRunNoMoreAtATimeThanAllowedUntilTheJobsHaveEnded() throws Exception {
    try (TaskScheduler scheduler = start()) {
      Admission admission = scheduler.admission(RateLimit.unlimited().concurrent(3));
      AtomicInteger running = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      List<Job> jobs = new ArrayList<>();
      ArrayDeque<Job.Hold> holds = new ArrayDeque<>();
      for (int i = 0; i < 500; i++) {
        jobs.add(
            scheduler
                .job("limited")
                .admission(admission)
                .option(i % 5 == 0 ? Option.CALLER : Option.DEFAULT)
                .onTeardown(job -> running.decrementAndGet())
                .submit(context -> {
                  most.accumulateAndGet(running.incrementAndGet(), Math::max);
                  // A held job runs until the hold is released.
                  Job.Hold hold = context.job().hold();
                  synchronized (holds) {
                    holds.add(hold);
                  }
                  return null;
                }));
      }
      // No hold is released before: on a busy machine each job might end before the next begins.
      while (most.get() < 3) {
        Thread.onSpinWait();
      }
      for (Job job : jobs) {
        while (!job.done()) {
          synchronized (holds) {
            if (!holds.isEmpty()) {
              holds.remove().close();
            }
          }
          Thread.onSpinWait();
        }
      }
      assertEquals(3, most.get());
      while (admission.active() > 0) {
        Thread.onSpinWait(); // given back before the end is told, by another thread
      }
    }
  }

  @Test
  void shouldEndCanceledAndLateJobsWithoutATokenAndServeTheNext() throws Exception {
    try (TaskScheduler scheduler = start()) {
      Admission admission = scheduler.admission(RateLimit.unlimited().concurrent(1));
      CountDownLatch release = new CountDownLatch(1);
      AtomicBoolean ran = new AtomicBoolean();
      Task mustNotRun =
          context -> {
            ran.set(true);
            return null;
          };
      Job first =
          scheduler
              .job("first")
              .admission(admission)
              .submit(context -> {
                release.await();
                return null;
              });
      Job canceled = scheduler.job("canceled").admission(admission).submit(mustNotRun);
      Job late =
          scheduler
              .job("late")
              .admission(admission)
              .deadline(Duration.ofMillis(5))
              .submit(mustNotRun);
      Job last = scheduler.job("last").admission(admission).submit(context -> null);
      assertTrue(canceled.cancel());
      assertTrue(canceled.await(LONG));
      assertTrue(late.await(LONG));
      assertTrue(late.failure() instanceof TimeoutException);
      assertFalse(last.done());
      release.countDown();
      assertTrue(first.await(LONG));
      assertTrue(last.await(LONG));
      assertFalse(ran.get());
    }
  }

  @Test
  void shouldAdmitRequestsThatAreNoJobs() throws Exception {
    try (TaskScheduler scheduler = start()) {
      Admission admission = scheduler.admission(RateLimit.unlimited().concurrent(1));
      assertTrue(admission.tryEnter());
      assertFalse(admission.tryEnter());
      Job job = scheduler.job("next").admission(admission).submit(context -> null);
      assertEquals(1, admission.waiting());
      admission.leave();
      assertTrue(job.await(LONG));
      while (admission.active() > 0) {
        Thread.onSpinWait();
      }
      assertThrows(IllegalStateException.class, admission::leave);
    }
  }

  @Test
  void shouldDiscardAtTheShutdownWhatStillWaits() throws Exception {
    TaskScheduler scheduler = start();
    Admission admission = scheduler.admission(ONE_A_DAY);
    assertTrue(scheduler.job("first").admission(admission).submit(context -> null).await(LONG));
    Job waiting = scheduler.job("waiting").admission(admission).submit(context -> null);
    ShutdownReport report = scheduler.shutdown(Duration.ofMillis(10));
    assertTrue(report.clean(), report::toString);
    assertEquals(1, report.discarded());
    assertTrue(waiting.done());
    assertThrows(
        SchedulerStoppedException.class,
        () -> scheduler.job("late").admission(admission).submit(context -> null));
  }

  @Test
  void shouldRefuseLimitsOutOfRange() {
    assertThrows(IllegalArgumentException.class, () -> RateLimit.of(0));
    assertThrows(IllegalArgumentException.class, () -> RateLimit.of(Double.NaN));
    assertThrows(IllegalArgumentException.class, () -> RateLimit.of(2e7));
    assertThrows(IllegalArgumentException.class, () -> RateLimit.of(1).bucket(0));
    assertThrows(IllegalArgumentException.class, () -> RateLimit.of(1).concurrent(0));
    assertEquals(20, RateLimit.of(100).bucketSize());
    assertTrue(RateLimit.unlimited().isUnlimited());
  }
}
