package dev.kakehashi.scheduler.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.ShutdownReport;
import dev.kakehashi.scheduler.TaskScheduler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// I9: one step at a time, every event in exactly one step, init and close once.
@Timeout(60)
class ProcessTest {
  private static final Duration LONG = Duration.ofSeconds(50);

  private final TaskScheduler scheduler =
      TaskScheduler.start(
          SchedulerConfig.builder()
              .workers(2)
              // A lost wake-up hangs the test instead of being repaired.
              .set(Parameter.WORKER_SUSPEND_TIMEOUT, 3_600_000_000L)
              .build());
  private final Processes processes = Processes.of(scheduler);

  @AfterEach
  void stop() {
    ShutdownReport report = scheduler.shutdown(LONG);
    assertTrue(report.clean(), report::toString);
    assertEquals(report.accepted(), report.run() + report.discarded(), report::toString);
    assertEquals(0, processes.count());
  }

  /// Result or failure of a process.
  private static final class End {
    final CompletableFuture<@Nullable Object> future = new CompletableFuture<>();

    void accept(@Nullable Object result, @Nullable Throwable failure) {
      if (failure == null) {
        future.complete(result);
      } else {
        future.completeExceptionally(failure);
      }
    }

    @Nullable Object result() throws Exception {
      return future.get(50, TimeUnit.SECONDS);
    }

    Throwable failure() {
      return future.handle((result, failure) -> failure).orTimeout(50, TimeUnit.SECONDS).join();
    }
  }

  /// Sums up the messages it gets; a null ends it. Checks that its calls do not overlap.
  private static class Adder implements Process {
    final AtomicBoolean inside = new AtomicBoolean();
    final AtomicInteger inits = new AtomicInteger();
    final AtomicInteger closes = new AtomicInteger();
    long sum; // plain on purpose: consecutive steps are ordered
    String method = "";

    @Override
    public void init(ProcessContext context, String method, @Nullable Object input) {
      assertTrue(inside.compareAndSet(false, true));
      inits.incrementAndGet();
      this.method = method;
      sum = input == null ? 0 : (Integer) input;
      inside.set(false);
    }

    @Override
    public Step step(Events events, StepOutput output) {
      assertTrue(inside.compareAndSet(false, true), "steps overlap");
      Step next = Step.IDLE;
      for (Event event = events.poll(); event != null; event = events.poll()) {
        if (event.data() == null) {
          output.result(sum);
          next = Step.DONE;
        } else {
          sum += (Integer) event.data();
        }
      }
      inside.set(false);
      return next;
    }

    @Override
    public void close() {
      assertTrue(inside.compareAndSet(false, true));
      closes.incrementAndGet();
      inside.set(false);
    }
  }

