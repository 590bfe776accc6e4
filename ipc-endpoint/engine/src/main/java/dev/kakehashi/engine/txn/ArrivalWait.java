package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.exec.operator.RunFailures;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.scheduler.Condition;
import dev.kakehashi.scheduler.Job;
import dev.kakehashi.scheduler.SchedulerStoppedException;
import dev.kakehashi.scheduler.Task;
import dev.kakehashi.scheduler.TaskContext;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A statement that something has to come for, without a snapshot if the transaction needs none. No lock time-out ends it.
///
/// A request that takes microseconds is made on the calling thread ([#begin]). No thread and no job waits then. The thread that brings the
/// news runs the statement, if the statement is short, too. Otherwise, and after a cancel, a job goes on. A job waits as a condition.
final class ArrivalWait implements Task {
  /// How far a wait for an arrival is.
  private enum Step {
    /// It is being asked for on the thread that began the statement.
    ASKING,
    /// There was news meanwhile.
    ASKED,
    /// Nobody has the statement.
    WAITING,
    /// A job has it.
    JOB
  }

  private final StatementExecution execution;
  private final ManagedTransaction transaction;

  /// Arrival that is waited for; null: it has not been asked for. Written before `step` says that it has been.
  private StatementWork.@Nullable Arrival arrival;

  private final AtomicReference<Step> step = new AtomicReference<>(Step.JOB);
  private @Nullable Condition condition; // guarded by this

  ArrivalWait(StatementExecution execution) {
    this.execution = execution;
    this.transaction = execution.owner();
  }

  /// Asks on the calling thread.
  void begin() {
    step.set(Step.ASKING);
    Interrupts.Source before = Interrupts.enter(execution);
    try {
      execution.checkCanceled();
      ask();
    } catch (Throwable failed) {
      step.set(Step.JOB);
      transaction.waitsNoLonger();
      execution.refuse(RunFailures.report(failed));
      return;
    } finally {
      Interrupts.leave(before);
    }
    // From here on the statement belongs to the thread that has the news.
    if (!step.compareAndSet(Step.ASKING, Step.WAITING)) {
      goOn(true);
    }
  }

  private void ask() {
    StatementWork.Arrival asked = execution.work().arrival(execution);
    arrival = asked;
    execution.awaits(asked);
    transaction.waits(() -> news(false));
    transaction.requireActive(); // after the line above: an end of before wakes nobody
    execution.onCancel(() -> news(false));
    asked.begin(() -> news(true));
  }

  /// Something has come, or the wait is to end. Any thread.
  ///
  /// @param here whether the calling thread may go on with the statement
  private void news(boolean here) {
    while (true) {
      Step now = step.get();
      if (now == Step.JOB) {
        condition().signal();
        return;
      }
      if (now == Step.ASKED || (now == Step.ASKING && step.compareAndSet(now, Step.ASKED))) {
        return; // whoever asks looks at it
      }
      if (now == Step.WAITING && step.compareAndSet(now, Step.JOB)) {
        goOn(here);
        return;
      }
    }
  }

  private void goOn(boolean here) {
    step.set(Step.JOB);
    StatementWork.Arrival come = arrival;
    boolean isShort = here && come != null && come.isShort();
    try {
      execution.job().workLevel(isShort ? 0 : PlanRunner.HEAVIEST).submit(this);
    } catch (SchedulerStoppedException stopping) {
      discarded();
    }
  }

  private synchronized Condition condition() {
    Condition made = condition;
    if (made == null) {
      made = transaction.environment().scheduler().condition();
      condition = made;
    }
    return made;
  }

  @Override
  public @Nullable Task run(TaskContext context) {
    Interrupts.Source before = Interrupts.enter(execution);
    try {
      execution.checkCanceled();
      transaction.requireActive();
      StatementWork.Arrival awaited = arrival;
      if (awaited == null) {
        ask();
        awaited = Objects.requireNonNull(arrival);
      }
      if (!awaited.hasCome()) {
        return context.await(condition(), this);
      }
      transaction.waitsNoLonger();
      return execution.planned(context);
    } catch (Throwable failed) {
      transaction.waitsNoLonger();
      execution.refuse(RunFailures.report(failed));
    } finally {
      Interrupts.leave(before);
    }
    return null;
  }

  @Override
  public void discarded(Job job) {
    discarded();
  }

  private void discarded() {
    transaction.waitsNoLonger();
    execution.refuse(StatementExecution.stopping(null));
  }
}
