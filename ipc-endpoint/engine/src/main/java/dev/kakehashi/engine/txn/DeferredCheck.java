package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.exec.reference.DeferredReferences;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.scheduler.Task;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The look at deferred constraints at the end of a transaction, as a statement within the turn of that end.
final class DeferredCheck implements StatementWork {
  private static final int WORK_LEVEL = 60;
  private static final long[] NO_TABLES = {};

  private final List<DeferredReferences.Deferred> pending;

  DeferredCheck(List<DeferredReferences.Deferred> pending) {
    this.pending = pending;
  }

  @Override
  public boolean isReady() {
    return true;
  }

  @Override
  public boolean isCurrent() {
    return true;
  }

  /// The statements that made the changes have locked them.
  @Override
  public long[] lockedTables() {
    return NO_TABLES;
  }

  @Override
  public void prepare() {}

  @Override
  public boolean changesRows() {
    return true;
  }

  @Override
  public boolean usesTransaction() {
    return true;
  }

  @Override
  public TouchedTables tables() {
    return TouchedTables.NONE;
  }

  @Override
  public FunctionSession session() {
    return FunctionSession.NONE;
  }

  @Override
  public Viewer viewer() {
    return Viewer.NOBODY;
  }

  @Override
  public String name() {
    return "deferred constraints";
  }

  @Override
  public int workLevel(StatementScope scope) {
    return WORK_LEVEL;
  }

  @Override
  public Task task(
      StatementExecution execution,
      BiConsumer<@Nullable Long, @Nullable EngineException> finished) {
    return new DeferredReferences(execution, pending, finished);
  }
}
