package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.process.Event;
import dev.kakehashi.scheduler.process.Pid;
import dev.kakehashi.scheduler.process.Process;
import dev.kakehashi.scheduler.process.Processes;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Whole costs of the operations of a scheduler, from the call to the end of the last task, per task.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
@State(Scope.Benchmark)
public class OperationsBenchmark {
  private static final int MANY = 10_000;
  private static final int DEPTH = 12;
  private static final Duration LONG = Duration.ofMinutes(1);

  /// Threads of the scheduler; one shows what the operations cost without thieves.
  @Param({"1", "2"})
  public int workers;

  // Counted by the tasks; one line for each worker, so that they do not meet there.
  private static final int LINE = 16;

  private @Nullable TaskScheduler scheduler;
  private @Nullable Lane lane;
  private @Nullable Lane wideLane;
  private @Nullable Condition condition;
  private @Nullable Pid process;
  private final Event message = Event.message(null);
  private final AtomicLong delivered = new AtomicLong();
  private long[] ran = new long[LINE];
  private final Task counting =
      context -> {
        ran[LINE * context.workerIndex()]++;
        return null;
      };

  /// Starts the scheduler.
  @Setup(Level.Trial)
  public void start() {
    TaskScheduler started = TaskScheduler.start(SchedulerConfig.builder().workers(workers).build());
    scheduler = started;
    lane = started.newLane(1);
    wideLane = started.newLane(2);
    condition = started.condition();
    ran = new long[LINE * workers];
    process =
        Processes.of(started)
            .spawn(
                (events, output) -> {
                  for (Event event = events.poll(); event != null; event = events.poll()) {
                    delivered.incrementAndGet();
                  }
                  return Process.Step.IDLE;
                },
                "count",
                null);
  }

  /// Stops it.
  @TearDown(Level.Trial)
  public void stop() {
    of(scheduler).shutdown(Duration.ofSeconds(1));
  }

  private static <T> T of(@Nullable T made) {
    return java.util.Objects.requireNonNull(made, "made by start()");
  }

  private void await(Job job) throws InterruptedException {
    if (!job.await(LONG)) {
      throw new IllegalStateException("the job did not end");
    }
  }

  private long sum() {
    java.lang.invoke.VarHandle.fullFence();
    long sum = 0;
    for (int i = 0; i < ran.length; i += LINE) {
      sum += ran[i];
    }
    return sum;
  }

  @SuppressWarnings(
      "ThreadPriorityCheck") // the last tasks may need the processor that polls for them
  private void awaitRan(long wanted) {
    while (sum() < wanted) {
      Thread.yield();
    }
  }

  private void many(Consumer<Task> submit) {
    long wanted = sum() + MANY;
    for (int i = 0; i < MANY; i++) {
      submit.accept(counting);
    }
    awaitRan(wanted);
  }

  /// Tasks from outside, without a job.
  @Benchmark
  @OperationsPerInvocation(MANY)
  public void execute() {
    many(of(scheduler)::execute);
  }

  /// Tasks from outside, a job each.
  @Benchmark
  @OperationsPerInvocation(MANY)
  public void submit() {
    many(of(scheduler)::submit);
  }

  /// One job whose end its submitter waits for.
  @Benchmark
  public void submitAndAwait() throws InterruptedException {
    await(of(scheduler).submit(counting));
  }

  /// A light job on its caller.
  @Benchmark
  public void submitOnCaller() {
    of(scheduler).job("light").option(Option.CALLER).submit(context -> null);
  }

  /// A binary tree whose nodes spawn both children.
  @Benchmark
  @OperationsPerInvocation((2 << DEPTH) - 1)
  public void spawn() throws InterruptedException {
    await(of(scheduler).submit(new Node(DEPTH)));
  }

  private record Node(int depth) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      if (depth > 0) {
        context.spawn(new Node(depth - 1));
        context.spawn(new Node(depth - 1));
      }
      return null;
    }
  }

  /// Two tasks that return each other.
  @Benchmark
  @OperationsPerInvocation(MANY)
  public void pingPongReturned() throws InterruptedException {
    await(of(scheduler).submit(new Player(false)));
  }

  /// Two tasks that spawn each other.
  @Benchmark
  @OperationsPerInvocation(MANY)
  public void pingPongSpawned() throws InterruptedException {
    await(of(scheduler).submit(new Player(true)));
  }

  private static final class Player implements Task {
    private final boolean spawns;
    private final Task other = this::answer;
    private int left = MANY;

    Player(boolean spawns) {
      this.spawns = spawns;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      return next(context, other);
    }

    private @Nullable Task answer(TaskContext context) {
      return next(context, this);
    }

    private @Nullable Task next(TaskContext context, Task task) {
      if (--left <= 0) {
        return null;
      }
      if (!spawns) {
        return task;
      }
      context.spawn(task);
      return null;
    }
  }

  /// Tasks of one job through a lane with one permit.
  @Benchmark
  @OperationsPerInvocation(MANY)
  public void lane() throws InterruptedException {
    await(of(scheduler).submit(context -> fill(context, of(lane))));
  }

  /// As [#lane], with two permits.
  @Benchmark
  @OperationsPerInvocation(MANY)
  public void laneOfTwo() throws InterruptedException {
    await(of(scheduler).submit(context -> fill(context, of(wideLane))));
  }

  private @Nullable Task fill(TaskContext context, Lane into) {
    for (int i = 1; i < MANY; i++) {
      context.submit(into, counting);
    }
    return null;
  }

  /// A signal and the task that waits for it, which waits again.
  @Benchmark
  @OperationsPerInvocation(MANY)
  public void conditionSignal() throws InterruptedException {
    await(of(scheduler).submit(new Waiting(of(condition))));
  }

  private static final class Waiting implements Task {
    private final Condition condition;
    private int left = MANY;

    Waiting(Condition condition) {
      this.condition = condition;
    }

    @Override
    public @Nullable Task run(TaskContext context) {
      if (--left <= 0) {
        return null;
      }
      context.spawn(signaller -> {
        condition.signal();
        return null;
      });
      return context.await(condition, this);
    }
  }

  /// A message to an idle process, until its step has taken it. The event is used again: nothing is allocated.
  @Benchmark
  @SuppressWarnings("ThreadPriorityCheck") // as above
  public void processSend() {
    long wanted = delivered.get() + 1;
    if (!Processes.of(of(scheduler)).send(of(process), message)) {
      throw new IllegalStateException("the process has ended");
    }
    while (delivered.get() < wanted) {
      Thread.yield();
    }
  }
}
