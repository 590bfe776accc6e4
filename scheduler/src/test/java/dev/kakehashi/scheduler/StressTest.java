package dev.kakehashi.scheduler;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.LocalOrder;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Random programs on real threads: trees, chains, lanes, conditions, holds, cancels, failures and shutdowns in
/// schedulers of random shape, with rings too small and more workers than cores. Checks I1, I2, I3, I5 and I13.
/// Repeat a program with `-Dscheduler.seed=<printed>`; the threads' timing is not repeated.
class StressTest {
  private static final long RUN_NANOS = Duration.ofSeconds(4).toNanos();
  private static final int SUBMITTERS = 3;
  private static final int JOBS = 60;

  @Test
  @Timeout(120)
  void shouldRunEverythingOnceWhateverThePrograms() throws Exception {
    long seed = Long.getLong("scheduler.seed", System.nanoTime());
    System.out.println("StressTest seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    long end = System.nanoTime() + RUN_NANOS;
    int rounds = 0;
    long tasks = 0;
    while (System.nanoTime() < end) {
      tasks += new Round(random.split(), "seed=" + seed + " round=" + rounds).run();
      rounds++;
    }
    System.out.println("StressTest rounds=" + rounds + " tasks=" + tasks);
  }

  private static SchedulerConfig config(SplittableRandom random) {
    return SchedulerConfig.builder()
        .workers(random.nextInt(1, 7))
        .localOrder(random.nextBoolean() ? LocalOrder.LIFO : LocalOrder.FIFO)
        .set(Parameter.LOCAL_CAPACITY, 4L << random.nextInt(6))
        .set(Parameter.INBOX_CAPACITY, 4L << random.nextInt(6))
        .set(Parameter.MAX_SEARCHERS, random.nextInt(3))
        .set(Parameter.SPIN_LIMIT, random.nextInt(60))
        .set(Parameter.STEAL_LIMIT, random.nextInt(1, 33))
        .set(Parameter.GLOBAL_BATCH, random.nextInt(1, 17))
        .set(Parameter.LANE_BATCH, random.nextInt(1, 5))
        .set(Parameter.STEALING, random.nextInt(8) == 0 ? 0 : 1)
        .set(Parameter.WATCHER_INTERVAL, 200)
        .set(Parameter.TAIL_LIMIT, random.nextInt(1, 17))
        .set(Parameter.CALLER_LIMIT, random.nextInt(1, 50))
        .build();
  }

  /// What the tasks of one job share.
  private static final class JobState {
    final int laneIndex;
    final AtomicInteger live = new AtomicInteger(1);
    boolean entered; // by the bootstrap task; read by the teardown

    JobState(int laneIndex) {
      this.laneIndex = laneIndex;
    }
  }

  /// One scheduler and its program. Every task counts itself as accepted, and as ended when it has run or was
  /// discarded.
  private static final class Round {
    final String what;
    final SplittableRandom random;
    final TaskScheduler scheduler;
    final AtomicLong accepted = new AtomicLong();
    final AtomicLong ended = new AtomicLong();
    final AtomicInteger jobs = new AtomicInteger();
    final AtomicInteger teardowns = new AtomicInteger();
    final AtomicInteger violations = new AtomicInteger();
    final List<Lane> lanes = new ArrayList<>();
    final List<AtomicInteger> inLane = new ArrayList<>();
    final List<Condition> conditions = new ArrayList<>();
    volatile boolean over;

    Round(SplittableRandom random, String what) {
      this.random = random;
      this.what = what;
      scheduler = TaskScheduler.start(config(random));
      for (int i = 0; i < 4; i++) {
        lanes.add(scheduler.newLane(i < 2 ? 1 : random.nextInt(1, 4)));
        inLane.add(new AtomicInteger());
        conditions.add(i == 3 ? scheduler.condition(() -> true) : scheduler.condition());
      }
    }

    long run() throws InterruptedException {
      Thread signaller =
          start(() -> {
            while (!over) {
              conditions.forEach(Condition::signal);
              LockSupport.parkNanos(20_000);
            }
          });
      List<Thread> submitters = new ArrayList<>();
      for (int i = 0; i < SUBMITTERS; i++) {
        SplittableRandom own = random.split();
        submitters.add(start(() -> submitAll(own)));
      }
      boolean early = random.nextInt(4) == 0;
      if (!early) {
        for (Thread thread : submitters) {
          thread.join();
        }
      }
      ShutdownReport report = scheduler.shutdown(Duration.ofSeconds(early ? 0 : 20));
      for (Thread thread : submitters) {
        thread.join();
      }
      over = true;
      signaller.join();
      check(report, early);
      return report.run();
    }

    private void check(ShutdownReport report, boolean early) {
      SchedulerMetrics metrics = scheduler.metrics();
      String all = what + " " + report + " " + metrics;
      assertTrue(report.clean(), all);
      assertEquals(report.accepted(), report.run() + report.discarded(), all);
      assertEquals(accepted.get(), ended.get(), all);
      assertEquals(accepted.get(), report.accepted(), all);
      assertEquals(jobs.get(), teardowns.get(), all);
      assertEquals(0, violations.get(), all);
      assertEquals(0, metrics.get("park.timeoutWithWork"), all);
      assertEquals(0, metrics.get("uncaught"), all);
      assertEquals(0, metrics.get("queue.local") + metrics.get("queue.inbox"), all);
      assertTrue(early || report.jobsCancelled() == 0, all);
      lanes.forEach(lane -> assertEquals(0, lane.active() + lane.pending(), all));
      conditions.forEach(condition -> assertEquals(0, condition.pending(), all));
    }

    private static Thread start(Runnable body) {
      Thread thread = new Thread(body);
      thread.start();
      return thread;
    }

    private void submitAll(SplittableRandom own) {
      for (int i = 0; i < JOBS; i++) {
        try {
          submit(own);
        } catch (SchedulerStoppedException e) {
          return; // the early shutdown; what was refused is not counted
        }
      }
    }

    private void submit(SplittableRandom own) {
      JobState state = new JobState(own.nextInt(8));
      Job.Builder builder =
          scheduler
              .job("stress")
              .option(own.nextInt(3) == 0 ? Option.CALLER : Option.DEFAULT)
              .attachment(state)
              .onTeardown(job -> teardown(state));
      if (state.laneIndex < lanes.size()) {
        builder.lane(lanes.get(state.laneIndex));
      }
      accepted.incrementAndGet();
      jobs.incrementAndGet();
      Job job;
      try {
        job = builder.submit(new Node(this, state, own.split(), own.nextInt(6), true));
      } catch (SchedulerStoppedException e) {
        accepted.decrementAndGet();
        jobs.decrementAndGet();
        throw e;
      }
      if (own.nextInt(10) == 0) {
        job.cancel();
      }
    }

    private void teardown(JobState state) {
      teardowns.incrementAndGet();
      if (state.live.get() != 0) {
        violations.incrementAndGet();
      }
      if (state.entered) {
        inLane.get(state.laneIndex).decrementAndGet();
      }
    }
  }

  private static final class Node implements Task {
    private final Round round;
    private final JobState state;
    private final SplittableRandom random;
    private final int depth;
    private final boolean bootstrap;

    Node(Round round, JobState state, SplittableRandom random, int depth, boolean bootstrap) {
      this.round = round;
      this.state = state;
      this.random = random;
      this.depth = depth;
      this.bootstrap = bootstrap;
    }

    @Override
    public @Nullable Task run(TaskContext context) throws Exception {
      if (bootstrap && state.laneIndex < round.lanes.size()) {
        state.entered = true;
        int inside = round.inLane.get(state.laneIndex).incrementAndGet();
        if (inside > round.lanes.get(state.laneIndex).permits()) {
          round.violations.incrementAndGet();
        }
      }
      try {
        if (context.job().done()) {
          round.violations.incrementAndGet();
        }
        return act(context);
      } finally {
        end();
      }
    }

    private @Nullable Task act(TaskContext context) throws Exception {
      int children = depth == 0 ? 0 : random.nextInt(4);
      for (int i = 0; i < children; i++) {
        switch (random.nextInt(6)) {
          case 0 -> context.submit(child());
          case 1 -> context.submit(child(), Option.IMMEDIATE);
          case 2 -> context.submit(child(), Option.YIELDING);
          case 3 -> context.spawnAll(child(), child(), child());
          default -> context.spawn(child());
        }
      }
      if (depth == 0) {
        return null;
      }
      return switch (random.nextInt(40)) {
        case 0, 1, 2 -> context.await(round.conditions.get(random.nextInt(4)), child());
        case 3 -> {
          Condition condition = round.conditions.get(0);
          yield context.await(condition, condition.prepare(), child());
        }
        case 4, 5 -> context.resubmit(child());
        case 6, 7, 8, 9 -> child();
        case 10 -> throw new Exception("wanted");
        case 11 -> {
          Job.Hold hold = context.job().hold();
          try {
            round.scheduler.after(Duration.ofNanos(100_000), new Release(round, hold));
          } catch (SchedulerStoppedException e) {
            hold.close();
            throw e;
          }
          round.accepted.incrementAndGet();
          yield null;
        }
        default -> null;
      };
    }

    private Node child() {
      state.live.incrementAndGet();
      round.accepted.incrementAndGet();
      return new Node(round, state, random.split(), depth - 1, false);
    }

    private void end() {
      state.live.decrementAndGet();
      round.ended.incrementAndGet();
    }

    @Override
    public void discarded(Job job) {
      requireNonNull(job.failure());
      end();
    }
  }

  private record Release(Round round, Job.Hold hold) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      hold.close();
      round.ended.incrementAndGet();
      return null;
    }

    @Override
    public void discarded(Job job) {
      hold.close();
      round.ended.incrementAndGet();
    }
  }
}
