package dev.kakehashi.scheduler;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.LocalOrder;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.SchedulerConfig.RejectionPolicy;
import dev.kakehashi.scheduler.SchedulerConfig.VictimOrder;
import dev.kakehashi.scheduler.metrics.SchedulerMetrics;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.process.ProcessRing;
import dev.kakehashi.scheduler.process.Processes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// One scheduler of random shape and a random program for it: trees, chains, lanes of jobs and of tasks, conditions,
/// timers, holds, cancels, failures and a shutdown, at the end or in the middle of everything. Threads, time and
/// parking come from [Platform], so the same program runs on real threads and in a [Simulation].
///
/// Checked invariants: I1 (each task is run or discarded once), I2 (one teardown, after all tasks), I3 (permits; order of each submitter's
/// jobs in a lane with one permit), I4 (tasks of one key never overlap), I5 (the time-out of a sleep never finds work), I10 (queues are
/// empty at the end) and I13 (the metrics add up). I6 and others are assertions inside the scheduler, which arrive here as uncaught
/// exceptions.
final class RandomProgram {
  /// Size of a program.
  ///
  /// @param submitters threads that submit jobs
  /// @param jobs jobs of each
  /// @param depth of the trees
  /// @param mostWorkers upper bound of the workers, the lower one is 1
  /// @param faults whether callbacks throw, too
  record Shape(int submitters, int jobs, int depth, int mostWorkers, boolean faults) {}

  /// Effects of a user's code on a scheduler, apart from exceptions.
  interface Work {
    /// Called in each task.
    void spend(SplittableRandom random);

    /// An invariant is broken; more may follow. May end the program.
    default void violated(Throwable thrown) {}
  }

  private static final int LANES = 4;

  // Only what hangs takes so long, even on a machine that has next to nothing left for a test.
  private static final Duration FOR_EVER = Duration.ofMinutes(10);
  private static final List<Option> JOB_OPTIONS =
      List.of(Option.DEFAULT, Option.IMMEDIATE, Option.LOCAL, Option.YIELDING, Option.CALLER);
  private static final VarHandle ENDED;

