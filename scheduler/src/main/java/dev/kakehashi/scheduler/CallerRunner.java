package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.metrics.Counters;
import org.jspecify.annotations.Nullable;

/// Runs one light job at a time, serially, on a thread that is no worker. Owned by that thread.
///
/// Tasks that the job spawns stay here, newest first, up to `callerLimit` of them. The rest goes to the workers, so that a job that was not
/// light after all does not keep the submitter for long.
final class CallerRunner extends Runner {
  private final TaskRing stack = new TaskRing();
  private final int limit;
  private boolean busy;
  private int left;

  CallerRunner(TaskScheduler scheduler, Counters counters) {
    super(scheduler, counters);
    limit = scheduler.config().intValue(SchedulerConfig.Parameter.CALLER_LIMIT);
  }

  boolean busy() {
    return busy;
  }

  void run(Task bootstrap, Job job) {
    busy = true;
    left = limit;
    try {
      @Nullable Task task = bootstrap;
      while (task != null) {
        left--;
        execute(task, job, false);
        task = stack.firstTask();
        if (task != null) {
          stack.removeFirst();
        }
      }
      flush();
    } finally {
      busy = false;
    }
  }

  @Override
  public int workerIndex() {
    return -1;
  }

  @Override
  void pushNewest(Task task, Job job) {
    if (stack.size() < left) {
      stack.addFirst(task, job);
    } else {
      scheduler.submission().publish(task, job, Option.DEFAULT);
    }
  }

  @Override
  void pushAllNewest(Task[] tasks, Job job) {
    for (Task task : tasks) {
      pushNewest(task, job);
      pushedOfAll++;
    }
  }

  @Override
  void pushOldest(Task task, Job job) {
    if (stack.size() < left) {
      stack.addLast(task, job);
    } else {
      scheduler.submission().publish(task, job, Option.DEFAULT);
    }
  }
}
