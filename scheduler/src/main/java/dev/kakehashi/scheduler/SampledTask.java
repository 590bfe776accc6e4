package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Latencies;
import dev.kakehashi.scheduler.metrics.Latencies.Kind;
import dev.kakehashi.scheduler.platform.Platform;
import org.jspecify.annotations.Nullable;

/// Stands for a task from outside whose way and run are timed: one in `latencySampling`, so the others cost nothing.
final class SampledTask implements Task {
  private final Task task;
  private final long submittedNanos = Platform.nanoTime();

  SampledTask(Task task) {
    this.task = task;
  }

  @Override
  public @Nullable Task run(TaskContext context) throws Exception {
    Latencies latencies = ((Runner) context).counters.latencies;
    long start = Platform.nanoTime();
    latencies.record(Kind.START, start - submittedNanos);
    try {
      return task.run(context);
    } finally {
      latencies.record(Kind.RUN, Platform.nanoTime() - start);
    }
  }

  @Override
  public void discarded(Job job) {
    task.discarded(job);
  }
}
