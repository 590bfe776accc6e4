package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import dev.kakehashi.scheduler.process.Event;
import dev.kakehashi.scheduler.process.Events;
import dev.kakehashi.scheduler.process.Pid;
import dev.kakehashi.scheduler.process.Process;
import dev.kakehashi.scheduler.process.ProcessContext;
import dev.kakehashi.scheduler.process.Processes;
import dev.kakehashi.scheduler.process.StepOutput;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Simulated programs, by seed, for processes and admission. See [Scenarios].
final class ServiceScenarios {
  private static final long SECOND_NANOS = Duration.ofSeconds(1).toNanos();

  private static final Duration FOR_EVER = Duration.ofDays(1);

  private ServiceScenarios() {}

  /// I9: processes that get messages from two senders and completions of their own commands, some given at once,
  /// some by another thread.
  static void process(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          TaskScheduler scheduler =
              TaskScheduler.start(SchedulerConfig.builder().workers(random.nextInt(1, 4)).build());
          int senders = 2;
          int messages = random.nextInt(1, 5);
          int commands = random.nextInt(3);
          Processes.of(scheduler)
              .handle(
                  Integer.class,
                  (command, tag, completer) -> {
                    if (command % 2 == 0) {
                      completer.complete(command);
                    } else {
                      PlatformThreads.start("completer", () -> completer.complete(command));
                    }
                  });
          List<Probe> probes = new ArrayList<>();
          List<Pid> pids = new ArrayList<>();
          for (int i = 0; i < 2; i++) {
            Probe probe = new Probe(simulation, random.split(), senders, messages, commands);
            probes.add(probe);
            pids.add(Processes.of(scheduler).spawn(probe, "probe", i));
          }
          List<Thread> senderThreads = new ArrayList<>();
          for (int i = 0; i < senders; i++) {
            int sender = i;
            senderThreads.add(
                PlatformThreads.start(
                    "sender",
                    () -> {
                      for (int k = 0; k < messages; k++) {
                        for (Pid pid : pids) {
                          claim(
                              Processes.of(scheduler).send(pid, sender * 100 + k),
                              "I9: a message was refused");
                        }
                      }
                    }));
          }
          PlatformThreads.join(senderThreads, FOR_EVER);
          ShutdownReport report = finish(simulation, scheduler, probes);
          for (Probe probe : probes) {
            assertEquals(null, probe.broken, probe.broken);
            assertEquals(1, probe.inits, "I9: init once");
            assertEquals(1, probe.closes, "I9: close once");
            assertTrue(probe.complete(), "I9: an event was lost");
          }
          assertTrue(report.clean(), () -> "I13: " + report);
        });
  }

  // A shutdown wakes and cancels processes, so they get the time they need before.
  private static ShutdownReport finish(
      Simulation simulation, TaskScheduler scheduler, List<Probe> probes) {
    long end = simulation.nanoTime() + SECOND_NANOS;
    while (probes.stream().anyMatch(probe -> probe.closes == 0) && simulation.nanoTime() < end) {
      simulation.work(1_000_000);
    }
    for (Probe probe : probes) {
      claim(probe.closes == 1, "I9: a process waits beside an event");
    }
    return scheduler.shutdown(Duration.ofSeconds(10));
  }

  private static final class Probe implements Process {
    private final Simulation simulation;
    private final SplittableRandom random;
    private final int[] next;
    private final int expected;
    private final int commands;
    private int seen;
    private int completed;
    private int yielded;
    private boolean inside;
    private int inits;
    private int closes;
    private @Nullable String broken;

    Probe(Simulation simulation, SplittableRandom random, int senders, int messages, int commands) {
      this.simulation = simulation;
      this.random = random;
      this.commands = commands;
      next = new int[senders];
      expected = senders * messages;
    }

    private void check(boolean holds, String what) {
      if (!holds && broken == null) {
        broken = "I9: " + what;
      }
    }

    boolean complete() {
      return seen == expected && completed == commands;
    }

    @Override
    public void init(ProcessContext context, String method, @Nullable Object input) {
      inits++;
    }

    @Override
    public Step step(Events events, StepOutput output) {
      check(!inside, "two steps at once");
      inside = true;
      if (random.nextInt(3) == 0) {
        simulation.work(random.nextInt(1, 5000));
      }
      for (Event event = events.poll(); event != null; event = events.poll()) {
        if (event.kind() == Event.Kind.MESSAGE) {
          int number = (Integer) java.util.Objects.requireNonNull(event.data());
          check(next[number / 100]++ == number % 100, "messages of one sender out of order");
          seen++;
        } else if (event.kind() == Event.Kind.CANCEL) {
          inside = false;
          return Step.DONE;
        } else {
          completed++;
        }
        if (random.nextInt(4) == 0) {
          break; // the rest comes in the next step
        }
      }
      if (yielded < commands) {
        output.yieldCommand(yielded, yielded);
        yielded++;
      }
      Platform.point(Platform.Point.PROCESS_STEP);
      inside = false;
      if (complete()) {
        return Step.DONE;
      }
      boolean more = !events.isEmpty() || yielded < commands;
      return more ? Step.CONTINUE : completed < yielded ? Step.YIELD : Step.IDLE;
    }

    @Override
    public void close() {
      closes++;
    }
  }

  /// I12: three threads that start as soon as the bucket says, with pauses.
  static void token(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          int size = random.nextInt(1, 4);
          double rate = random.nextInt(1000, 1_000_000);
          TokenBucket bucket =
              new TokenBucket(RateLimit.of(rate).bucket(size), simulation.nanoTime());
          int starts = 10;
          long[] at = new long[3 * starts];
          int[] made = new int[1];
          List<Thread> threads = new ArrayList<>();
          for (int i = 0; i < 3; i++) {
            SplittableRandom own = random.split();
            threads.add(
                PlatformThreads.start(
                    "taker",
                    () -> {
                      for (int k = 0; k < starts; k++) {
                        if (own.nextInt(4) == 0) {
                          simulation.work(own.nextLong(1, (long) (5e9 / rate)));
                        }
                        long now = simulation.nanoTime();
                        for (long early = bucket.tryTake(now); early > 0; ) {
                          simulation.work(early);
                          now = simulation.nanoTime();
                          early = bucket.tryTake(now);
                        }
                        at[made[0]++] = now;
                      }
                    }));
          }
          PlatformThreads.join(threads, FOR_EVER);
          Arrays.sort(at);
          for (int from = 0; from < at.length; from++) {
            for (int to = from; to < at.length; to++) {
              double most = size + (at[to] - at[from]) * rate / 1e9;
              claim(to - from + 1 <= most + 1e-6, "I12: more starts than tokens");
            }
          }
        });
  }

  /// I12: jobs behind an admission; never more at once, never more than the bucket and what flowed in, and all run.
  static void admission(long seed, @Nullable Mutation mutation) {
    Simulation.run(
        seed,
        mutation,
        (simulation, random) -> {
          TaskScheduler scheduler =
              TaskScheduler.start(SchedulerConfig.builder().workers(random.nextInt(1, 4)).build());
          int size = random.nextInt(1, 4);
          int concurrent = random.nextInt(1, 3);
          double rate = random.nextInt(1000, 100_000);
          long begin = simulation.nanoTime();
          Admission admission =
              scheduler.admission(RateLimit.of(rate).bucket(size).concurrent(concurrent));
          AtomicInteger running = new AtomicInteger();
          AtomicInteger started = new AtomicInteger();
          int jobs = random.nextInt(1, 13);
          for (int i = 0; i < jobs; i++) {
            if (random.nextInt(3) == 0) {
              simulation.work(random.nextLong(1, (long) (3e9 / rate)));
            }
            long nanos = random.nextInt(100_000);
            scheduler
                .job("admitted")
                .admission(admission)
                .onTeardown(job -> running.decrementAndGet())
                .submit(context -> {
                  claim(running.incrementAndGet() <= concurrent, "I12: more at once than allowed");
                  double most = size + (simulation.nanoTime() - begin) * rate / 1e9;
                  claim(started.incrementAndGet() <= most + 1e-6, "I12: more than tokens");
                  simulation.work(1 + nanos);
                  return null;
                });
          }
          ShutdownReport report = scheduler.shutdown(Duration.ofHours(1));
          assertEquals(0, report.jobsCanceled(), "I12: a job was not started");
          assertEquals(jobs, started.get(), "I12: jobs started");
          assertEquals(0, scheduler.metrics().get("jobs.failed"), "I12");
          assertEquals(0, admission.active() + admission.waiting(), "I12: permits left");
        });
  }

  private static void claim(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