  static {
    try {
      ENDED = MethodHandles.lookup().findVarHandle(Node.class, "ended", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String what;
  private final SplittableRandom random;
  private final Shape shape;
  private final Work work;
  private final TaskScheduler scheduler;
  private final AtomicLong accepted = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicInteger jobs = new AtomicInteger();
  private final AtomicInteger teardowns = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> violation = new AtomicReference<>();
  private final List<ProbedLane> jobLanes = new ArrayList<>();
  private final @Nullable Worker[] pinnedWorker = new @Nullable Worker[1];
  private final List<ProbedLane> taskLanes = new ArrayList<>();
  private final List<Condition> conditions = new ArrayList<>();
  private volatile boolean over;

  RandomProgram(SplittableRandom random, Shape shape, Work work, String what) {
    this.random = random;
    this.shape = shape;
    this.work = work;
    this.what = what;
    scheduler = TaskScheduler.start(config());
    for (int i = 0; i < LANES; i++) {
      jobLanes.add(new ProbedLane(i, shape.submitters, false));
      taskLanes.add(new ProbedLane(i, shape.submitters, true));
      conditions.add(i == 3 ? scheduler.condition(this::check) : scheduler.condition());
    }
  }

  TaskScheduler scheduler() {
    return scheduler;
  }

  private SchedulerConfig config() {
    boolean role = random.nextInt(4) == 0;
    return SchedulerConfig.builder()
        .workers(random.nextInt(1, shape.mostWorkers + 1))
        .localOrder(random.nextBoolean() ? LocalOrder.LIFO : LocalOrder.FIFO)
        .victimOrder(pick(List.of(VictimOrder.values()), random))
        .distribution(role ? Distribution.ROLE : Distribution.SEARCH)
        .rejectionPolicy(random.nextBoolean() ? RejectionPolicy.BLOCK : RejectionPolicy.CALLER)
        .set(Parameter.LOCAL_CAPACITY, 4L << random.nextInt(6))
        .set(Parameter.INBOX_CAPACITY, 4L << random.nextInt(6))
        .set(Parameter.MAX_SEARCHERS, random.nextInt(3))
        .set(Parameter.SPIN_LIMIT, random.nextInt(60))
        .set(Parameter.STEAL_LIMIT, random.nextInt(1, 33))
        .set(Parameter.STEAL_WAIT, random.nextInt(3))
        .set(Parameter.GLOBAL_BATCH, random.nextInt(1, 17))
        .set(Parameter.LANE_BATCH, random.nextInt(1, 5))
        .set(Parameter.LOCAL_FIRST_THOUSANDTHS, random.nextInt(1001))
        .set(Parameter.STEALING, !role && random.nextInt(8) == 0 ? 0 : 1)
        .set(Parameter.PREFERRED_WORKER_FOR_THREAD, random.nextInt(2))
        .set(Parameter.WATCHER_INTERVAL, 200)
        .set(Parameter.CONDITION_MISS_LIMIT, random.nextInt(4))
        .set(Parameter.TAIL_LIMIT, random.nextInt(1, 17))
        .set(Parameter.CALLER_LIMIT, random.nextInt(1, 50))
        .uncaught(this::uncaught)
        .build();
  }

  private static <T> T pick(List<T> list, SplittableRandom random) {
    return list.get(random.nextInt(list.size()));
  }

  private void uncaught(String where, Throwable thrown) {
    if (!(thrown instanceof Wanted) && !"wanted".equals(thrown.getMessage())) {
      violated(new AssertionError(where, thrown));
    }
  }

  private void violated(Throwable thrown) {
    if (violation.compareAndSet(null, thrown)) {
      work.violated(thrown);
    }
  }

  private void claim(boolean holds, String invariant) {
    if (!holds) {
      violated(new AssertionError(invariant));
    }
  }

  private boolean check() {
    if (shape.faults && over) {
      throw new Wanted();
    }
    return true;
  }

  /// Runs the program; returns the number of tasks that ran.
  long run() throws Exception {
    ProcessRing ring = new ProcessRing(Processes.of(scheduler), random, this::claim);
    Thread signaller = PlatformThreads.start("signaller", this::signalUntilOver);
    List<Thread> submitters = new ArrayList<>();
    for (int i = 0; i < shape.submitters; i++) {
      SplittableRandom own = random.split();
      int number = i;
      submitters.add(PlatformThreads.start("submitter-" + i, () -> submitAll(number, own)));
    }
    boolean early = random.nextInt(4) == 0;
    if (!early) {
      PlatformThreads.join(submitters, FOR_EVER);
    }
    ShutdownReport report = scheduler.shutdown(early ? Duration.ZERO : FOR_EVER);
    PlatformThreads.join(submitters, FOR_EVER);
    over = true;
    PlatformThreads.join(List.of(signaller), FOR_EVER);
    accepted.addAndGet(ring.tasks());
    ended.addAndGet(ring.tasks());
    jobs.addAndGet(ring.closed());
    teardowns.addAndGet(ring.closed());
    check(report, early || ring.canceled());
    return report.run();
  }

  private void signalUntilOver() {
    long pauseNanos = 20_000;
    while (!over) {
      conditions.forEach(Condition::signal);
      Platform.parkNanos(this, pauseNanos);
      pauseNanos = Math.min(2 * pauseNanos, 2_000_000);
    }
  }

  private void check(ShutdownReport report, boolean early) {
    SchedulerMetrics metrics = scheduler.metrics();
    String all = what + " " + report + " " + metrics;
    Throwable found = violation.get();
    if (found != null) {
      throw new AssertionError(all, found);
    }
    assertTrue(report.clean(), all);
    assertEquals(accepted.get(), ended.get(), all + " I1");
    assertEquals(report.accepted(), report.run() + report.discarded(), all + " I13");
    assertEquals(accepted.get(), report.accepted(), all + " I13");
    assertEquals(jobs.get(), teardowns.get(), all + " I2");
    assertEquals(0, metrics.get("park.timeoutWithWork"), all + " I5");
    assertEquals(0, metrics.get("jobs.live"), all + " I10");
    assertEquals(0, metrics.get("queue.local") + metrics.get("queue.inbox"), all + " I10");
    assertEquals(0, metrics.get("queue.overflow"), all + " I10");
    assertTrue(early || report.jobsCanceled() == 0, all + " I2");
    for (Worker worker : scheduler.workers()) {
      assertTrue(worker.deque.keepsNothingElse(), all + " I10");
    }
    for (int i = 0; i < LANES; i++) {
      assertEquals(0, jobLanes.get(i).lane.pending() + jobLanes.get(i).lane.active(), all + " I3");
      assertEquals(0, taskLanes.get(i).lane.pending() + taskLanes.get(i).lane.active(), all);
      assertEquals(0, conditions.get(i).pending(), all + " I8");
    }
  }

  private void submitAll(int submitter, SplittableRandom own) {
    for (int i = 1; i <= shape.jobs; i++) {
      try {
        submit(submitter, i, own);
      } catch (SchedulerStoppedException e) {
        return; // the early shutdown; what was refused is not counted
      } catch (Throwable t) {
        violated(t);
        return;
      }
    }
  }

  private void submit(int submitter, int sequence, SplittableRandom own) {
    if (own.nextInt(4) == 0) {
      execute(own);
      return;
    }
    int lane = own.nextInt(2 * LANES);
    JobState state =
        new JobState(
            lane < LANES ? jobLanes.get(lane) : null, submitter, sequence, own.nextInt(16));
    JobBuilder builder =
        scheduler
            .job("random")
            .option(pick(JOB_OPTIONS, own))
            .attachment(state)
            .onTeardown(job -> teardown(job, state));
    if (state.lane != null) {
      builder.lane(state.lane.lane);
    }
    if (own.nextInt(20) == 0) {
      builder.deadline(Duration.ofNanos(own.nextInt(1, 200_000)));
    }
    accepted.incrementAndGet();
    jobs.incrementAndGet();
    Job job;
    try {
      job = builder.submit(new Node(this, state, own.split(), own.nextInt(shape.depth + 1), null));
    } catch (RejectedExecutionException e) {
      accepted.decrementAndGet();
      jobs.decrementAndGet();
      throw e;
    }
    if (own.nextInt(10) == 0) {
      job.cancel();
    }
  }

  /// A task without a job.
  private void execute(SplittableRandom own) {
    JobState state = new JobState(null, 0, 0, 0);
    accepted.incrementAndGet();
    try {
      scheduler.execute(new Node(this, state, own.split(), own.nextInt(shape.depth + 1), null));
    } catch (RejectedExecutionException e) {
      accepted.decrementAndGet();
      throw e;
    }
  }

  private void teardown(Job job, JobState state) {
    teardowns.incrementAndGet();
    claim(state.live.get() == 0, "I2: teardown before the last task's end");
    claim(state.teardowns.incrementAndGet() == 1, "I2: one teardown");
    claim(!job.done(), "I2: done before the teardown");
    if (state.entered) {
      requireNonNull(state.lane).leave();
    }
    if (shape.faults && state.shade == 3) {
      throw new Wanted();
    }
  }

  // In the pinned lane, which has one permit. A worker's thread is replaced when it fails outside
  // of tasks.
  private void onPinned() {
    Worker now = ((WorkerThread) Platform.currentThread()).worker;
    Worker before = pinnedWorker[0];
    claim(before == null || before.equals(now), "I4: a pinned task on another worker");
    pinnedWorker[0] = now;
  }

  /// Thrown on purpose.
  static final class Wanted extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Wanted() {
      super("wanted", null, false, false);
    }
  }

  /// A lane with a count of who is inside.
  private final class ProbedLane {
    final Lane lane;
    final AtomicInteger inside = new AtomicInteger();
    // Only with one permit, written inside: the lane orders the accesses.
    final int[] last;

    ProbedLane(int number, int submitters, boolean pinned) {
      lane =
          switch (number) {
            case 0 -> scheduler.sticky(this, pinned ? Affinity.PINNED : Affinity.HOME);
            case 1 -> scheduler.newLane(1);
            default -> scheduler.newLane(random.nextInt(1, 4));
          };
      last = new int[submitters];
    }

    void enter() {
      claim(inside.incrementAndGet() <= lane.permits(), "I3: more inside a lane than permits");
    }

    void leave() {
      claim(inside.decrementAndGet() >= 0, "I3: left a lane twice");
    }

    void inOrder(int submitter, int sequence) {
      if (lane.permits() == 1) {
        claim(last[submitter] < sequence, "I3: jobs of a lane out of order");
        last[submitter] = sequence;
      }
    }
  }

  /// State that the tasks of one job share.
  private static final class JobState {
    final @Nullable ProbedLane lane;
    final int submitter;
    final int sequence;
    final int shade;
    final AtomicInteger live = new AtomicInteger(1);
    final AtomicInteger teardowns = new AtomicInteger();
    boolean entered; // by the bootstrap task; read by the teardown

    JobState(@Nullable ProbedLane lane, int submitter, int sequence, int shade) {
      this.lane = lane;
      this.submitter = submitter;
      this.sequence = sequence;
      this.shade = shade;
    }
  }

  private static final class Node implements Task {
    private final RandomProgram program;
    private final JobState state;
    private final SplittableRandom random;
    private final int depth;
    private final @Nullable Node parent;
    private @Nullable ProbedLane inLane;

    @SuppressWarnings("unused") // through ENDED
    private volatile boolean ended;

    Node(
        RandomProgram program,
        JobState state,
        SplittableRandom random,
        int depth,
        @Nullable Node parent) {
      this.program = program;
      this.state = state;
      this.random = random;
      this.depth = depth;
      this.parent = parent;
    }

    @Override
    public @Nullable Task run(TaskContext context) throws Exception {
      if (random.nextBoolean()) { // asking makes a job for a task without one
        program.claim(!context.job().done(), "I2: a task after the end of its job");
      }
      ProbedLane mine = inLane;
      if (parent == null && state.lane != null) {
        state.entered = true;
        state.lane.enter();
        state.lane.inOrder(state.submitter, state.sequence);
      }
      if (mine != null) {
        mine.enter();
        if (mine.lane.affinity() == Affinity.PINNED) {
          program.onPinned();
        }
      }
      try {
        program.work.spend(random);
        return act(context);
      } finally {
        if (mine != null) {
          mine.leave();
        }
        end();
      }
    }

    private @Nullable Task act(TaskContext context) throws Exception {
      int children = depth == 0 ? 0 : random.nextInt(4);
      for (int i = 0; i < children; i++) {
        switch (random.nextInt(8)) {
          case 0 -> context.submit(child());
          case 1 -> context.submit(child(), Option.IMMEDIATE);
          case 2 -> context.submit(child(), Option.YIELDING);
          case 3 -> context.spawnAll(child(), child(), child());
          case 4, 5 -> {
            ProbedLane lane = program.taskLanes.get(random.nextInt(LANES));
            Node node = child();
            node.inLane = lane;
            context.submit(lane.lane, node);
          }
          default -> context.spawn(child());
        }
      }
      if (depth == 0 || inLane != null) {
        return null; // a successor would keep the lane's permit
      }
      return switch (random.nextInt(40)) {
        case 0, 1, 2 ->
            context.await(
                program.conditions.get(random.nextInt(program.conditions.size())), child());
        case 3 -> {
          Condition condition = program.conditions.get(0);
          yield context.await(condition, condition.prepare(), child());
        }
        case 4, 5 -> context.resubmit(child());
        case 6, 7, 8, 9 -> child();
        case 10 -> throw new Wanted();
        case 11 -> {
          Job.Hold hold = context.job().hold(random.nextBoolean() ? Option.DIRECT : Option.DEFAULT);
          try {
            program.scheduler.after(Duration.ofNanos(100_000), new Release(program, hold));
          } catch (SchedulerStoppedException stopped) {
            hold.close();
            throw new Wanted();
          }
          program.accepted.incrementAndGet();
          yield null;
        }
        case 12 -> {
          if (random.nextInt(4) == 0) {
            context.job().cancel(new CancellationException("wanted"));
          }
          yield null;
        }
        case 13 -> {
          if (program.shape.faults) {
            throw fault();
          }
          throw new Wanted();
        }
        default -> null;
      };
    }

    private Error fault() {
      return random.nextBoolean()
          ? new OutOfMemoryError("wanted")
          : new StackOverflowError("wanted");
    }

    private Node child() {
      state.live.incrementAndGet();
      program.accepted.incrementAndGet();
      return new Node(program, state, random.split(), depth - 1, this);
    }

    private void end() {
      program.claim(!(boolean) ENDED.getAndSet(this, true), "I1: a task ended twice");
      state.live.decrementAndGet();
      program.ended.incrementAndGet();
    }

    @Override
    public void discarded(Job job) {
      requireNonNull(job.failure());
      end();
      if (program.shape.faults && random.nextInt(4) == 0) {
        throw new Wanted();
      }
    }
  }

  private record Release(RandomProgram program, Job.Hold hold) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      hold.close();
      program.ended.incrementAndGet();
      return null;
    }

    @Override
    public void discarded(Job job) {
      hold.close();
      program.ended.incrementAndGet();
    }
  }
}
