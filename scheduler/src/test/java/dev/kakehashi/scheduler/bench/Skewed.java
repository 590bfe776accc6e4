package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.scheduler.metrics.SchedulerMetrics;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// One worker makes all tasks, the others live on what they take from it: steal-half against steal-one, and the two
/// ways of distribution.
final class Skewed implements AutoCloseable {
  private static final int CHILDREN = 30_000;
  private static final int JOBS = 100; // of a millisecond, of which a wake-up is a part

  private final int workers;
  private final TaskScheduler half;
  private final TaskScheduler one;
  private final TaskScheduler role;

  Skewed(int workers) {
    this.workers = workers;
    half = scheduler(workers, config -> config);
    one = scheduler(workers, config -> config.set(Parameter.STEAL_LIMIT, 1));
    role = scheduler(workers, config -> config.distribution(Distribution.ROLE));
  }

  private static TaskScheduler scheduler(
      int workers, UnaryOperator<SchedulerConfig.Builder> settings) {
    return TaskScheduler.start(
        settings
            .apply(
                SchedulerConfig.builder()
                    .workers(workers)
                    .threadNamePrefix("skewed")
                    .set(Parameter.LOCAL_CAPACITY, 1 << 15))
            .build());
  }

  /// With what it went by: how often thieves came, and how much they took.
  Row stealing(int repetitions) {
    String load = "skewed load, " + workers + " workers, one makes all tasks of about 25 ns";
    return new Row(
            List.of(load + ", ns/task", "steals in a thousand tasks", "stolen of a thousand tasks"),
            "medians of " + JOBS + " jobs",
            repetitions)
        .ratioOfFirst(1.0)
        .oursAll(() -> spreadAndSteals(half))
        .baseAll("ours, steal one (stealLimit 1)", () -> spreadAndSteals(one));
  }

  Row distribution(int repetitions) {
    return new Row("the same, distribution SEARCH against ROLE", "ns/task", repetitions)
        .ratio(1.0)
        .ours(() -> spread(half))
        .base("ours, distribution ROLE", () -> spread(role));
  }

  Row wakeUpOfDistribution(int repetitions) {
    return new Row("wake-up of an idle pool, p50, SEARCH against ROLE", "us", repetitions)
        .percentiles(50)
        .ratio(1.0)
        .oursAll(() -> Latency.wakeUp(Latency.submitter(half), true))
        .baseAll("ours, distribution ROLE", () -> Latency.wakeUp(Latency.submitter(role), true));
  }

  private static double[] spreadAndSteals(TaskScheduler scheduler) throws InterruptedException {
    SchedulerMetrics before = scheduler.metrics();
    double nanos = spread(scheduler);
    SchedulerMetrics after = scheduler.metrics();
    double thousands = CHILDREN * JOBS / 1000.0;
    return new double[] {
      nanos,
      (after.get("steal.successes") - before.get("steal.successes")) / thousands,
      (after.get("steal.items") - before.get("steal.items")) / thousands
    };
  }

  private static double spread(TaskScheduler scheduler) throws InterruptedException {
    double[] nanos = new double[JOBS];
    for (int i = 0; i < JOBS; i++) {
      nanos[i] = Spawning.job(scheduler, Skewed::makeAll, CHILDREN);
    }
    Arrays.sort(nanos);
    return nanos[JOBS / 2];
  }

  private static @Nullable Task makeAll(TaskContext context) {
    Task child =
        inner -> {
          Work.twelfth(1);
          return null;
        };
    for (int i = 0; i < CHILDREN; i++) {
      context.spawn(child);
    }
    return null;
  }

  @Override
  public void close() {
    half.close();
    one.close();
    role.close();
  }
}
