package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.plan.TouchedTables;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.scheduler.Task;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Work that a statement's execution runs; made by the engine, which knows plans.
public interface StatementWork {
  /// Whether the first look says that it can run: a plan is at hand. Otherwise `prepare` runs as a job first.
  boolean isReady();

  /// Whether the plan at hand fits the catalogue as the transaction sees it now.
  boolean isCurrent();

  /// Tables that the plan at hand uses, by number: they are locked before it runs.
  long[] lockedTables();

  /// Plans the statement.
  ///
  /// @throws EngineException if it cannot be planned any more
  void prepare();

  /// Whether it changes rows: it keeps the transaction's turn to its end.
  boolean changesRows();

  /// Whether it runs by a plan, in a view of its own; DDL does not.
  boolean usesTransaction();

  /// Tables that it reads and changes.
  TouchedTables tables();

  /// Its session as functions see it.
  FunctionSession session();

  /// For whom it runs; NOBODY: for whom its transaction is.
  Viewer viewer();

  /// Text of the statement: the name of its job.
  String name();

  /// Up to the scheduler's `lightweightJobLevel` it runs on the calling thread, see [dev.kakehashi.engine.exec.run.PlanRunner#workLevel].
  int workLevel(StatementScope scope);

  /// The task that runs it; it calls `done` exactly once.
  Task task(
      StatementExecution execution, BiConsumer<@Nullable Long, @Nullable EngineException> done);

  /// Whether something has to come before it begins, by the plan at hand.
  default boolean awaits() {
    return false;
  }

  /// Whether it takes microseconds to ask for it, so that the calling thread may; where [#awaits] says so.
  default boolean asksSoon() {
    return false;
  }

  /// Arrival that has to come; where [#awaits] says so.
  default Arrival arrival(StatementScope scope) {
    throw new IllegalStateException("it awaits nothing");
  }

  /// Arrival that a statement waits for before it has a view and locks.
  interface Arrival {
    /// Called once, first.
    ///
    /// @param news called from any thread when it is worth to ask [#hasCome], perhaps within the call
    /// @throws EngineException if it will not come
    void begin(Runnable news);

    /// @throws EngineException why it will not come
    boolean hasCome();

    /// Whether what has come is so little that the thread with the news may run the statement.
    boolean isShort();

    /// The statement has failed, or waits no longer. The first of several calls counts.
    void giveBack();

    /// The statement has succeeded, but its transaction is rolled back. Short, on the thread that ends it.
    void rolledBack();
  }

  /// Its last task has ended, or it never began.
  default void ended() {}

  /// Says how far it is, see [dev.kakehashi.engine.exec.operator.StatementScope#copying].
  default void copying(CopyActivity activity) {
    throw new IllegalStateException("it copies nothing");
  }

  /// How far it is; null: it copies nothing. Any thread.
  default @Nullable CopyActivity copy() {
    return null;
  }

  /// Says how far it has read its tables, see [dev.kakehashi.engine.exec.operator.StatementScope#scanning]. Work that does not keep it
  /// cannot say it.
  default void scanning(ScanActivity activity) {}

  /// How far it has read its tables; null: not known. Any thread.
  default @Nullable ScanActivity scans() {
    return null;
  }
}
