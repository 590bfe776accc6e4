package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A statement that waits for a lock: a conditional task, made runnable by the grant, and by the statement's cancel, time-out or lock
/// time-out.
final class LockWait implements Task {
  private final WaitingExecution execution;
  private final TableLocks locks;
  private final TableLocks.Wait wait;
  private final Task next;
  private final Consumer<EngineException> failed;
  private final Condition news;

  /// @param next runs when the lock is there
  /// @param failed gets the reason when it will not be
  LockWait(
      WaitingExecution execution,
      TaskScheduler scheduler,
      TableLocks locks,
      TableLocks.Wait wait,
      Task next,
      Consumer<EngineException> failed) {
    this.execution = execution;
    this.locks = locks;
    this.wait = wait;
    this.next = next;
    this.failed = failed;
    this.news = scheduler.condition();
    wait.onNews(news::signal);
    execution.onCancel(news::signal);
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    try {
      if (locks.isGranted(wait)) {
        execution.lockWaitEnds();
        return next;
      }
      execution.checkCanceled();
    } catch (EngineException refused) {
      giveUp(refused);
      return null;
    }
    return context.await(news, this);
  }

  private void giveUp(EngineException reason) {
    execution.lockWaitEnds();
    locks.withdraw(wait);
    failed.accept(reason);
  }

  @Override
  public void discarded(Job job) {
    giveUp(
        new EngineException(
            ErrorCode.SHUTTING_DOWN, "terminating because the engine is shutting down"));
  }
}