  @Test
  void shouldGiveEveryMessageOfManySendersToOneStep() throws Exception {
    Adder adder = new Adder();
    End end = new End();
    Pid pid = processes.spawn(adder, "add", 7, end::accept);
    List<Thread> senders = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Thread sender =
          new Thread(() -> {
            for (int i = 1; i <= 20_000; i++) {
              assertTrue(processes.send(pid, i));
              if (i % 64 == 0) {
                Thread.onSpinWait(); // lets the process fall idle in between
              }
            }
          });
      sender.start();
      senders.add(sender);
    }
    for (Thread sender : senders) {
      sender.join();
    }
    assertTrue(processes.send(pid, (Object) null));
    assertEquals(7 + 4 * 20_000L * 20_001 / 2, end.result());
    assertEquals("add", adder.method);
    assertEquals(1, adder.inits.get());
    assertEquals(1, adder.closes.get());
    assertFalse(processes.send(pid, 1), "it has ended");
    assertEquals(Process.State.COMPLETE, processes.state(pid));
    assertEquals(0, scheduler.metrics().get("process.live"));
    assertEquals(1, scheduler.metrics().get("process.done"));
  }

  @Test
  void shouldKeepWhatAStepDoesNotTake() throws Exception {
    End end = new End();
    List<@Nullable Object> taken = new ArrayList<>();
    CountDownLatch sent = new CountDownLatch(1);
    Pid pid =
        processes.spawn(
            new Process() {
              @Override
              public void init(ProcessContext context, String method, @Nullable Object input)
                  throws InterruptedException {
                sent.await();
              }

              @Override
              public Step step(Events events, StepOutput output) {
                Event one = events.poll();
                assertNotNull(one);
                taken.add(one.data());
                return events.isEmpty() ? Step.DONE : Step.CONTINUE;
              }
            },
            "one at a time",
            null,
            end::accept);
    for (int i = 0; i < 5; i++) {
      processes.send(pid, i);
    }
    sent.countDown();
    assertNull(end.result());
    assertEquals(List.of(0, 1, 2, 3, 4), taken);
    assertEquals(5, scheduler.metrics().get("process.steps"));
  }

  private record Ask(int number) {}

  @Test
  void shouldCompleteYieldedCommandsByTagWheneverTheHandlerIsDone() throws Exception {
    List<Completer> open = new ArrayList<>();
    CountDownLatch asked = new CountDownLatch(3);
    processes.handle(
        Ask.class,
        (ask, tag, completer) -> {
          if (ask.number() < 0) {
            throw new IllegalStateException("handler refused");
          }
          if (ask.number() == 100) {
            // While the process still runs: the wake-up flag must keep it.
            assertTrue(completer.complete(101));
            assertFalse(completer.complete(102), "only once");
          } else {
            synchronized (open) {
              open.add(completer);
            }
          }
          asked.countDown();
        });
    End end = new End();
    Map<Long, Object> answers = new HashMap<>();
    processes.spawn(
        new Process() {
          boolean started;

          @Override
          public Step step(Events events, StepOutput output) {
            if (!started) {
              started = true;
              output.yieldCommand(new Ask(100), 1);
              output.yieldCommand(new Ask(200), 2);
              output.yieldCommand(new Ask(300), 3);
              output.yieldCommand(new Ask(-1), 4);
              output.yieldCommand("no handler", 5);
              return Step.YIELD;
            }
            for (Event event = events.poll(); event != null; event = events.poll()) {
              assertEquals(Event.Kind.YIELD_COMPLETE, event.kind());
              Throwable error = event.error();
              answers.put(event.tag(), error == null ? "" + event.data() : error.getMessage());
            }
            return answers.size() == 5 ? Step.DONE : Step.YIELD;
          }
        },
        "ask",
        null,
        end::accept);
    asked.await();
    List<Completer> late;
    synchronized (open) {
      late = List.copyOf(open);
    }
    assertTrue(late.get(1).fail(new IllegalStateException("late failure")));
    assertTrue(late.get(0).complete(201));
    assertNull(end.result());
    assertEquals("101", answers.get(1L));
    assertEquals("201", answers.get(2L));
    assertEquals("late failure", answers.get(3L));
    assertEquals("handler refused", answers.get(4L));
    assertEquals("no handler for commands of class java.lang.String", answers.get(5L));
    assertFalse(late.get(0).complete(1));
  }

  @Test
  void shouldNeverReachALaterProcessByAnOldAddress() throws Exception {
    Set<Pid> seen = new HashSet<>();
    Pid first = null;
    for (int i = 0; i < 50; i++) {
      End end = new End();
      Pid pid = processes.spawn(new Adder(), "short", null, end::accept);
      assertTrue(seen.add(pid), "an address was given twice");
      if (first == null) {
        first = pid;
      } else {
        assertNotEquals(first, pid);
        assertFalse(processes.send(first, 1));
      }
      processes.send(pid, (Object) null);
      end.result();
    }
    assertTrue(seen.stream().allMatch(pid -> pid.slot() < 16), "slots are used again");
  }

  @Test
  void shouldCloseOnceWhateverThrows() throws Exception {
    for (String where : List.of("init", "step", "close")) {
      AtomicInteger closes = new AtomicInteger();
      RuntimeException thrown = new RuntimeException(where);
      End end = new End();
      processes.spawn(
          new Process() {
            @Override
            public void init(ProcessContext context, String method, @Nullable Object input) {
              fail("init");
            }

            @Override
            public Step step(Events events, StepOutput output) {
              fail("step");
              return Step.DONE;
            }

            @Override
            public void close() {
              closes.incrementAndGet();
              fail("close");
            }

            private void fail(String now) {
              if (now.equals(where)) {
                throw thrown;
              }
            }
          },
          "throws",
          null,
          end::accept);
      assertSame(thrown, end.failure());
      assertEquals(1, closes.get(), where);
    }
    assertEquals(3, scheduler.metrics().get("process.failed"));
  }

  @Test
  void shouldEndAnIdleProcessWhenItsJobIsCanceled() throws Exception {
    AtomicReference<@Nullable Job> job = new AtomicReference<>();
    AtomicInteger closes = new AtomicInteger();
    AtomicInteger steps = new AtomicInteger();
    End end = new End();
    Pid pid =
        processes.spawn(
            new Process() {
              @Override
              public void init(ProcessContext context, String method, @Nullable Object input) {
                job.set(context.job());
              }

              @Override
              public Step step(Events events, StepOutput output) {
                steps.incrementAndGet();
                return Step.IDLE;
              }

              @Override
              public void close() {
                closes.incrementAndGet();
              }
            },
            "idle",
            null,
            end::accept);
    while (processes.state(pid) != Process.State.IDLE) {
      Thread.onSpinWait();
    }
    Job its = job.get();
    assertNotNull(its);
    assertEquals("process idle", its.name());
    assertTrue(its.cancel());
    assertTrue(end.failure() instanceof CancellationException);
    assertTrue(its.await(LONG));
    assertEquals(1, steps.get());
    assertEquals(1, closes.get());
    assertFalse(processes.send(pid, 1));
  }

  @Test
  void shouldCancelAtShutdownAndCloseByForceWhatDoesNotEnd() throws Exception {
    AtomicInteger closes = new AtomicInteger();
    class Waiting implements Process {
      private final boolean ends;

      Waiting(boolean ends) {
        this.ends = ends;
      }

      @Override
      public Step step(Events events, StepOutput output) {
        for (Event event = events.poll(); event != null; event = events.poll()) {
          if (event.kind() == Event.Kind.CANCEL && ends) {
            output.result("cleaned up");
            return Step.DONE;
          }
        }
        return Step.IDLE;
      }

      @Override
      public void close() {
        closes.incrementAndGet();
      }
    }
    // Each has a scheduler of its own: one needs all of its grace, and the other as much as a busy
    // machine takes.
    TaskScheduler first = TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
    End obedient = new End();
    Processes.of(first).spawn(new Waiting(true), "obedient", null, obedient::accept);
    ShutdownReport report = first.shutdown(LONG);
    assertTrue(report.clean(), report::toString);
    assertEquals("cleaned up", obedient.result());
    assertEquals(0, report.jobsCanceled());
    assertEquals(1, closes.get());
    TaskScheduler own = TaskScheduler.start(SchedulerConfig.builder().workers(2).build());
    End stubborn = new End();
    Processes.of(own).spawn(new Waiting(false), "stubborn", null, stubborn::accept);
    report = own.shutdown(Duration.ofMillis(10));
    assertTrue(report.clean(), report::toString);
    assertTrue(stubborn.failure() instanceof CancellationException);
    assertEquals(2, closes.get());
    assertEquals(1, report.jobsCanceled());
    Waiting refused = new Waiting(true);
    assertThrows(
        SchedulerStoppedException.class, () -> Processes.of(own).spawn(refused, "late", null));
    assertEquals(3, closes.get(), "closed in any case");
  }

  @Test
  void shouldRefuseMoreMessagesThanMayWait() throws Exception {
    try (TaskScheduler small =
        TaskScheduler.start(
            SchedulerConfig.builder().workers(1).set(Parameter.PROCESS_QUEUE_LIMIT, 3).build())) {
      CountDownLatch release = new CountDownLatch(1);
      End end = new End();
      Adder adder =
          new Adder() {
            @Override
            public void init(ProcessContext context, String method, @Nullable Object input) {
              super.init(context, method, input);
              await(release);
            }
          };
      Pid pid = Processes.of(small).spawn(adder, "slow", null, end::accept);
      Processes.of(small).send(pid, 1);
      Processes.of(small).send(pid, 2);
      Event third = Event.message(3);
      Processes.of(small).send(pid, third);
      Event fourth = Event.message(4);
      assertThrows(RejectedExecutionException.class, () -> Processes.of(small).send(pid, fourth));
      assertThrows(
          IllegalStateException.class, () -> Processes.of(small).send(pid, third), "it waits");
      release.countDown();
      while (Processes.of(small).state(pid) != Process.State.IDLE) {
        Thread.onSpinWait();
      }
      assertTrue(Processes.of(small).send(pid, fourth), "it stayed the sender's");
      Processes.of(small).send(pid, (Object) null);
      assertEquals(10L, end.result());
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /// Passes the token on to the next process of a ring until it has been round often enough.
  private static final class Link implements Process {
    private final Pid[] ring;
    private final int next;
    private final CountDownLatch over;
    private @Nullable Processes processes;

    Link(Pid[] ring, int next, CountDownLatch over) {
      this.ring = ring;
      this.next = next;
      this.over = over;
    }

    @Override
    public void init(ProcessContext context, String method, @Nullable Object input) {
      processes = context.processes();
    }

    @Override
    public Step step(Events events, StepOutput output) {
      for (Event event = events.poll(); event != null; event = events.poll()) {
        if (event.kind() == Event.Kind.CANCEL) {
          return Step.DONE;
        }
        if (event.data() instanceof int[] left && processes != null) {
          if (--left[0] == 0) {
            over.countDown();
          } else {
            processes.send(ring[next], event);
          }
        }
      }
      return Step.IDLE;
    }
  }

  @Test
  void shouldPassATokenRoundARingWithoutAllocating() throws Exception {
    int size = 100;
    int hops = 50_000;
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    String prefix = scheduler.config().threadNamePrefix() + "-";
    long[] ids =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith(prefix))
            .mapToLong(Thread::threadId)
            .toArray();
    long least = Long.MAX_VALUE;
    // Code that has not been compiled yet may allocate, so only the best of the rounds counts.
    for (int round = 0; round < 40 && least > hops; round++) {
      Pid[] ring = new Pid[size];
      CountDownLatch over = new CountDownLatch(2);
      for (int i = 0; i < size; i++) {
        ring[i] = processes.spawn(new Link(ring, (i + 1) % size, over), "link", null);
      }
      long before = Arrays.stream(threads.getThreadAllocatedBytes(ids)).sum();
      processes.send(ring[0], Event.message(new int[] {hops}));
      processes.send(ring[size / 2], Event.message(new int[] {hops}));
      over.await();
      least = Math.min(least, Arrays.stream(threads.getThreadAllocatedBytes(ids)).sum() - before);
      for (Pid pid : ring) {
        processes.cancel(pid);
      }
    }
    // 100,000 steps; one object for each would be 1.6 MB.
    long bytes = least;
    assertTrue(bytes <= hops, () -> "bytes allocated: " + bytes);
  }
}
