package dev.kakehashi.scheduler;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// I2: a job ends exactly once, after its last task, with the failure that stopped it.
@Timeout(60)
class JobTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final TaskScheduler scheduler =
      TaskScheduler.start(SchedulerConfig.builder().workers(3).build());

  @AfterEach
  void stop() {
    assertTrue(scheduler.shutdown(LONG).clean());
  }

  @Test
  void shouldTearDownOnceAfterAllDescendants() throws Exception {
    AtomicInteger run = new AtomicInteger();
    AtomicInteger teardowns = new AtomicInteger();
    AtomicInteger runAtTeardown = new AtomicInteger();
    Job job =
        scheduler
            .job("tree")
            .onTeardown(j -> {
              teardowns.incrementAndGet();
              runAtTeardown.set(run.get());
            })
            .submit(new Node(10, run));
    assertTrue(job.await(LONG));
    assertEquals(1, teardowns.get());
    assertEquals(2047, runAtTeardown.get());
    assertEquals(2047, job.progress().finished());
    assertEquals(2047, job.progress().spawned());
    assertEquals(Job.State.DONE, job.state());
    assertNull(job.failure());
  }

  private record Node(int depth, AtomicInteger run) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      if (depth > 0) {
        context.spawn(new Node(depth - 1, run));
        context.spawn(new Node(depth - 1, run));
      }
      run.incrementAndGet();
      return null;
    }
  }

  @Test
  void shouldKeepTheFirstFailureAndDiscardTheRest() throws Exception {
    AtomicInteger discarded = new AtomicInteger();
    IllegalArgumentException thrown = new IllegalArgumentException("first");
    Task child =
        new Task() {
          @Override
          public Task run(TaskContext context) {
            throw new AssertionError("must be discarded");
          }

          @Override
          public void discarded(Job job) {
            discarded.incrementAndGet();
          }
        };
    Job job =
        scheduler.submit(context -> {
          context.job().cancel(thrown);
          context.spawnAll(IntStream.range(0, 100).mapToObj(i -> child).toList());
          return child;
        });
    assertTrue(job.await(LONG));
    assertEquals(101, discarded.get());
    assertSame(thrown, job.failure());
  }

  @Test
  void shouldFailTheJobByWhatATaskThrowsEvenAnError() throws Exception {
    for (Throwable thrown :
        List.of(new StackOverflowError(), new Exception("checked"), new OutOfMemoryError())) {
      Job job =
          scheduler.submit(context -> {
            if (thrown instanceof Exception e) {
              throw e;
            }
            throw (Error) thrown;
          });
      assertTrue(job.await(LONG));
      assertSame(thrown, job.failure());
    }
  }

  @Test
  void shouldNotEndWhileHeldAndEndOnAWorkerAfterRelease() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    AtomicReference<Job.Hold> hold = new AtomicReference<>();
    AtomicReference<Thread> teardownThread = new AtomicReference<>();
    Job job =
        scheduler
            .job("commit")
            .onTeardown(j -> teardownThread.set(Thread.currentThread()))
            .submit(context -> {
              hold.set(context.job().hold());
              held.countDown();
              return null;
            });
    assertTrue(held.await(50, TimeUnit.SECONDS));
    while (job.state() != Job.State.HELD) {
      Thread.onSpinWait(); // the task is just ending; the time-out of the class bounds this
    }
    assertFalse(job.await(Duration.ofMillis(20)));
    assertEquals(Job.State.HELD, job.state());
    requireNonNull(hold.get()).close();
    requireNonNull(hold.get()).close();
    assertTrue(job.await(LONG));
    assertTrue(requireNonNull(teardownThread.get()).getName().startsWith("kakehashi-worker-"));
    assertThrows(IllegalStateException.class, job::hold);
  }

  @Test
  void shouldCancelAtTheDeadline() throws Exception {
    Condition never = scheduler.condition();
    Job job =
        scheduler
            .job("slow")
            .deadline(Duration.ofMillis(20))
            .submit(context -> context.await(never, c -> null));
    assertTrue(job.await(LONG));
    assertTrue(job.failure() instanceof TimeoutException, () -> "" + job.failure());
    assertEquals(0, never.pending());
  }

  @Test
  void shouldSurviveATeardownThatThrows() throws Exception {
    IllegalStateException thrown = new IllegalStateException("teardown");
    Job job =
        scheduler
            .job("bad")
            .onTeardown(j -> {
              throw thrown;
            })
            .submit(context -> null);
    assertTrue(job.await(LONG));
    assertSame(thrown, job.failure());
  }

  @Test
  void shouldRunSerialJobOnTheCallerWithItsChildren() {
    Thread caller = Thread.currentThread();
    AtomicInteger run = new AtomicInteger();
    Job job =
        scheduler
            .job("light")
            .lane(scheduler.newLane(1))
            .option(Option.CALLER)
            .submit(context -> {
              assertSame(caller, Thread.currentThread());
              assertEquals(-1, context.workerIndex());
              context.spawn(c -> {
                assertSame(caller, Thread.currentThread());
                run.incrementAndGet();
                return null;
              });
              return c -> {
                run.incrementAndGet();
                return null;
              };
            });
    assertTrue(job.done());
    assertNull(job.failure());
    assertEquals(2, run.get());
    assertEquals(0, requireNonNull(job.lane()).active());
  }
}
