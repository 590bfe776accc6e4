package dev.kakehashi.engine.txn;

import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import org.jspecify.annotations.Nullable;

/// The rest of a long end of a transaction, on a worker; also when the scheduler throws its task away.
record OnWorker(Runnable continuation) implements Task {
  /// Continues on a worker, or here if the scheduler takes no more.
  static void run(TaskScheduler scheduler, Runnable continuation) {
    try {
      scheduler.job("end of a long transaction").submit(new OnWorker(continuation));
    } catch (SchedulerStoppedException stopping) {
      continuation.run();
    }
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    continuation.run();
    return null;
  }

  @Override
  public void discarded(Job job) {
    continuation.run();
  }
}
