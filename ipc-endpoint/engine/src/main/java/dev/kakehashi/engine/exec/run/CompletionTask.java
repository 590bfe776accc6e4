package dev.kakehashi.engine.exec.run;

import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import org.jspecify.annotations.Nullable;

/// One task's share of what a breaker has left to do when all its collectors have finished, see
/// [dev.kakehashi.engine.exec.operator.Breaker#completeShared]. It does not wait, nor give way before it has ended.
final class CompletionTask implements Task {
  private final PlanRun run;
  private final Runnable work;

  CompletionTask(PlanRun run, Runnable work) {
    this.run = run;
    this.work = work;
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(run);
    try {
      if (!run.failed()) {
        work.run();
      }
    } catch (Throwable e) {
      run.noteFailure(e);
    } finally {
      Interrupts.leave(before);
    }
    return run.taskEnded(context);
  }

  @Override
  public void discarded(Job job) {
    run.noteFailure(RunFailures.canceled());
    run.taskEnded(null);
  }
}
