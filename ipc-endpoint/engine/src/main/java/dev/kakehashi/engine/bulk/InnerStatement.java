package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.engine.txn.StatementWork;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.scheduler.Task;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A statement that a load in batches runs in a transaction of its own. Its plan is as old as the load, which keeps the tables as they are
/// by its locks.
///
/// @param name of its job
/// @param defines whether it changes the catalogue instead of rows
record InnerStatement(
    String name,
    FunctionSession session,
    Viewer viewer,
    long[] lockedTables,
    boolean defines,
    Body body)
    implements StatementWork {
  /// Makes the task.
  @FunctionalInterface
  interface Body {
    Task task(
        StatementExecution execution, BiConsumer<@Nullable Long, @Nullable EngineException> done);
  }

  @Override
  public boolean isReady() {
    return true;
  }

  @Override
  public boolean isCurrent() {
    return true;
  }

  @Override
  public void prepare() {}

  @Override
  public boolean changesRows() {
    return !defines;
  }

  @Override
  public boolean usesTransaction() {
    return !defines;
  }

  @Override
  public TouchedTables tables() {
    return TouchedTables.NONE;
  }

  @Override
  public int workLevel(StatementScope scope) {
    return PlanRunner.HEAVIEST;
  }

  @Override
  public Task task(
      StatementExecution execution, BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return body.task(execution, done);
  }
}
