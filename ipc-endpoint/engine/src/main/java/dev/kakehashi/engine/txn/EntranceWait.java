package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import org.jspecify.annotations.Nullable;

/// A statement of a long transaction: it waits as a condition until the epoch has come and what it reads is guarded. One of a deferrable
/// transaction waits for a safe snapshot, which is no wait for a lock: no lock time-out ends it.
final class EntranceWait implements Task {
  private final StatementExecution execution;
  private final ManagedTransaction transaction;
  private final Condition condition;

  EntranceWait(StatementExecution execution) {
    this.execution = execution;
    this.transaction = execution.owner();
    this.condition = transaction.environment().scheduler().condition();
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    try {
      execution.checkCanceled();
      StatementWork work = execution.work();
      if (work.usesTransaction() && !transaction.mayBegin(work.tables(), condition::signal)) {
        execution.noteWait(transaction.store().waitedFor());
        execution.onCancel(condition::signal);
        return context.await(condition, this);
      }
      transaction.requireActive();
      return execution.entered(context);
    } catch (Throwable failed) {
      execution.refuse(RunFailures.report(failed));
    }
    return null;
  }

  @Override
  public void discarded(Job job) {
    execution.refuse(StatementExecution.stopping(null));
  }
}
