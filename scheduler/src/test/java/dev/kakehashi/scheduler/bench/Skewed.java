package dev.kakehashi.scheduler.bench;

import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.SchedulerConfig.Distribution;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// One worker makes all tasks, the others live on what they take from it: steal-half against steal-one, and the two
/// ways of distribution.
final class Skewed implements AutoCloseable {
  private static final int CHILDREN = 30_000;

  private final int workers;
  private final TaskScheduler half = scheduler(config -> config);
  private final TaskScheduler one = scheduler(config -> config.set(Parameter.STEAL_LIMIT, 1));
  private final TaskScheduler role = scheduler(config -> config.distribution(Distribution.ROLE));

  Skewed(int workers) {
    this.workers = workers;
  }

  private TaskScheduler scheduler(UnaryOperator<SchedulerConfig.Builder> settings) {
    return TaskScheduler.start(
        settings
            .apply(
                SchedulerConfig.builder()
                    .workers(Math.max(2, Runtime.getRuntime().availableProcessors()))
                    .threadNamePrefix("skewed")
                    .set(Parameter.LOCAL_CAPACITY, 1 << 15))
            .build());
  }

  Row stealing(int repetitions) {
    return new Row(
            "skewed load, " + workers + " workers: one makes all tasks of about 25 ns",
            "ns/task",
            repetitions)
        .ratio(1.0)
        .ours(() -> spread(half))
        .base("ours, steal one (stealLimit 1)", () -> spread(one));
  }

  Row distribution(int repetitions) {
    return new Row("the same, distribution SEARCH against ROLE", "ns/task", repetitions)
        .ratio(1.0)
        .ours(() -> spread(half))
        .base("ours, distribution ROLE", () -> spread(role));
  }

  Row wakeUpOfDistribution(int repetitions) {
    return new Row("wake-up of an idle pool, p50, SEARCH against ROLE", "us", repetitions)
        .ratio(1.0)
        .ours(() -> Latency.wakeUp(Latency.submitter(half), true, 50))
        .base("ours, distribution ROLE", () -> Latency.wakeUp(Latency.submitter(role), true, 50));
  }

  private static double spread(TaskScheduler scheduler) throws InterruptedException {
    return Spawning.job(scheduler, Skewed::makeAll, CHILDREN);
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
