package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// I3 and I4: never more than the permits at once; one permit means order and visibility.
@Timeout(120)
class LaneTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  private final TaskScheduler scheduler =
      TaskScheduler.start(SchedulerConfig.builder().workers(4).build());

  @AfterEach
  void stop() {
    assertTrue(scheduler.shutdown(LONG).clean());
  }

  @Test
  void shouldStartJobsInOrderAndMakeEachSeeTheOneBefore() throws Exception {
    Lane lane = scheduler.newLane(1);
    int[] plain = new int[1]; // no synchronisation but the lane's
    List<Integer> order = new ArrayList<>();
    Job last = null;
    for (int i = 0; i < 2000; i++) {
      int number = i;
      last =
          lane.submit(context -> {
            order.add(number);
            context.spawn(child -> {
              plain[0]++;
              return null;
            });
            return null;
          });
    }
    assertTrue(last != null && last.await(LONG));
    assertEquals(2000, plain[0]);
    for (int i = 0; i < 2000; i++) {
      assertEquals(i, order.get(i));
    }
    assertEquals(0, lane.active() + lane.pending());
  }

  @Test
  void shouldHoldThePermitUntilTheJobEnds() throws Exception {
    Lane lane = scheduler.newLane(1);
    Condition gate = scheduler.condition();
    AtomicBoolean firstEnded = new AtomicBoolean();
    AtomicBoolean overlapped = new AtomicBoolean();
    Job first =
        scheduler
            .job("first")
            .lane(lane)
            .onTeardown(job -> firstEnded.set(true))
            .submit(context -> context.await(gate, next -> null));
    Job second =
        lane.submit(context -> {
          overlapped.set(!firstEnded.get());
          return null;
        });
    assertFalse(second.await(Duration.ofMillis(20)));
    gate.signal();
    assertTrue(first.await(LONG) && second.await(LONG));
    assertFalse(overlapped.get());
  }

  @Test
  void shouldUseAllPermitsAndNoMore() throws Exception {
    Lane lane = scheduler.newLane(3);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch three = new CountDownLatch(3);
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      jobs.add(
          lane.submit(context -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            three.countDown();
            three.await(); // only passes when three are inside at once
            inside.decrementAndGet();
            return null;
          }));
    }
    for (Job job : jobs) {
      assertTrue(job.await(LONG));
    }
    assertEquals(3, most.get());
  }

  @Test
  void shouldRunTasksOfAJobInALaneOneAtATime() throws Exception {
    Lane lane = scheduler.newLane(1);
    int[] plain = new int[1];
    Job job =
        scheduler.submit(context -> {
          for (int i = 0; i < 500; i++) {
            context.spawn(spawned -> {
              spawned.submit(
                  lane,
                  inLane -> {
                    plain[0]++;
                    return null;
                  });
              return null;
            });
          }
          return null;
        });
    assertTrue(job.await(LONG));
    assertEquals(500, plain[0]);
  }

  @Test
  void shouldFallBackToWorkersWhenTheLaneIsBusy() throws Exception {
    Lane lane = scheduler.newLane(1);
    Condition gate = scheduler.condition();
    Job first =
        scheduler.job("first").lane(lane).submit(context -> context.await(gate, next -> null));
    Thread caller = Thread.currentThread();
    Job second =
        scheduler
            .job("second")
            .lane(lane)
            .option(Option.CALLER)
            .submit(context -> {
              assertNotSame(caller, Thread.currentThread());
              return null;
            });
    assertFalse(second.done());
    gate.signal();
    assertTrue(first.await(LONG) && second.await(LONG));
    assertNull(second.failure());
  }

  @Test
  void shouldEndACanceledJobWhileItsLaneIsBusy() throws Exception {
    Lane lane = scheduler.newLane(1);
    Condition gate = scheduler.condition();
    Job first =
        scheduler.job("first").lane(lane).submit(context -> context.await(gate, next -> null));
    AtomicBoolean ran = new AtomicBoolean();
    Job second =
        lane.submit(context -> {
          ran.set(true);
          return null;
        });
    assertTrue(second.cancel());
    assertTrue(second.await(LONG));
    assertFalse(ran.get());
    assertFalse(first.done());
    gate.signal();
    assertTrue(first.await(LONG));
    assertTrue(lane.submit(context -> null).await(LONG));
  }

  @Test
  void shouldRunTheSealingTaskAfterAllOthersAndRefuseMore() throws Exception {
    for (int permits = 1; permits <= 3; permits++) {
      Lane lane = scheduler.newLane(permits);
      AtomicInteger ended = new AtomicInteger();
      AtomicInteger endedAtSeal = new AtomicInteger(-1);
      CountDownLatch sealed = new CountDownLatch(1);
      for (int i = 0; i < 100; i++) {
        lane.submit(context -> {
          ended.incrementAndGet();
          return null;
        });
      }
      Task last =
          context -> {
            endedAtSeal.set(ended.get());
            sealed.countDown();
            return null;
          };
      assertTrue(lane.seal(last));
      assertFalse(lane.seal(last));
      assertThrows(IllegalStateException.class, () -> lane.submit(context -> null));
      sealed.await();
      assertEquals(100, endedAtSeal.get());
    }
  }

  @Test
  void shouldInternLanesByKeyWhileInUse() {
    Lane lane = scheduler.sticky("tx-1");
    assertSame(lane, scheduler.lane("tx-1", 1));
    assertThrows(IllegalArgumentException.class, () -> scheduler.lane("tx-1", 2));
    assertThrows(IllegalArgumentException.class, () -> scheduler.newLane(0));
  }
}
